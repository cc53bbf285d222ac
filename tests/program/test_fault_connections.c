/* The fault server: its connections, requests that are none, and clients that leave or ask for too much. */
#include "program/fault_ways.h"

/* ---- Connections ---------------------------------------------------------------------------------------------- */

/* Reads one reply whose body has a content-length. */
static void read_reply(client *of) {
  client_read_until(of, "\r\n\r\n");
  const char *length = strstr(of->text, "content-length: ");
  cr_assert_not_null(length, "%s", of->text);
  const size_t whole = (size_t)(strstr(of->text, "\r\n\r\n") + 4 - of->text) + strtoul(length + 16, NULL, 10);
  while (of->len < whole)
    cr_assert(client_read(of), "%s", of->text);
  cr_assert_eq(of->len, whole);
}

Test(fault_connections, keeps_connections) {
  mend_test_faults *server = mend_test_faults_start(NULL);
  client from = client_connect(server);
  for (int i = 0; i < 3; i++) {
    send_request(&from, "/fault/reuse_reset", CHAT, "");
    if (i > 0) break;
    read_reply(&from);
  }
  client_read_until(&from, NULL);
  cr_assert_eq(from.left, AT_RESET);
  client_close(&from);
  cr_assert(mend_test_faults_wait_open(server, 0));
  const mend_test_request second = mend_test_faults_request(server, 1);
  cr_assert(second.connection == 1 && second.nth == 2 && second.end == FAULT_END_CUT);
  cr_assert_eq(mend_test_faults_counts(server).connections, 1);
  mend_test_faults_stop(server);
}

Test(fault_connections, keeps_what_was_asked) {
  mend_test_faults *server = mend_test_faults_start(NULL);
  client from = client_connect(server);
  client_send(&from, "POST /v1/messages HTTP/1.1\r\nX-Api-Key:  sk-2 \r\ntransfer-encoding: chunked\r\n"
                     "expect: 100-continue\r\nconnection: close\r\n\r\n");
  client_read_until(&from, "HTTP/1.1 100 Continue\r\n\r\n");
  client_send(&from, "5;x=y\r\n{\"a\":\r\n2\r\n1}\r\n0\r\nx-trailer: 1\r\n\r\n");
  client_read_until(&from, NULL);
  cr_assert_eq(from.left, AT_END);
  client_close(&from);
  cr_assert(mend_test_faults_wait_idle(server));
  const mend_test_request request = mend_test_faults_request(server, 0);
  cr_assert_str_eq(request.target, "/v1/messages");
  cr_assert_str_eq(request.body, "{\"a\":1}");
  cr_assert(mend_test_request_has(&request, "x-api-key:  sk-2 "));
  cr_assert(!mend_test_request_has(&request, "x-api-key: sk-3"));
  cr_assert(request.status == 200 && request.bytes > 0 && request.end == FAULT_END_COMPLETE);
  mend_test_faults_stop(server);
}

static void check_refusal(mend_test_faults *server, const char *request, int status, const char *sentence) {
  char wanted[32];
  client from = client_connect(server);
  client_send(&from, request);
  client_read_until(&from, NULL);
  snprintf(wanted, sizeof wanted, "HTTP/1.1 %d ", status);
  cr_assert(strncmp(from.text, wanted, strlen(wanted)) == 0, "%s gave %s", request, from.text);
  cr_assert_not_null(strstr(from.text, sentence), "%s: no \"%s\" in %s", request, sentence, from.text);
  client_close(&from);
}

#define POST "POST / HTTP/1.1\r\n"
#define CHUNKED POST "transfer-encoding: chunked\r\n\r\n"

