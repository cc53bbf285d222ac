/* The fault server: each fault does what its line says. */
#include "program/fault_ways.h"

#include "mend/json.h"
#include "program/fault_server/faults.h"
#include "program/fault_server/wordings.h"
#include "support/test_support.h"

#include <time.h>

/* ---- Replies ------------------------------------------------------------------------------------------------ */

/* The body, out of its chunks when it came in some; in place. */
static char *body_of(client *of) {
  char *body = strstr(of->text, "\r\n\r\n");
  cr_assert_not_null(body, "no end of the head: %s", of->text);
  const bool chunked = strstr(of->text, "transfer-encoding: chunked") != NULL;
  body += 4;
  if (!chunked) return body;
  char *to = body;
  for (char *from = body;;) {
    char *end;
    const size_t size = strtoul(from, &end, 16);
    if (size == 0) break;
    memmove(to, end + 2, size);
    to += size;
    from = end + 2 + size + 2;
  }
  *to = '\0';
  return body;
}

/* Whether everything in the body is JSON: of a stream, the data of each event but [DONE]. */
static void check_json(char *body, bool stream, const char *what) {
  mend_error error;
  if (!stream) {
    cr_assert_eq(mend_json_check(mend_str_from(body), 64, &error), MEND_OK, "%s: %s: %s", what, error.message, body);
    return;
  }
  size_t events = 0;
  for (char *line = strtok(body, "\r\n"); line != NULL; line = strtok(NULL, "\r\n")) {
    if (strncmp(line, "data: ", 6) != 0 || strcmp(line, "data: [DONE]") == 0) continue;
    cr_assert_eq(mend_json_check(mend_str_from(line + 6), 64, &error), MEND_OK, "%s: %s: %s", what, error.message,
                 line);
    events++;
  }
  cr_assert(events > 0, "%s: no events", what);
}

/* ---- What goes right, in every dialect ------------------------------------------------------------------------ */

typedef struct speech {
  const char *faults;
  const char *says[WAYS]; /* a text of the body; NULL: no matter */
} speech;

