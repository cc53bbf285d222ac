#include "program/fault_server/fault_table.h"

#include "mend/json.h"
#include "program/fault_server/instead.h"

#include <math.h>
#include <time.h>

/* ---- Faults that do more than set a member ------------------------------------------------------------------ */

static void add_header(fault_plan *plan, const char *name, mend_str value) {
  mend__buffer line;
  mend__buffer_init(&line, NULL);
  mend__buffer_printf(&line, "%s: %.*s", name, MEND_STR_ARG(value));
  plan->headers.bytes.failed |= line.failed;
  text_list_add(&plan->headers, text_of(&line));
  mend__buffer_free(&line);
}

static void header(fault_plan *plan, mend_str text) { text_list_add(&plan->headers, text); }

static void redirect(fault_plan *plan, mend_str text) {
  plan->status = 302;
  add_header(plan, "location", text);
}

static void retry_after(fault_plan *plan, mend_str text) {
  plan->waits = true;
  add_header(plan, "retry-after", text);
}

static void retry_after_ms(fault_plan *plan, mend_str text) {
  plan->waits = true;
  add_header(plan, "retry-after-ms", text);
}

static void add_time_header(fault_plan *plan, const char *name, const char *format, mend_str seconds) {
  char text[64];
  struct tm parts;
  const time_t when = time(NULL) + (time_t)ceil(mend_json_double(seconds));
  if (gmtime_r(&when, &parts) == NULL) return;
  plan->waits = true;
  add_header(plan, name, (mend_str){text, strftime(text, sizeof text, format, &parts)});
}

/* Month and day names: the program keeps the C locale. */
static void retry_after_date(fault_plan *plan, mend_str text) {
  add_time_header(plan, "retry-after", "%a, %d %b %Y %H:%M:%S GMT", text);
}

static void anthropic_reset(fault_plan *plan, mend_str text) {
  add_header(plan, "anthropic-ratelimit-requests-remaining", MEND_STR("0"));
  add_time_header(plan, "anthropic-ratelimit-requests-reset", "%Y-%m-%dT%H:%M:%SZ", text);
}

static void ratelimit_reset(fault_plan *plan, mend_str text) {
  plan->waits = true;
  add_header(plan, "x-ratelimit-remaining-requests", MEND_STR("0"));
  add_header(plan, "x-ratelimit-reset-requests", text);
  add_header(plan, "x-ratelimit-remaining-tokens", MEND_STR("0"));
  add_header(plan, "x-ratelimit-reset-tokens", text);
}

static void retry_info(fault_plan *plan, mend_str text) {
  plan->waits = true;
  mend__buffer_str(&plan->retry_info, text);
}

static void error_first(fault_plan *plan, mend_str text) {
  (void)text;
  plan->after[CUT_ERROR] = 0;
  plan->error_first = true;
}

/* ---- The table ---------------------------------------------------------------------------------------------- */

#define AT(member) offsetof(fault_plan, member)
#define FLAG(name, member, help)                                                                                       \
  { name, FAULT_FLAG, NULL, "", AT(member), NULL, NULL, help }
#define COUNT(name, member, parameter, standard, help)                                                                 \
  { name, FAULT_COUNT, parameter, standard, AT(member), NULL, NULL, help }
#define STATUS(name, member, help)                                                                                     \
  { name, FAULT_STATUS, "N", NULL, AT(member), NULL, NULL, help }
#define SECONDS(name, member, standard, help)                                                                          \
  { name, FAULT_SECONDS, "SECONDS", standard, AT(member), NULL, NULL, help }
#define TEXT(name, member, parameter, help)                                                                            \
  { name, FAULT_TEXT, parameter, NULL, AT(member), NULL, NULL, help }
#define CALL(name, call, parameter, help)                                                                              \
  { name, FAULT_CALL, parameter, NULL, 0, call, NULL, help }
#define CALL_SECONDS(name, call, help)                                                                                 \
  { name, FAULT_CALL_SECONDS, "SECONDS", NULL, 0, call, NULL, help }
#define INSTEAD(name, instead, help)                                                                                   \
  { name, FAULT_INSTEAD, NULL, "", 0, NULL, instead, help }
#define INSTEAD_OF_SIZE(name, instead, standard, help)                                                                 \
  { name, FAULT_INSTEAD, "MB", standard, AT(size), NULL, instead, help }