Test(fault_connections, refuses_requests_that_are_none) {
  static const struct {
    const char *request;
    int status;
    const char *sentence;
  } rows[] = {
      {"banana\r\n\r\n", 400, "the first line is no HTTP/1.1 request"},
      {"GET / HTTP/2.0\r\n\r\n", 400, "the first line is no HTTP/1.1 request"},
      {"GET /\x01 HTTP/1.1\r\n\r\n", 400, "the first line has a control character"},
      {"GET / HTTP/1.1\r\nno colon\r\n\r\n", 400, "header 1 has no colon"},
      {"GET / HTTP/1.1\r\na: b\r\n: b\r\n\r\n", 400, "header 2 has no proper name"},
      {"GET / HTTP/1.1\r\na : b\r\n\r\n", 400, "header 1 has no proper name"},
      {"GET / HTTP/1.1\r\na: b\r\n folded: c\r\n\r\n", 400, "header 2 has no proper name"},
      {"GET / HTTP/1.1\r\nx-one: a\x01z\r\n\r\n", 400, "header x-one has a control character in it (0x01)"},
      {"GET / HTTP/1.1\r\nx-one: a\rx-two: b\r\n\r\n", 400, "header x-one has a control character in it (0x0d)"},
      {"GET / HTTP/1.1\r\nx-one: \x7F\r\n\r\n", 400, "header x-one has a control character in it (0x7f)"},
      {POST "content-length: -1\r\n\r\n", 400, "content-length is no number"},
      {POST "content-length: 0x5\r\n\r\n", 400, "content-length is no number"},
      {POST "content-length: 5, 5\r\n\r\n", 400, "content-length is no number"},
      {POST "content-length: \r\n\r\n", 400, "content-length is no number"},
      {POST "content-length: 5\r\nContent-Length: 5\r\n\r\nhello", 400, "content-length comes twice"},
      {POST "content-length: 67108865\r\n\r\n", 413, "the body is larger than 64 MiB"},
      {POST "content-length: 99999999999999999999999\r\n\r\n", 413, "the body is larger than 64 MiB"},
      {POST "transfer-encoding: gzip\r\n\r\n", 400, "this transfer-encoding is not understood here"},
      {POST "transfer-encoding: chunked\r\ncontent-length: 3\r\n\r\n", 400, "this transfer-encoding"},
      {POST "transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n", 400, "transfer-encoding comes twice"},
      {CHUNKED "x\r\n", 400, "the size of a chunk is no number"},
      {CHUNKED "0x2\r\nab\r\n0\r\n\r\n", 400, "the size of a chunk is no number"},
      {CHUNKED "2 2\r\nab\r\n0\r\n\r\n", 400, "the size of a chunk is no number"},
      {CHUNKED "\v2\r\nab\r\n0\r\n\r\n", 400, "the size of a chunk is no number"},
      {CHUNKED "\r\nab\r\n0\r\n\r\n", 400, "the size of a chunk is no number"},
      {CHUNKED "1\r\nab\r\n", 400, "a chunk is longer than it says"},
      {CHUNKED "4000001\r\n", 413, "the body is larger than 64 MiB"},
  };
  mend_test_faults *server = mend_test_faults_start(NULL);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    check_refusal(server, rows[i].request, rows[i].status, rows[i].sentence);
  char *head = malloc(70 * 1024);
  cr_assert_not_null(head);
  memset(head, 'a', 70 * 1024);
  head[70 * 1024 - 1] = '\0';
  check_refusal(server, head, 431, "the head is larger than 64 KiB");
  free(head);
  mend_test_faults_stop(server);
}

/* Two headers more than there may be. */
Test(fault_connections, takes_a_hundred_headers) {
  mend_test_faults *server = mend_test_faults_start(NULL);
  char request[4096] = "GET /v1/models HTTP/1.1\r\n";
  for (size_t i = 0, len = strlen(request); i < 101; i++)
    len += (size_t)snprintf(request + len, sizeof request - len, "x-%zu: 1\r\n%s", i, i == 100 ? "\r\n" : "");
  check_refusal(server, request, 431, "there are more than 100 headers");
  mend_test_faults_stop(server);
}

typedef struct size_case {
  const char *faults, *word; /* that the model is to say */
  size_t count;              /* so often */
  int status;
} size_case;

static void check_size(mend_test_faults *server, const size_case *each) {
  mend__buffer body, request;
  mend__buffer_init(&body, NULL);
  mend__buffer_init(&request, NULL);
  mend__buffer_printf(&body, "{\"stream\":true,\"input\":\"");
  for (size_t i = 0; i < each->count; i++)
    mend__buffer_str(&body, mend_str_from(each->word));
  mend__buffer_str(&body, MEND_STR("\"}"));
  mend__buffer_char(&body, '\0');
  mend__buffer_printf(&request,
                      "POST /fault/%s/v1/responses HTTP/1.1\r\nconnection: close\r\ncontent-length: %zu\r\n\r\n%s",
                      each->faults, body.len - 1, body.data);
  client from = client_connect(server);
  client_send(&from, request.data);
  client_read_until(&from, each->status == 200 ? "response.created" : NULL);
  cr_assert_eq(atoi(from.text + strlen("HTTP/1.1 ")), each->status, "%s: %.400s", each->faults, from.text);
  cr_assert_eq(strstr(from.text, "the reply would be too large") != NULL, each->status != 200, "%s", from.text);
  client_close(&from);
  mend__buffer_free(&body);
  mend__buffer_free(&request);
}

