/* What a server answers, well or badly, and what is told of it, on every kind of loop. */
#include "http/client_world.h"

#define OK "HTTP/1.1 200 OK\r\n"
#define LINES_OF_1_KB                                                                                                  \
  "x: 0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789\r\n"        \
  "x: 0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789\r\n"

static reply replies[] = {
    {"/ok", OK "Content-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello", 0, KEEP},
    {"/slow", OK "Content-Type:\ttext/plain \r\nContent-Length: 5\r\n\r\nhello", 0, DRIP},
    {"/chunked", OK "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\nTrailer: x\r\n\r\n", 0, KEEP},
    {"/until-closed", OK "Connection: close\r\n\r\nhello", 0, CLOSE},
    {"/interim", "HTTP/1.1 103 Early Hints\r\nContent-Type: no\r\n\r\n" OK "Content-Length: 5\r\n\r\nhello", 0, KEEP},
    {"/nothing", "HTTP/1.1 204 No Content\r\n\r\n", 0, KEEP},
    {"/v1/./a/../%2e%2e/b", OK "Content-Length: 5\r\n\r\nas is", 0, KEEP},
    {"/moved", "HTTP/1.1 302 Found\r\nLocation: /ok\r\nContent-Length: 4\r\n\r\nmove", 0, KEEP},
    {"/busy", "HTTP/1.1 503 Busy\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}", 0, KEEP},
    {"/refused", "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic\r\nContent-Length: 2\r\n\r\nno", 0, KEEP},
    {"/reset", "", 0, RESET},
    {"/close", "", 0, CLOSE},
    {"/half-a-head", OK "Content-Type: text/pl", 0, CLOSE},
    {"/half-a-body", OK "Content-Length: 10\r\n\r\nhello", 0, CLOSE},
    {"/reset-body", OK "Content-Length: 10\r\n\r\nhello", 0, RESET},
    {"/half-chunked", OK "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", 0, CLOSE},
    {"/bad-chunk", OK "Transfer-Encoding: chunked\r\n\r\nhello\r\n", 0, CLOSE},
    {"/no-http", "SSH-2.0-OpenSSH\r\n\r\n", 0, CLOSE},
    {"/bad-length", OK "Content-Length: many\r\n\r\nhello", 0, CLOSE},
    {"/negative-length", OK "Content-Length: -5\r\n\r\nhello", 0, CLOSE},
    {"/long-head", OK "|" LINES_OF_1_KB, 0, OVER_AGAIN},
    {"/long-line", OK "X: |0123456789", 0, OVER_AGAIN},
    {"/endless", OK "\r\n|0123456789012345678901234567890123456789", 0, OVER_AGAIN},
    {"/gzip", NULL, 0, KEEP},
    {"/bomb", NULL, 0, KEEP},
    {"/no-gzip", OK "Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello", 0, KEEP},
};
enum { REPLIES = sizeof replies / sizeof *replies };

/* Makes the reply of a file that is compressed. */
static char *set_file(const char *path, const char *name) {
  size_t len;
  char *bytes = mend_test_read(name, &len), *text = malloc(len + 256);
  const int head = sprintf(text, OK "Content-Encoding: gzip\r\nContent-Length: %zu\r\n\r\n", len);
  memcpy(text + head, bytes, len);
  free(bytes);
  for (size_t i = 0; i < REPLIES; i++) {
    if (strcmp(replies[i].path, path) == 0) replies[i].text = text, replies[i].len = (size_t)head + len;
  }
  return text;
}