static const speech speeches[] = {
    {"",
     {"\"content\":\"one two three four\"", "\"content\":\" three\"", "\"text\":\"one two three four\"",
      "\"delta\":\" three\"", "\"text\":\"one two three four\"", "\"text_delta\",\"text\":\" three\"",
      "\"text\":\"one two three four\"", "\"text\":\" three\""}},
    {"usage",
     {"\"prompt_tokens\":5", "\"choices\":[],\"usage\":{\"prompt_tokens\":5", "\"input_tokens\":5",
      "\"input_tokens\":5", "\"input_tokens\":5", "\"usage\":{\"output_tokens\":4}", "\"promptTokenCount\":5",
      "\"promptTokenCount\":5"}},
    {"tool_calls=3",
     {"\"name\":\"read\",\"arguments\":\"{\\\"text\\\":\\\"one two three four\\\",\\\"call\\\":1}\"",
      "\"tool_calls\":[{\"index\":2,\"id\":\"call_", "\"type\":\"function_call\",\"status\":\"completed\"",
      "\"type\":\"response.function_call_arguments.delta\"",
      "\"name\":\"write\",\"input\":{\"text\":\"one two three four\"", "\"name\":\"write\",\"input\":{}}",
      "\"functionCall\":{\"id\":\"call_", "\"thoughtSignature\":"}},
    {"tool_calls",
     {"\"finish_reason\":\"tool_calls\"", "\"finish_reason\":\"tool_calls\"", NULL, NULL,
      "\"stop_reason\":\"tool_use\"", "\"stop_reason\":\"tool_use\"", "\"finishReason\":\"STOP\"", NULL}},
    {"thinking",
     {"\"reasoning_content\":\"Let me", "\"reasoning_content\":\" me\"",
      "\"encrypted_content\":", "response.reasoning_summary_text.delta", "\"signature\":\"c2",
      "\"type\":\"signature_delta\"", "\"thought\":true", "\"thought\":true"}},
    {"log_probs",
     {"\"token\":\"one\",\"logprob\":-0.322", "\"token\":\"one\",\"logprob\":-0.322", "\"logprob\":-0.322",
      "\"logprob\":-0.322", NULL, NULL, "\"logProbability\":-0.322", "\"logProbability\":-0.322"}},
    {"finish=length",
     {"\"finish_reason\":\"length\"", "\"finish_reason\":\"length\"", "\"reason\":\"max_output_tokens\"",
      "event: response.incomplete", "\"stop_reason\":\"max_tokens\"", "\"stop_reason\":\"max_tokens\"",
      "\"finishReason\":\"MAX_TOKENS\"", "\"finishReason\":\"MAX_TOKENS\""}},
    {"finish=content_filter",
     {"\"finish_reason\":\"content_filter\"", "\"finish_reason\":\"content_filter\"", "\"reason\":\"content_filter\"",
      "\"reason\":\"content_filter\"", "\"stop_reason\":\"refusal\"", "\"stop_reason\":\"refusal\"",
      "\"finishReason\":\"SAFETY\"", "\"finishReason\":\"SAFETY\""}},
    {"finish=refusal",
     {"\"refusal\":\"one two three four\"", "\"refusal\":\" two\"", "\"type\":\"refusal\"", "response.refusal.delta",
      "\"stop_reason\":\"refusal\"", "\"stop_reason\":\"refusal\"", "\"finishReason\":\"refusal\"", NULL}},
    {"block",
     {"\"content_filter\"", "\"content_filter\"", NULL, NULL, "\"refusal\"", NULL, "\"blockReason\":\"SAFETY\"",
      "\"blockReason\":\"SAFETY\""}},
    {"no_content",
     {"\"content\":null", "\"delta\":{}", "\"output\":[]", "\"output\":[]", "\"content\":[]", "message_stop",
      "\"parts\":[]", "\"finishReason\":\"STOP\""}},
    {"no_choices",
     {"\"choices\":[]", "\"choices\":[]", "\"output\":[]", "\"output\":[]", "\"content\":[]", NULL, "\"candidates\":[]",
      "\"candidates\":[]"}},
    {"unicode,deltas=7",
     {"h\xC3\xA9llo \xE2\x82\xAC \xF0\x9F\x8C\x8D one two\"", "\"content\":\" two\"", NULL, NULL, NULL, NULL, NULL,
      NULL}},
    {"error_after=1",
     {"\"server_overloaded\"", "data: {\"error\":", "\"server_overloaded\"", "event: error\n", "\"overloaded_error\"",
      "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"", "\"UNAVAILABLE\"",
      "\"UNAVAILABLE\""}},
    {"frames=70",
     {NULL, "\"role\":\"assistant\"", NULL, "\"sequence_number\":71,\"response\"", NULL,
      "data: {\"type\":\"ping\"}\n\nevent: ping", NULL, "\"parts\":[]"}},
    {"failed_after=0,rate_limit",
     {"\"rate_limit_exceeded\"", "\"rate_limit_exceeded\"", "\"rate_limit_exceeded\"", "event: response.failed\n",
      "\"rate_limit_error\"", "\"rate_limit_error\"", "\"RESOURCE_EXHAUSTED\"", NULL}},
};

Test(fault_server, speaks_four_dialects) {
  mend_test_faults *server = mend_test_faults_start(NULL);
  for (size_t i = 0; i < sizeof speeches / sizeof speeches[0]; i++) {
    for (int by = 0; by < WAYS; by++) {
      char what[128];
      snprintf(what, sizeof what, "%s in way %d", speeches[i].faults, by);
      client from = ask(server, speeches[i].faults, (way)by, NULL);
      cr_assert_eq(from.left, AT_END, "%s: %s", what, from.text);
      char *body = body_of(&from);
      const char *wanted = speeches[i].says[by];
      cr_assert(wanted == NULL || strstr(body, wanted) != NULL, "%s: no %s in %s", what, wanted, body);
      check_json(body, by % 2 == 1 && strstr(from.text, "text/event-stream") != NULL, what);
      client_close(&from);
    }
  }
  cr_assert(mend_test_faults_wait_open(server, 0));
  mend_test_faults_stop(server);
}