const fault fault_table[] = {
    /* Errors */
    STATUS("status", status, "answer with this status, and an error in the provider's form"),
    TEXT("body", body, "TEXT", "the body of the error; alone: with status 500"),
    TEXT("content_type", content_type, "TEXT", "its content type"),
    CALL("header", header, "NAME:VALUE", "one more header, of any reply"),
    CALL("redirect", redirect, "URL", "302 to another place"),
    FLAG("html", html, "an HTML page for a body; alone: with status 502"),
    FLAG("error_200", error_200, "the error comes with status 200"),
    CALL("retry_after", retry_after, "TEXT", "header retry-after: seconds or a date, as it is; alone: of a rate_limit"),
    CALL("retry_after_ms", retry_after_ms, "N", "header retry-after-ms"),
    CALL_SECONDS("retry_after_date", retry_after_date, "header retry-after with the date so far from now"),
    CALL("ratelimit_reset", ratelimit_reset, "TEXT", "headers x-ratelimit-reset-requests and -tokens: 1s, 6m0s"),
    CALL_SECONDS("anthropic_reset", anthropic_reset, "header anthropic-ratelimit-requests-reset, a date"),
    CALL("retry_info", retry_info, "TEXT", "a RetryInfo in Gemini's error body: 17s"),

    /* No reply */
    INSTEAD("hang", instead_hang, "read the request and never answer"),
    INSTEAD("reset", instead_reset, "reset the connection without any byte"),
    FLAG("reuse_reset", reuse_reset, "the same on a connection that was used before; fine on a fresh one"),
    INSTEAD("empty", instead_empty, "close the connection without any byte"),
    INSTEAD("malformed", instead_malformed, "answer what is no HTTP"),
    INSTEAD("half_head", instead_half_head, "close the connection in the middle of the headers"),
    INSTEAD("endless_headers", instead_endless_headers, "headers without end"),
    INSTEAD("endless_line", instead_endless_line, "one header without end"),
    INSTEAD("empty_body", instead_empty_body, "an empty body, with status 200 or the status that is told"),
    INSTEAD_OF_SIZE("big_body", instead_big_body, "1024", "200 with so large a body"),
    INSTEAD_OF_SIZE("gzip_bomb", instead_gzip_bomb, "1024", "200 with a body that unpacks to so much"),
    INSTEAD_OF_SIZE("long_line", instead_long_line, "100", "a stream with so long a line in it"),

    /* What it says */
    COUNT("deltas", deltas, "N", NULL, "at least so many deltas of text"),
    COUNT("tool_calls", calls, "N", "1", "call so many of the request's tools"),
    COUNT("frames", frames, "N", NULL, "so many more events before the first content, which are none"),
    FLAG("thinking", thinking, "think before, signed where the provider signs"),
    FLAG("unicode", unicode, "characters of two, three and four bytes in the text"),
    FLAG("log_probs", log_probs, "log probabilities also when they were not asked for"),
    FLAG("usage", usage, "the stream ends with its usage also when that was not asked for"),
    FLAG("no_usage", no_usage, "no usage anywhere"),
    TEXT("finish", finish, "WORD", "why it ended: length, content_filter, refusal, or any word as it is"),
    FLAG("no_content", no_content, "well formed and empty: no text, no call"),
    FLAG("no_choices", no_choices, "well formed and without any choice"),
    FLAG("block", block, "Gemini: the prompt is blocked (promptFeedback); elsewhere finish=content_filter"),
    FLAG("not_json", not_json, "200 with text that is no JSON"),
    FLAG("bad_json", bad_json, "JSON that is cut off, in a body of the right length; of a stream in its first content"),
    FLAG("invalid_utf8", invalid_utf8, "bytes in the text that are no UTF-8"),

    /* Where it breaks off */
    COUNT("reset_after", after[CUT_RESET], "N", NULL, "reset the connection after N deltas"),
    COUNT("close_after", after[CUT_CLOSE], "N", NULL, "close it after N deltas, in the middle of the body"),
    COUNT("silence_after", after[CUT_SILENCE], "N", NULL, "nothing more after N deltas"),
    COUNT("pings_after", after[CUT_PINGS], "N", NULL, "nothing but a ping a second after N deltas"),
    COUNT("error_after", after[CUT_ERROR], "N", NULL,
          "an error event after N deltas; which one: overloaded, or as told"),
    COUNT("failed_after", after[CUT_FAILED], "N", NULL, "the same, as response.failed in the Responses dialect"),
    CALL("error_first", error_first, NULL, "an error event is the first event of all"),
    COUNT("end_after", after[CUT_END], "N", NULL, "a proper end of the body after N deltas, without a finish"),
    FLAG("no_finish", no_finish, "all content, a proper end of the body, and no finish"),
    FLAG("no_done", no_done, "no [DONE] at the end"),
    COUNT("short_body", short_body, "N", NULL, "the content-length is N bytes more than come; then it is closed"),

    /* When */
    SECONDS("delay", delay, NULL, "wait before anything is sent"),
    SECONDS("first_delay", first_delay, NULL, "wait before the first content, behind what comes before it"),
    SECONDS("delta_delay", delta_delay, NULL, "wait before each other delta"),
    SECONDS("trickle", trickle, "1", "one byte at a time, so far apart"),

    /* How it is written */
    FLAG("crlf", crlf, "lines of the stream end with CR LF"),
    FLAG("cr", cr, "lines of the stream end with CR"),
    FLAG("no_space", no_space, "no blank behind data:"),
    FLAG("multiline", multiline, "the data of an event in several lines"),
    FLAG("bom", bom, "the stream begins with a byte order mark"),
    FLAG("unnamed", unnamed, "events without their names"),
    FLAG("comments", comments, "a comment before each event"),
    FLAG("pings", pings, "a ping before each event"),
    FLAG("empty_choices", empty_choices, "a chunk with choices: [] at the beginning"),
    FLAG("bare_calls", bare_calls, "pieces of tool calls that lack id and name, the first one too"),
    TEXT("call_index", call_index, "JSON", "the index of tool calls: -1, null"),
    COUNT("split", split, "N", "1", "N bytes at a time"),
    FLAG("split_crlf", split_crlf, "a pause between CR and LF; with crlf also inside the stream"),
    FLAG("split_utf8", split_utf8, "a pause inside each character of several bytes"),
    FLAG("gzip", gzip, "the body is gzip"),
    FLAG("chunked", chunked, "a body that is no stream in chunks"),
    FLAG("close", close, "the connection is closed behind the reply"),
};
const size_t fault_count = sizeof fault_table / sizeof fault_table[0];
