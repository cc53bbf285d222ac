/* The fault server: how faults and replies are chosen, by lists, headers and scripts. */
#include "program/fault_ways.h"

#include "program/fault_server/faults.h"
#include "program/fault_server/script.h"

/* ---- Choosing faults ------------------------------------------------------------------------------------------ */

Test(fault_choosing, refuses_faults_that_are_none) {
  static const struct {
    const char *list, *sentence;
  } wrong[] = {
      {"reset_aftr=1", "unknown fault \"reset_aftr\"; did you mean reset_after?"},
      {"reset_after", "reset_after needs reset_after=N"},
      {"reset_after=x", "reset_after: expected a count, at most 10000, not \"x\""},
      {"reset_after=-1", "reset_after: expected a count, at most 10000, not \"-1\""},
      {"deltas=10001", "deltas: expected a count, at most 10000, not \"10001\""},
      {"frames=1000000", "frames: expected a count, at most 10000, not \"1000000\""},
      {"status=2", "status: expected 200 to 599, not 2"},
      {"hang=1", "hang takes no parameter"},
      {"delay=1e9", "delay: expected seconds, at most a day, not \"1e9\""},
      {"retry_after_date=soon", "retry_after_date: expected seconds, at most a day, not \"soon\""},
      {"overloaded=nobody", "overloaded: nobody is called \"nobody\"; --list tells who has words for it"},
      {"hang,,close", "unknown fault \"\"; --list tells them all"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    fault_plan plan;
    mend_error error = MEND_ERROR_INIT;
    plan_init(&plan);
    cr_assert_eq(fault_apply_list(&plan, mend_str_from(wrong[i].list), &error), MEND_EINVAL, "%s", wrong[i].list);
    cr_assert_str_eq(error.message, wrong[i].sentence);
    plan_free(&plan);
  }
  mend_test_faults *server = mend_test_faults_start(NULL);
  client from = ask(server, "nonsense", CHAT, NULL);
  cr_assert(strncmp(from.text, "HTTP/1.1 418 ", 13) == 0, "%s", from.text);
  client_close(&from);
  mend_test_faults_stop(server);
}

static void check_status(mend_test_faults *server, const char *request, int status) {
  char wanted[32];
  client from = client_connect(server);
  client_send(&from, request);
  client_read_until(&from, "\r\n");
  snprintf(wanted, sizeof wanted, "HTTP/1.1 %d ", status);
  cr_assert(strncmp(from.text, wanted, strlen(wanted)) == 0, "%s gave %s", request, from.text);
  client_close(&from);
}

Test(fault_choosing, takes_faults_from_everywhere) {
  mend_test_faults *server = mend_test_faults_start(NULL);
  check_status(server, "GET /v1/models HTTP/1.1\r\n\r\n", 200);
  check_status(server, "GET /v1beta/models HTTP/1.1\r\n\r\n", 200);
  check_status(server, "GET /nothing HTTP/1.1\r\n\r\n", 404);
  check_status(server, "GET http://provider/v1/models HTTP/1.1\r\n\r\n", 200);
  check_status(server, "GET /fault/status=401/v1/models HTTP/1.1\r\n\r\n", 401);
  check_status(server, "GET /v1/models HTTP/1.1\r\nX-Mend-Fault: status=402\r\n\r\n", 402);
  check_status(server, "POST /v1/responses HTTP/1.1\r\ncontent-length: 28\r\n\r\n{\"model\":\"fault:status=403\"} ",
               403);
  check_status(server, "POST /v1beta/models/fault%3Astatus=404:generateContent HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}",
               404);
  check_status(server, "POST /v1/messages/count_tokens HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}", 200);
  mend_test_faults_set(server, "status=405");
  check_status(server, "GET /v1/models HTTP/1.1\r\n\r\n", 405);
  mend_test_faults_set(server, "");
  check_status(server, "GET /v1/models HTTP/1.1\r\n\r\n", 200);
  mend_test_faults_stop(server);
}

static const char script_text[] =
    "{\"rules\": ["
    "{\"match\": {\"nth\": [1, 2], \"key\": \"sk-fault-1\", \"path\": \"*/chat/*\"}, \"faults\": \"status=503\"},"
    "{\"match\": {\"nth\": 2, \"model\": \"?\"}, \"faults\": [\"body={\\\"a\\\":1,\\\"b\\\":2}\", \"status=400\"]},"
    "{\"match\": {\"nth\": [3, null], \"key\": \"sk-fault-1\"},"
    " \"reply\": {\"texts\": [\"All\", \" is\"], \"thinking\": \"Hm.\","
    "             \"tool_calls\": [{\"name\": \"search\", \"args\": {\"q\": \"rain\"}, \"id\": \"c1\"}]}}"
    "]}";

Test(fault_choosing, plays_scripts) {
  static const char *const wanted[] = {"HTTP/1.1 503 ",
                                       "HTTP/1.1 503 ",
                                       "\"content\":\"one two three four\"",
                                       "{\"a\":1,\"b\":2}",
                                       "\"content\":\"one two three four\"",
                                       "\"content\":\"All is\"",
                                       "\"id\":\"c1\""};
  mend_test_faults *server = mend_test_faults_start(script_text);
  for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
    client from = ask(server, "", CHAT, NULL);
    cr_assert_not_null(strstr(from.text, wanted[i]), "request %zu: no %s in %s", i + 1, wanted[i], from.text);
    client_close(&from);
  }
  mend_test_faults_stop(server);
}