/* ---- Every fault --------------------------------------------------------------------------------------------- */

typedef struct fault_case {
  const char *faults;
  way by;
  const char *has;   /* in what comes, as it comes */
  const char *lacks; /* NULL: nothing */
  leaving left;      /* STILL_THERE: read only until `has` has come */
  fault_end end;
  double at_least_s; /* it takes so long */
} fault_case;

static const fault_case cases[] = {
    /* Errors */
    {"status=503", CHAT, "HTTP/1.1 503 ", NULL, AT_END, FAULT_END_COMPLETE, 0},
    {"status=529", MESSAGES, "\"overloaded_error\"", NULL, AT_END, FAULT_END_COMPLETE, 0},
    {"body=%7B%22a%22:1%7D,status=400", CHAT, "\r\n\r\n{\"a\":1}", NULL, AT_END, FAULT_END_COMPLETE, 0},
    {"body=x,content_type=text%2Fplain", CHAT, "500 Internal Server Error\r\ncontent-type: text/plain\r\n", NULL,
     AT_END, FAULT_END_COMPLETE, 0},
    {"header=x-one:%201", CHAT, "\r\nx-one: 1\r\n", NULL, AT_END, FAULT_END_COMPLETE, 0},
    {"redirect=http:%2F%2Flocalhost%2F", CHAT, "302 Status", NULL, AT_END, FAULT_END_COMPLETE, 0},
    {"status=204", CHAT, "HTTP/1.1 204 ", "content-length", AT_END, FAULT_END_COMPLETE, 0},
    {"status=204,body=x,chunked", CHAT_STREAM, "HTTP/1.1 204 ", "chunked", AT_END, FAULT_END_COMPLETE, 0},
    {"status=204,empty_body", CHAT, "HTTP/1.1 204 ", "content-length", AT_END, FAULT_END_COMPLETE, 0},
    {"status=304,html", CHAT, "HTTP/1.1 304 ", "<", AT_END, FAULT_END_COMPLETE, 0},
    {"html", CHAT_STREAM, "<!DOCTYPE html>", "event-stream", AT_END, FAULT_END_COMPLETE, 0},
    {"html,overloaded", MESSAGES, "HTTP/1.1 529 Status\r\ncontent-type: text/html\r\n", "{", AT_END, FAULT_END_COMPLETE,
     0},
    {"html,status=404", CHAT, "HTTP/1.1 404 ", "{", AT_END, FAULT_END_COMPLETE, 0},
    {"overloaded,error_200", CHAT, "HTTP/1.1 200 ", NULL, AT_END, FAULT_END_COMPLETE, 0},
    {"retry_after=2", CHAT, "HTTP/1.1 429 Too Many Requests\r\n", NULL, AT_END, FAULT_END_COMPLETE, 0},
    {"overloaded,retry_after=2", MESSAGES, "\r\nretry-after: 2\r\n", NULL, AT_END, FAULT_END_COMPLETE, 0},
    {"retry_after_ms=1500", CHAT, "\r\nretry-after-ms: 1500\r\n", NULL, AT_END, FAULT_END_COMPLETE, 0},
    {"retry_after_date=60", CHAT, " GMT\r\n", NULL, AT_END, FAULT_END_COMPLETE, 0},
    {"ratelimit_reset=6m0s", CHAT, "\r\nx-ratelimit-reset-requests: 6m0s\r\n", NULL, AT_END, FAULT_END_COMPLETE, 0},
    {"anthropic_reset=60", MESSAGES, "\r\nanthropic-ratelimit-requests-reset: 20", NULL, AT_END, FAULT_END_COMPLETE, 0},
    {"retry_info=17s", GEMINI, "\"retryDelay\":\"17s\"", NULL, AT_END, FAULT_END_COMPLETE, 0},
    {"bad_key", CHAT, "Incorrect API key provided: sk-fault-1.", NULL, AT_END, FAULT_END_COMPLETE, 0},
    {"context_overflow=vllm", CHAT, "\"BadRequestError\"", NULL, AT_END, FAULT_END_COMPLETE, 0},

    /* No reply */
    {"hang", CHAT, "", NULL, STILL_THERE, FAULT_END_CLOSED, 0},
    {"reset", CHAT, "", "H", AT_RESET, FAULT_END_CUT, 0},
    {"empty", CHAT, "", "H", AT_END, FAULT_END_CUT, 0},
    {"malformed", CHAT, "banana", "HTTP", AT_END, FAULT_END_CUT, 0},
    {"half_head", CHAT, "content-le", "\r\n\r\n", AT_END, FAULT_END_CUT, 0},
    {"endless_headers", CHAT, "\r\nx-padding: there is no end", NULL, STILL_THERE, FAULT_END_CLOSED, 0},
    {"endless_line", CHAT, "x-padding: and so on and so on", NULL, STILL_THERE, FAULT_END_CLOSED, 0},
    {"empty_body", CHAT, "content-length: 0\r\n\r\n", "{", AT_END, FAULT_END_COMPLETE, 0},
    {"empty_body,status=404", CHAT, "HTTP/1.1 404 ", "{", AT_END, FAULT_END_COMPLETE, 0},
    {"big_body=3", CHAT, "content-length: 3145730\r\n\r\n{ ", NULL, AT_END, FAULT_END_COMPLETE, 0},
    {"gzip_bomb=2", CHAT, "content-encoding: gzip\r\n", NULL, AT_END, FAULT_END_CUT, 0},
    {"long_line=2", CHAT_STREAM, "data: {    ", NULL, AT_END, FAULT_END_COMPLETE, 0},

    /* What it says */
    {"deltas=5", CHAT_STREAM, "\"content\":\" one\"", NULL, AT_END, FAULT_END_COMPLETE, 0},
    {"no_usage", CHAT, "\"choices\"", "usage", AT_END, FAULT_END_COMPLETE, 0},
    {"not_json", CHAT_STREAM, "\r\n\r\nupstream says hello", "event-stream", AT_END, FAULT_END_COMPLETE, 0},
    {"bad_json", CHAT, "\"object\":", "finish_reason", AT_END, FAULT_END_COMPLETE, 0},
    {"bad_json", CHAT_STREAM, "\"content\":\" two\"", "\"content\":\"one\"", AT_END, FAULT_END_COMPLETE, 0},
    {"invalid_utf8", CHAT_STREAM, "\"content\":\" \xC3\x28\xFF\"", NULL, AT_END, FAULT_END_COMPLETE, 0},
    {"invalid_utf8", CHAT, " \xC3\x28\xFF\"", NULL, AT_END, FAULT_END_COMPLETE, 0},

    /* Where it breaks off */
    {"reset_after=2", CHAT_STREAM, "\" two\"", "\" three\"", AT_RESET, FAULT_END_CUT, 0},
    {"reset_after=0", MESSAGES_STREAM, "message_start", "text_delta", AT_RESET, FAULT_END_CUT, 0},
    {"reset_after=9", GEMINI_STREAM, "\" one\"", "STOP", AT_RESET, FAULT_END_CUT, 0},
    {"reset_after=1", CHAT, "{\"id\"", "finish_reason", AT_RESET, FAULT_END_CUT, 0},
    {"close_after=2", RESPONSES_STREAM, "\" two\"", "\" three\"", AT_END, FAULT_END_CUT, 0},
    {"silence_after=2", CHAT_STREAM, "\" two\"", "\" three\"", STILL_THERE, FAULT_END_CLOSED, 0},
    {"pings_after=1", CHAT_STREAM, ": ping\n\n", "\" two\"", STILL_THERE, FAULT_END_CLOSED, 1},
    {"error_after=2", GEMINI_STREAM, "\" two\"", "\" three\"", AT_END, FAULT_END_CUT, 0},
    {"failed_after=2", CHAT_STREAM, "data: {\"error\":", "\" three\"", AT_END, FAULT_END_CUT, 0},
    {"error_first", MESSAGES_STREAM, "event: error", "message_start", AT_END, FAULT_END_CUT, 0},
    {"end_after=2", CHAT_STREAM, "\r\n0\r\n\r\n", "\" three\"", AT_END, FAULT_END_CUT, 0},
    {"end_after=2", CHAT, "\"id\"", "finish_reason", AT_END, FAULT_END_COMPLETE, 0},
    {"no_finish", CHAT_STREAM, "\" four\"", "DONE", AT_END, FAULT_END_CUT, 0},
    {"no_finish", MESSAGES_STREAM, "\" four\"", "message_stop", AT_END, FAULT_END_CUT, 0},
    {"no_done", CHAT_STREAM, "\"finish_reason\":\"stop\"", "DONE", AT_END, FAULT_END_COMPLETE, 0},
    {"short_body=7", CHAT, "content-length: ", NULL, AT_END, FAULT_END_CUT, 0},

    /* When */
    {"delay=0.03", CHAT, "HTTP/1.1 200", NULL, AT_END, FAULT_END_COMPLETE, 0.03},
    {"first_delay=0.03", CHAT_STREAM, "[DONE]", NULL, AT_END, FAULT_END_COMPLETE, 0.03},
    {"delta_delay=0.01", CHAT_STREAM, "[DONE]", NULL, AT_END, FAULT_END_COMPLETE, 0.03},
    {"empty_body,trickle=0.001", CHAT, "\r\n\r\n", NULL, AT_END, FAULT_END_COMPLETE, 0.05},

    /* How it is written */
    {"crlf", MESSAGES_STREAM, "event: message_stop\r\ndata: {\"type\":\"message_stop\"}\r\n\r\n", NULL, AT_END,
     FAULT_END_COMPLETE, 0},
    {"cr", MESSAGES_STREAM, "event: message_stop\rdata: {\"type\":\"message_stop\"}\r\r", NULL, AT_END,
     FAULT_END_COMPLETE, 0},
    {"no_space", MESSAGES_STREAM, "event:message_stop\ndata:{\"type\"", NULL, AT_END, FAULT_END_COMPLETE, 0},
    {"multiline", MESSAGES_STREAM, "data: {\ndata: \"type\":\"message_stop\"}\n\n", NULL, AT_END, FAULT_END_COMPLETE,
     0},
    {"bom", CHAT_STREAM,
     "\r\n\xEF\xBB\xBF"
     "data: ",
     NULL, AT_END, FAULT_END_COMPLETE, 0},
    {"unnamed", MESSAGES_STREAM, "message_stop", "event: ", AT_END, FAULT_END_COMPLETE, 0},
    {"comments", CHAT_STREAM, ": this is a comment\n\n", NULL, AT_END, FAULT_END_COMPLETE, 0},
    {"pings", CHAT_STREAM, ": ping\n\n", NULL, AT_END, FAULT_END_COMPLETE, 0},
    {"empty_choices", CHAT_STREAM, "\"choices\":[],\"prompt_filter_results\"", NULL, AT_END, FAULT_END_COMPLETE, 0},
    {"tool_calls,bare_calls", CHAT_STREAM, "{\"index\":0,\"function\":{\"arguments\":\"\"}}", "\"call_", AT_END,
     FAULT_END_COMPLETE, 0},
    {"tool_calls,call_index=-1", CHAT_STREAM, "{\"index\":-1,\"id\"", "\"index\":1", AT_END, FAULT_END_COMPLETE, 0},
    {"split=100", CHAT_STREAM, "[DONE]", NULL, AT_END, FAULT_END_COMPLETE, 0.02},
    {"split_crlf,crlf", CHAT_STREAM, "[DONE]", NULL, AT_END, FAULT_END_COMPLETE, 0.02},
    {"split_utf8", CHAT_STREAM, "h\xC3\xA9llo \xE2\x82\xAC \xF0\x9F\x8C\x8D", NULL, AT_END, FAULT_END_COMPLETE, 0.012},
    {"gzip", CHAT, "content-encoding: gzip\r\n", NULL, AT_END, FAULT_END_COMPLETE, 0},
    {"chunked", CHAT, "transfer-encoding: chunked\r\n", "content-length", AT_END, FAULT_END_COMPLETE, 0},
    {"close", CHAT, "\r\nconnection: close\r\n", NULL, AT_END, FAULT_END_COMPLETE, 0},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void check_case(mend_test_faults *server, const fault_case *each, size_t index) {
  const double begin = now_s();
  client from = ask(server, each->faults, each->by, each->left == STILL_THERE ? each->has : NULL);
  const double took = now_s() - begin;
  cr_assert_eq(from.left, each->left, "%s: left %d after %s", each->faults, from.left, from.text);
  cr_assert(memmem(from.text, from.len, each->has, strlen(each->has)) != NULL, "%s: no %s in %s", each->faults,
            each->has, from.text);
  cr_assert(each->lacks == NULL || memmem(from.text, from.len, each->lacks, strlen(each->lacks)) == NULL,
            "%s: there is %s in %s", each->faults, each->lacks, from.text);
  /* Timers count from the beginning of the event loop's round in which they were set. */
  cr_assert(took >= 0.8 * each->at_least_s, "%s took only %f s", each->faults, took);
  if (each->left == STILL_THERE) cr_assert(mend_test_faults_wait_requests(server, index + 1));
  client_close(&from);
  cr_assert(mend_test_faults_wait_idle(server), "%s does not end", each->faults);
  cr_assert(mend_test_faults_wait_open(server, 0), "%s: the connection stays open", each->faults);
  const fault_end end = mend_test_faults_request(server, index).end;
  /* Who leaves with unread bytes resets. */
  const bool same = end == each->end || (each->end == FAULT_END_CLOSED && end == FAULT_END_RESET);
  cr_assert(same, "%s: %s", each->faults, fault_end_name(end));
}

Test(fault_server, does_what_each_line_says) {
  const size_t files = mend_test_open_files();
  mend_test_faults *server = mend_test_faults_start(NULL);
  for (size_t i = 0; i < CASES; i++)
    check_case(server, &cases[i], i);
  mend_test_faults_stop(server);
  cr_assert_eq(mend_test_open_files(), files);
}

static bool begins_list(const char *list, const char *name) {
  const size_t len = strlen(name);
  for (const char *place = strstr(list, name); place != NULL; place = strstr(place + 1, name)) {
    const bool begins = place == list || place[-1] == ',';
    if (begins && strchr("=,", place[len]) != NULL) return true; /* or its NUL */
  }
  return false;
}

static bool is_tested(const char *name) {
  bool found = strcmp(name, "reuse_reset") == 0; /* below */
  for (size_t i = 0; i < CASES && !found; i++)
    found = begins_list(cases[i].faults, name);
  for (size_t i = 0; i < sizeof speeches / sizeof speeches[0] && !found; i++)
    found = begins_list(speeches[i].faults, name);
  return found;
}

Test(fault_server, has_a_case_for_every_fault) {
  for (size_t i = 0; fault_name(i) != NULL; i++)
    cr_assert(is_tested(fault_name(i)), "%s", fault_name(i));
}

/* ---- Providers' words ---------------------------------------------------------------------------------------- */

Test(fault_server, words_errors_as_providers_do) {
  const wording_facts facts = {MEND_STR("m\"1"), MEND_STR("sk-1"), MEND_STR("17s")};
  mend_error error;
  for (const wording_kind *kind = wording_kinds; kind->name != NULL; kind++) {
    size_t position = 0, count = 0;
    const wording *each;
    while ((each = wording_next(kind->name, &position)) != NULL) {
      mend__buffer body;
      mend__buffer_init(&body, NULL);
      wording_write(each, &facts, &body);
      cr_assert_eq(mend_json_check(text_of(&body), 64, &error), MEND_OK, "%s=%s: %s: %.*s", each->name, each->vendor,
                   error.message, (int)body.len, body.data);
      cr_assert(memmem(body.data, body.len, "{model}", 7) == NULL && memmem(body.data, body.len, "~", 1) == NULL);
      mend__buffer_free(&body);
      count++;
    }
    cr_assert(count > 0, "%s", kind->name);
  }
  cr_assert_eq(wording_nearest("overloaded", "anthropic")->status, 529);
  cr_assert_eq(wording_find("insufficient_quota", MEND_STR("openrouter"))->status, 402);
}