/* Everybody waits while a reply is planned. */
Test(fault_connections, makes_no_reply_without_end) {
  static const size_case rows[] = {
      {"", "a ", 250001, 418},          {"", "a ", 20000, 200},
      {"frames=10000", "b", 4096, 200}, {"tool_calls=10000", "c", 4096, 418},
      {"deltas=10000", "d", 4096, 418}, {"deltas=10000,frames=10000,split=1", "e", 1, 200},
  };
  mend_test_faults *server = mend_test_faults_start(NULL);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    check_size(server, &rows[i]);
  mend_test_faults_stop(server);
}

/* ---- Clients that close their side behind their request --------------------------------------------------------- */

typedef struct half_case {
  const char *faults;
  way by;
  const char *has; /* in what comes */
  fault_end end;
} half_case;

static void check_half_closed(mend_test_faults *server, const half_case *each, size_t index) {
  char prefix[64];
  client from = client_connect(server);
  snprintf(prefix, sizeof prefix, each->faults[0] != '\0' ? "/fault/%s" : "%s", each->faults);
  send_request(&from, prefix, each->by, "");
  cr_assert_eq(shutdown(from.fd, SHUT_WR), 0);
  client_read_until(&from, NULL);
  cr_assert_eq(from.left, AT_END, "%s", each->faults);
  cr_assert_not_null(strstr(from.text, each->has), "%s: no %s in %s", each->faults, each->has, from.text);
  client_close(&from);
  cr_assert(mend_test_faults_wait_open(server, 0), "%s: the connection stays open", each->faults);
  const fault_end end = mend_test_faults_request(server, index).end;
  cr_assert_eq(end, each->end, "%s: %s", each->faults, fault_end_name(end));
}

Test(fault_connections, answers_who_closes_one_side) {
  static const half_case rows[] = {
      {"", CHAT, "\"content\":\"one two three four\"", FAULT_END_COMPLETE},
      {"", CHAT_STREAM, "[DONE]", FAULT_END_COMPLETE},
      {"delay=0.05,delta_delay=0.01", CHAT_STREAM, "[DONE]", FAULT_END_COMPLETE},
      {"long_line=3", CHAT_STREAM, "data: {", FAULT_END_COMPLETE},
      {"close_after=2,delta_delay=0.01", MESSAGES_STREAM, "\" two\"", FAULT_END_CUT},
      {"hang", CHAT, "", FAULT_END_CLOSED},
      {"delay=60", CHAT, "", FAULT_END_CLOSED},
      {"delay=0.05,silence_after=1", CHAT_STREAM, "\"one\"", FAULT_END_CLOSED},
      {"delay=0.05,pings_after=1", CHAT_STREAM, "\"one\"", FAULT_END_CLOSED},
  };
  mend_test_faults *server = mend_test_faults_start(NULL);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    check_half_closed(server, &rows[i], i);
  mend_test_faults_stop(server);
}

/* Both requests have come when it does. */
Test(fault_connections, answers_all_who_came_before_one_side_closed) {
  mend_test_faults *server = mend_test_faults_start(NULL);
  client from = client_connect(server);
  client_send(&from, "GET /v1/models HTTP/1.1\r\n\r\nGET /nothing HTTP/1.1\r\n\r\nGET /half");
  cr_assert_eq(shutdown(from.fd, SHUT_WR), 0);
  client_read_until(&from, NULL);
  cr_assert(strstr(from.text, "HTTP/1.1 200 ") != NULL && strstr(from.text, "HTTP/1.1 404 ") != NULL, "%s", from.text);
  cr_assert(mend_test_faults_wait_open(server, 0));
  cr_assert_eq(mend_test_faults_counts(server).requests, 2);
  client_close(&from);
  mend_test_faults_stop(server);
}

/* HEAD: as if there were a body. */
Test(fault_connections, sends_no_body_to_head) {
  mend_test_faults *server = mend_test_faults_start(NULL);
  client from = client_connect(server);
  client_send(&from, "HEAD /v1/models HTTP/1.1\r\nconnection: close\r\n\r\n");
  client_read_until(&from, NULL);
  cr_assert_not_null(strstr(from.text, "content-length: "), "%s", from.text);
  cr_assert_str_eq(strstr(from.text, "\r\n\r\n"), "\r\n\r\n");
  client_close(&from);
  mend_test_faults_stop(server);
}

Test(fault_connections, stops_in_the_middle) {
  mend_test_faults *server = mend_test_faults_start(NULL);
  client from = ask(server, "silence_after=1", CHAT_STREAM, "\"one\"");
  cr_assert_eq(mend_test_faults_counts(server).under_way, 1);
  mend_test_faults_stop(server);
  client_read_until(&from, NULL);
  client_close(&from);
}