#define NTH "rule 1: nth: expected a number from 1, or [first, last] with null for no end"
#define NAMELESS "rule 1: reply: tool_calls: a call needs a \"name\", a string (\"\" for one without)"
#define REPLY(members) "{\"rules\": [{\"reply\": {\n" members "}}]}"

Test(fault_choosing, refuses_scripts_that_are_none) {
  static const struct {
    const char *text, *sentence;
    unsigned line, column;
  } wrong[] = {
      {"{\"rules\": [\n1 2]}", NULL, 2, 3},
      {"[]", "expected an object with an array \"rules\"", 0, 0},
      {"{\"rules\": [7]}", "rule 1: expected an object", 1, 12},
      {"{\"rules\": [{},\n {\"fault\": \"hang\"}]}", "rule 2: unknown member \"fault\"", 2, 4},
      {"{\"rules\": [{\"match\": {\"nht\": 1}}]}", "rule 1: unknown member \"nht\"", 1, 24},
      {"{\"rules\": [{\"match\": 1}]}", "rule 1: match: expected an object", 1, 22},
      {"{\"rules\": [{\"match\": {\"nth\": 0}}]}", NTH, 1, 30},
      {"{\"rules\": [{\"match\": {\"nth\": [1]}}]}", NTH, 1, 30},
      {"{\"rules\": [{\"match\": {\"nth\": [0, 2]}}]}", NTH, 1, 30},
      {"{\"rules\": [{\"match\": {\"nth\": [3, 2]}}]}", NTH, 1, 30},
      {"{\"rules\": [{\"match\": {\"nth\": [1, 2, 3]}}]}", NTH, 1, 30},
      {"{\"rules\": [{\"faults\": \"hnag\"}]}", "rule 1: unknown fault \"hnag\"; did you mean hang?", 1, 23},
      {"{\"rules\": [{\"faults\": [7]}]}", "rule 1: faults: expected a string or an array of strings", 1, 23},
      {"{\"rules\": [{\"match\": {\"model\": 1}}]}", "rule 1: model: expected a string", 1, 32},
      /* What is to be said */
      {"{\"rules\": [{\"reply\": \"text\"}]}", "rule 1: reply: expected an object", 1, 22},
      {REPLY("\"txet\": \"a\""), "rule 1: reply: unknown member \"txet\"; did you mean \"text\"?", 2, 2},
      {REPLY("\"colour\": \"a\""), "rule 1: reply: unknown member \"colour\"", 2, 2},
      {REPLY("\"text\": 7"), "rule 1: reply: text: expected a string", 2, 9},
      {REPLY("\"thinking\": []"), "rule 1: reply: thinking: expected a string", 2, 13},
      {REPLY("\"texts\": \"a\""), "rule 1: reply: texts: expected an array of strings", 2, 10},
      {REPLY("\"texts\": [\"a\",\n7]"), "rule 1: reply: texts: expected an array of strings", 3, 1},
      {REPLY("\"tool_calls\": {}"), "rule 1: reply: tool_calls: expected an array of objects", 2, 15},
      {REPLY("\"tool_calls\": [\n7]"), "rule 1: reply: tool_calls: expected objects", 3, 1},
      {REPLY("\"tool_calls\": [{\"name\": \"a\"},\n{\"args\": {}}]"), NAMELESS, 3, 1},
      {REPLY("\"tool_calls\": [{\"name\": 7}]"), NAMELESS, 2, 25},
      {REPLY("\"tool_calls\": [{\"name\": \"a\", \"id\": 7}]"),
       "rule 1: reply: tool_calls: expected \"id\" as a string", 2, 36},
      {REPLY("\"tool_calls\": [{\"name\": \"a\", \"arguments\": {}}]"), "rule 1: reply: unknown member \"arguments\"",
       2, 31},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    script *made;
    mend_error error = MEND_ERROR_INIT;
    cr_assert_neq(script_new(mend_str_from(wrong[i].text), &made, &error), MEND_OK, "%s", wrong[i].text);
    if (wrong[i].sentence != NULL) cr_assert_str_eq(error.message, wrong[i].sentence);
    cr_assert(error.line == wrong[i].line && error.column == wrong[i].column, "%s: %u:%u", wrong[i].text, error.line,
              error.column);
  }
}

static void check_given(mend_test_faults *server, const char *given, const char *wanted) {
  char header[512];
  client from = client_connect(server);
  snprintf(header, sizeof header, "x-mend-reply: %s\r\nconnection: close\r\n", given);
  send_request(&from, "", CHAT, header);
  client_read_until(&from, NULL);
  cr_assert_not_null(strstr(from.text, wanted), "%s: no %s in %s", given, wanted, from.text);
  client_close(&from);
}

Test(fault_choosing, says_what_a_header_wants) {
  static const char *const rows[][2] = {
      {"{\"text\": \"a b\", \"texts\": [\"\", \"\\n c\"]}", "\"content\":\"a b\\n c\""},
      {"{\"tool_calls\": [{\"name\": \"a\\\"b\", \"id\": \"\\u00e9\"}]}",
       "\"id\":\"\xC3\xA9\",\"type\":\"function\","
       "\"function\":{\"name\":\"a\\\"b\",\"arguments\":\"{}\"}"},
      {"{\"tool_calls\": [{\"name\": \"\"}]}", "\"function\":{\"name\":\"\","},
      {"{\"tool_calls\": [{}]}", "reply: tool_calls: a call needs a"},
      {"{\"text\": \"a}", "418 "},
      {"[]", "reply: expected an object"},
  };
  mend_test_faults *server = mend_test_faults_start(NULL);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    check_given(server, rows[i][0], rows[i][1]);
  mend_test_faults_stop(server);
}