static const struct {
  const char *path;
  uint32_t status;
  const char *content_type, *body, *fault;
  bool any_byte;
} told[] = {
    {"/ok", 200, "text/plain", "hello", "", true},
    {"/slow", 200, "text/plain", "hello", "", true},
    {"/chunked", 200, "", "hello", "", true},
    {"/until-closed", 200, "", "hello", "", true},
    {"/interim", 200, "", "hello", "", true},
    {"/nothing", 204, "", "", "", true},
    {"/v1/./a/../%2e%2e/b", 200, "", "as is", "", true},
    {"/moved", 302, "", "move", "", true},
    {"/busy", 503, "application/json", "{}", "", true},
    {"/refused", 401, "", "no", "", true},
    {"/gzip", 200, "", "hello, hello, hello, world\n", "", true},
    {"/reset", 0, "", "", "reset", false},
    {"/close", 0, "", "", "closed", false},
    {"/half-a-head", 0, "", "", "closed", true},
    {"/half-a-body", 200, "", "hello", "closed", true},
    {"/reset-body", 200, "", "hello", "reset", true},
    {"/half-chunked", 200, "", "hello", "closed", true},
    {"/bad-chunk", 200, "", "", "malformed", true},
    {"/no-http", 0, "", "", "malformed", false},
    {"/bad-length", 0, "", "", "malformed", true},
    {"/negative-length", 0, "", "", "malformed", true},
    {"/long-head", 0, "", "", "malformed", true},
    {"/long-line", 0, "", "", "malformed", true},
    {"/no-gzip", 200, "", "", "malformed", true},
    {"/bomb", 200, "", NULL, "too_large", true},
    {"/endless", 200, "", NULL, "too_large", true},
};

/* Where the fault alone would not do. */
static const struct {
  const char *path, *message;
} sentences[] = {
    {"/half-a-head", "the connection was closed before the reply was complete"},
    {"/half-a-body", "the connection was closed before the reply was complete: 5 of 10 bytes of its body had come"},
    {"/half-chunked", "the connection was closed before the reply was complete: 5 bytes of its body had come"},
    {"/bad-length", "the content-length of the reply is no length"},
    {"/negative-length", "the content-length of the reply is no length"},
    {"/no-http", "the reply is no HTTP"},
    {"/long-head", "the head of the reply is too long"},
    {"/bad-chunk", "the body of the reply is not in chunks, as its head says"},
    {"/no-gzip", "the body of the reply could not be decompressed"},
    {"/endless", "the reply is larger than allowed"},
};

static void check_sentence(const char *path, const char *message) {
  for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++) {
    if (strcmp(sentences[i].path, path) == 0) cr_assert_str_eq(message, sentences[i].message, "%s: %s", path, message);
  }
}

static void check_told(client_world *w, size_t i) {
  exchange e;
  set_exchange(&e, w, told[i].path);
  e.request.body_limit = 64 * 1024;
  send_exchange(&e);
  await_exchange(&e);
  const char *path = told[i].path;
  cr_assert_str_eq(e.fault, told[i].fault, "%s: %s, %s", path, e.fault, e.message);
  cr_assert_eq(e.status, told[i].status, "%s: %u", path, e.status);
  cr_assert_str_eq(e.content_type, told[i].content_type, "%s: %s", path, e.content_type);
  if (told[i].body != NULL) cr_assert(body_is(&e, told[i].body), "%s: %.*s", path, (int)e.body.len, e.body.data);
  cr_assert(e.body_len <= e.request.body_limit, "%s", path);
  cr_assert_eq(e.fault[0] == '\0', e.message[0] == '\0', "%s", path);
  check_sentence(path, e.message);
  cr_assert_eq(e.ends, 1u, "%s", path);
  cr_assert_eq(e.any_byte, told[i].any_byte, "%s", path);
  finish_exchange(&e);
}

Test(http_replies, are_told_apart) {
  char *gzip = set_file("/gzip", "http/hello.gz"), *bomb = set_file("/bomb", "http/zeros.gz");
  for (world_kind kind = 0; kind < WORLD_KINDS; kind++) {
    client_world w;
    open_client(&w, kind, replies, REPLIES);
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
      check_told(&w, i);
    close_client(&w);
  }
  free(gzip);
  free(bomb);
}
