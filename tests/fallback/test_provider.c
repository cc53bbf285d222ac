/* Models of providers, over real connections: what becomes of every way in which a reply can end. */
#include "fallback/provider_world.h"

#include <malloc.h>

/* ---- Every end ---- */

static const struct {
  const char *title, *text;
  serving then;
  bool stream;
  const char *log;
} cases[] = {
    {"a stream", STREAM TEXT FINISH USAGE DONE, CLOSE, true, "connected +Paris reply \"Paris\" stop usage 3"},
    {"a byte at a time", STREAM TEXT FINISH DONE, DRIP, true, "connected +Paris reply \"Paris\" stop"},
    {"[DONE], and the connection stays open", STREAM TEXT FINISH DONE, HOLD, true,
     "connected +Paris reply \"Paris\" stop"},
    {"a finish without [DONE]", STREAM TEXT FINISH, CLOSE, true, "connected +Paris reply \"Paris\" stop"},
    {"a reset behind the finish",
     "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
     "6c\r\n" TEXT FINISH "\r\n",
     CLOSE, true, "connected +Paris reply \"Paris\" stop"},
    {"a stream that says nothing of its kind", "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n" TEXT FINISH DONE, CLOSE,
     true, "connected +Paris reply \"Paris\" stop"},
    {"a stream that calls itself text", HEAD("200 OK", "text/plain; charset=utf-8") "\r\n" TEXT FINISH DONE, DRIP, true,
     "connected +Paris reply \"Paris\" stop"},
    {"a whole reply that says nothing of its kind, to who asked for a stream",
     "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n\n"
     "{\"choices\":[{\"message\":{\"content\":\"Paris\"},\"finish_reason\":\"stop\"}]}",
     CLOSE, true, "connected +Paris reply \"Paris\" stop"},
    {"words instead of a stream", HEAD("200 OK", "text/plain") "\r\nOops", CLOSE, true,
     "connected malformed 200 any byte \"openai: the reply is not well-formed (status 200, text/plain, 4 bytes; "
     "expected a JSON object)\" body Oops"},
    {"a whole reply", DOCUMENT "{\"choices\":[{\"message\":{\"content\":\"Paris\"},\"finish_reason\":\"stop\"}]}",
     CLOSE, false, "connected +Paris reply \"Paris\" stop"},
    {"a whole reply to who asked for a stream",
     DOCUMENT "{\"choices\":[{\"message\":{\"content\":\"Paris\"},\"finish_reason\":\"stop\"}]}", CLOSE, true,
     "connected +Paris reply \"Paris\" stop"},
    {"keep-alive comments are no content", STREAM ": hello\n\n: hello\n\n", CLOSE, true,
     "connected cut 200 any byte \"openai: the reply ended without saying that it does (status 200, text/event-stream, "
     "18 "
     "bytes; expected events up to one with the reason of the end)\""},
    {"nothing to a stream, with status 204", "HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n", CLOSE, true,
     "connected cut 204 any byte \"openai: the reply ended without saying that it does (status 204, no content type, 0 "
     "bytes; expected events up to one with the reason of the end)\""},
    {"a content-length that is too short",
     "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 30\r\nconnection: close\r\n\r\n" TEXT
         FINISH,
     CLOSE, true,
     "connected cut 200 any byte \"openai: the reply ended without saying that it does (status 200, text/event-stream, "
     "30 "
     "bytes; expected events up to one with the reason of the end)\""},
    {"cut off after content, with what it has cost", STREAM TEXT USAGE, CLOSE, true,
     "connected +Paris cut 200 after content any byte usage 3 "
     "\"openai: the reply ended without saying that it does (status 200, text/event-stream, 123 bytes; expected events "
     "up to one with the reason of the end)\""},
    {"an error event", STREAM "data: {\"error\":{\"message\":\"Overloaded\",\"type\":\"server_error\"}}\n\n", HOLD,
     true,
     "connected told 200 any byte \"openai: an error with a good status: Overloaded\" "
     "body {\"error\":{\"message\":\"Overloaded\",\"type\":\"server_error\"}}"},
    {"an error object with status 200", DOCUMENT "{\"error\":{\"message\":\"quota\"}}", CLOSE, false,
     "connected told 200 any byte \"openai: an error with a good status: quota\" body "
     "{\"error\":{\"message\":\"quota\"}}"},
    {"a page with status 200", HEAD("200 OK", "text/html") "\r\n<html>", CLOSE, false,
     "connected malformed 200 any byte \"openai: the reply is not well-formed (status 200, text/html, 6 bytes; "
     "expected "
     "a JSON object)\" body <html>"},
    {"an event that is no JSON", STREAM "data: nonsense\n\n", HOLD, true,
     "connected malformed 200 any byte \"openai: the reply is not well-formed (status 200, text/event-stream, 16 "
     "bytes; "
     "expected events up to one with the reason of the end)\" body nonsense"},
    {"nothing at all with status 200", DOCUMENT, CLOSE, false,
     "connected malformed 200 any byte \"openai: the reply is not well-formed (status 200, application/json, 0 bytes; "
     "expected a JSON object)\""},
    {"nothing at all with status 204", "HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n", CLOSE, false,
     "connected malformed 204 any byte \"openai: the reply is not well-formed (status 204, no content type, 0 bytes; "
     "expected a JSON object)\""},
    {"nothing in it", STREAM FINISH DONE, CLOSE, true,
     "connected empty_reply 200 any byte \"openai: the reply is empty\""},
    {"nothing in it because of the limit",
     STREAM "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"length\"}]}\n\n" DONE, CLOSE, true,
     "connected reply \"\" length"},
    {"a rate limit",
     HEAD("429 Too Many", "application/json") "retry-after: 7\r\n\r\n{\"error\":{\"message\":\"slow\"}}", CLOSE, true,
     "connected told 429 any byte wait 7 \"openai: HTTP status 429: slow\" body {\"error\":{\"message\":\"slow\"}}"},
    {"a rate limit as Gemini says it",
     HEAD("429 Too Many", "application/json") "\r\n{\"error\":{\"details\":[{\"retryDelay\":\"17s\"}]}}", CLOSE, true,
     "connected told 429 any byte wait 17 \"openai: HTTP status 429\" "
     "body {\"error\":{\"details\":[{\"retryDelay\":\"17s\"}]}}"},
    {"an error in an array", HEAD("503 Busy", "application/json") "\r\n [{\"error\":{\"message\":\"busy\"}}]", CLOSE,
     true, "connected told 503 any byte \"openai: HTTP status 503: busy\" body  [{\"error\":{\"message\":\"busy\"}}]"},
    {"an error without end", "HTTP/1.1 500 Oops\r\ncontent-type: text/plain\r\n\r\n|aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
     OVER_AGAIN, true, NULL},
    {"a body that is not compressed as it says",
     "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\nconnection: close\r\n\r\nnot gzip",
     CLOSE, false, "connected malformed 200 any byte \"openai: the body of the reply could not be decompressed\""},
    {"tool calls announced, and none there",
     STREAM "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n" DONE, CLOSE, true,
     "connected empty_reply 200 any byte \"openai: the reply is empty and ends with tool_calls\""},
    {"tool calls announced behind a text",
     STREAM TEXT "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n" DONE, CLOSE, true,
     "connected +Paris reply \"Paris\" stop"},
    {"an error that tells the key",
     HEAD("401 Unauthorized", "application/json") "\r\n{\"error\":{\"message\":\"bad key " SECRET "\"}}", CLOSE, true,
     "connected told 401 any byte \"openai: HTTP status 401: bad key *************\" "
     "body {\"error\":{\"message\":\"bad key *************\"}}"},
    {"a page of a proxy", HEAD("502 Bad Gateway", "text/html") "\r\n<html>", CLOSE, true,
     "connected told 502 any byte \"openai: HTTP status 502\" body <html>"},
    {"an error that is streamed", HEAD("500 Oops", "text/event-stream") "\r\ndata: oops\n\n", CLOSE, true,
     "connected told 500 any byte \"openai: HTTP status 500\" body data: oops\n\n"},
    {"a reset instead of a reply", "", RESET, true, NULL},
    {"closed instead of a reply", "", CLOSE, true, NULL},
    {"an event beyond the limit",
     "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: |aaaaaaaaaaaaaaaaaaaaaa", OVER_AGAIN, true, NULL},
    {"a document beyond the limit",
     "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n\"|aaaaaaaaaaaaaaaaaaaaaaaa", OVER_AGAIN, true, NULL},
};
enum { CASES = sizeof cases / sizeof *cases };

/* What the HTTP client says in its own words is checked by its beginning. */
static const char *const beginnings[] = {"connected told 500 any byte \"openai: HTTP status 500\"", "connected reset",
                                         "connected closed", "connected too_long 200 any byte",
                                         "connected too_long 200 any byte"};

static void check_log(size_t index, const char *log) {
  static size_t next_beginning;
  if (cases[index].log != NULL) {
    cr_assert_str_eq(log, cases[index].log, "%s: %s", cases[index].title, log);
    return;
  }
  const char *expected = beginnings[next_beginning++];
  cr_assert(strncmp(log, expected, strlen(expected)) == 0, "%s: %s", cases[index].title, log);
}

Test(provider, ends) {
  static reply replies[CASES];
  static char paths[CASES][40];
  provider_world w;
  for (size_t i = 0; i < CASES; i++) {
    snprintf(paths[i], sizeof paths[i], "/%zu/chat/completions", i);
    replies[i] = (reply){.path = paths[i], .text = cases[i].text, .then = cases[i].then};
  }
  open_provider(&w, replies, CASES);
  for (size_t i = 0; i < CASES; i++) {
    char base[16];
    asked told;
    mend_model_request request = MEND_MODEL_REQUEST_INIT;
    request.messages = w.messages;
    request.stream = cases[i].stream;
    snprintf(base, sizeof base, "/%zu/", i);
    mend_model *model = model_at(&w, &mend__dialect_openai, base);
    ask(model, &request, &told);
    check_log(i, told.log.data);
    cr_assert_null(strstr(told.log.data, SECRET), "%s: %s", cases[i].title, told.log.data);
    mend__buffer_free(&told.log);
    mend_model_release(model);
  }
  close_provider(&w);
}

/* ---- What cannot be sent ---- */

static const struct {
  const char *base_url, *error;
} urls[] = {
    {"", "the base URL \"\" has to begin with http:// or https://"},
    {"ftp://x", "the base URL \"ftp://x\" has to begin with http:// or https://"},
    {"api.openai.com/v1?key=1", "the base URL \"api.openai.com/v1\" has to begin with http:// or https://"},
    {"user:hunter2@x/v1", "a base URL with credentials in it: keys are given as keys"},
    {"https://user:hunter2@x/v1", "a base URL with credentials in it: keys are given as keys"},
    {"https://x/v1?key=1", "the base URL \"https://x/v1\" has a query or fragment behind it, expected none"},
    {"https://x/v1#a", "the base URL \"https://x/v1\" has a query or fragment behind it, expected none"},
    {"https://", "the base URL \"https://\" has no host, or characters no URL has"},
    {"https:///v1", "the base URL \"https:///v1\" has no host, or characters no URL has"},
    {"https://:80/v1", "the base URL \"https://:80/v1\" has no host, or characters no URL has"},
    {"https://x/ v1", "the base URL \"https://x/ v1\" has no host, or characters no URL has"},
    {"HTTPS://x.example:8443/v1/", NULL},
    {"http://[::1]:8080", NULL},
};

Test(provider, base_urls) {
  for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
    mend_error error = MEND_ERROR_INIT;
    const mend_status status = mend__base_url_check(urls[i].base_url, &error);
    cr_assert_eq(status, urls[i].error != NULL ? MEND_EINVAL : MEND_OK, "%s", urls[i].base_url);
    if (urls[i].error != NULL) cr_assert_str_eq(error.message, urls[i].error);
  }
}

Test(provider, not_supported) {
  provider_world w;
  asked told;
  open_provider(&w, NULL, 0);
  mend_model_request request = MEND_MODEL_REQUEST_INIT;
  request.messages = w.messages;
  request.stop = MEND_STR("[\"END\"]");
  mend_model *model = model_at(&w, &mend__dialect_openai_responses, "");
  ask(model, &request, &told);
  cr_assert_str_eq(told.log.data, "not_supported \"openai-responses: stop: OpenAI Responses has no stop sequences\"");
  cr_assert_eq(atomic_load(&w.server.connections), 0u);
  mend__buffer_free(&told.log);
  mend_model_release(model);
  close_provider(&w);
}

/* ---- The key is wiped: no memory that a model gives back holds it ---- */

static atomic_bool key_seen;

static void look_at(const void *block) {
  if (memmem(block, malloc_usable_size((void *)(uintptr_t)block), SECRET, strlen(SECRET)) != NULL) key_seen = true;
}

/* In whole units, so that nothing of what is looked at was never written. */
static void *allocate(void *ctx, size_t size) {
  (void)ctx;
  return calloc(size / 16 + 1, 16);
}

static void release(void *ctx, void *block) {
  (void)ctx;
  look_at(block);
  free(block);
}

static void *reallocate(void *ctx, void *block, size_t size) {
  void *longer = allocate(ctx, size);
  if (block == NULL || longer == NULL) return longer;
  const size_t before = malloc_usable_size(block);
  memcpy(longer, block, before < size ? before : size);
  release(ctx, block);
  return longer;
}

static const mend_allocator looking = {sizeof looking, NULL, allocate, reallocate, release};

Test(provider, key_is_wiped) {
  const reply replies[] = {
      {.path = "/a/chat/completions", .text = STREAM TEXT FINISH DONE, .then = CLOSE},
      {.path = "/b/chat/completions", .text = HEAD("401 No", "text/plain") "\r\nbad key " SECRET, .then = CLOSE}};
  static const char *const bases[] = {"/a", "/b"};
  provider_world w;
  open_provider(&w, replies, 2);
  for (size_t i = 0; i < 2; i++) {
    asked told;
    mend_model_request request = MEND_MODEL_REQUEST_INIT;
    request.messages = w.messages;
    mend_model *model = model_with(&w, &looking, &mend__dialect_openai, bases[i]);
    ask(model, &request, &told);
    cr_assert_not_null(strstr(w.server.last_request, SECRET), "%s", w.server.last_request);
    mend__buffer_free(&told.log);
    mend_model_release(model);
  }
  close_provider(&w);
  cr_assert(!key_seen);
}

/* ---- Connections ---- */

#define CHUNKED "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
#define STREAM_CHUNK "7a\r\n" TEXT FINISH DONE "\r\n"

static const struct {
  const char *path;
  const char *log;      /* its beginning */
  unsigned connections; /* so far */
} visits[] = {
    {"/stream", "connected +Paris reply", 1}, {"/stream", "connected +Paris reply", 1}, /* it was free again at once */
    {"/slow", "connected +Paris reply", 1}, /* nobody waits for the end of a stream that said it ends */
    {"/stream", "connected +Paris reply", 2}, {"/dead", "connected reset reused", 2}, /* not sent twice by itself */
    {"/stream", "connected +Paris reply", 3},
};

Test(provider, connections) {
  const reply replies[] = {{.path = "/stream/chat/completions", .text = CHUNKED STREAM_CHUNK "0\r\n\r\n", .then = KEEP},
                           {.path = "/slow/chat/completions", .text = CHUNKED STREAM_CHUNK, .then = HOLD},
                           {.path = "/dead/chat/completions", .text = "", .then = CLOSE}};
  provider_world w;
  open_provider(&w, replies, 3);
  for (size_t i = 0; i < sizeof visits / sizeof *visits; i++) {
    asked told;
    mend_model_request request = MEND_MODEL_REQUEST_INIT;
    request.messages = w.messages;
    mend_model *model = model_at(&w, &mend__dialect_openai, visits[i].path);
    ask(model, &request, &told);
    cr_assert(strncmp(told.log.data, visits[i].log, strlen(visits[i].log)) == 0, "visit %zu: %s", i, told.log.data);
    cr_assert_eq(atomic_load(&w.server.connections), visits[i].connections, "visit %zu: %u connections", i,
                 atomic_load(&w.server.connections));
    mend__buffer_free(&told.log);
    mend_model_release(model);
  }
  close_provider(&w);
}

/* ---- Cancelled ---- */

static void cancel_at_delta(void *ctx, const mend_delta *delta) {
  (void)delta;
  mend_exchange_cancel(*(mend_exchange **)ctx);
}

typedef struct cancelled {
  mend_exchange *exchange;
  gate done;
  mend_status status;
} cancelled;

static void note_cancelled(void *ctx, mend_status status, mend_reply *got, const mend_failure *failure) {
  cancelled *self = ctx;
  (void)got, (void)failure;
  self->status = status;
  gate_reach(&self->done, 1);
}

Test(provider, cancelled) {
  const reply replies[] = {{.path = "/chat/completions", .text = STREAM TEXT TEXT, .then = HOLD}};
  provider_world w;
  open_provider(&w, replies, 1);
  mend_model_request request = MEND_MODEL_REQUEST_INIT;
  request.messages = w.messages;
  mend_model *model = model_at(&w, &mend__dialect_openai, "");
  cancelled self = {.done = GATE_INIT};
  const mend_model_listener listener = {sizeof listener, cancel_at_delta, note_cancelled, &self};
  cr_assert_eq(mend_model_send(model, &request, &listener, &self.exchange, NULL), MEND_OK);
  gate_await(&self.done, 1);
  cr_assert_eq(self.status, MEND_ECANCELLED);
  gate_await(&w.server.held, 1); /* the connection is closed */
  mend_exchange_release(self.exchange);
  mend_model_release(model);
  close_provider(&w);
}

/* ---- Torture: every allocation of a request fails, once and from there on ---- */

static const char *const torture_replies[] = {
    STREAM TEXT
    "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"now\"}}]}}]}\n\n" FINISH
        DONE,
    DOCUMENT "{\"choices\":[{\"message\":{\"content\":\"Paris\"},\"finish_reason\":\"stop\"}]}",
    HEAD("429 Too Many", "application/json") "retry-after: 7\r\n\r\n{\"error\":{\"message\":\"slow\"}}"};
enum { TORTURE_REPLIES = sizeof torture_replies / sizeof *torture_replies };

/* Whether the request came to an end without the failure. */
static bool survives(provider_world *w, mend_model *model, size_t n, bool from_there_on) {
  asked told = {.done = GATE_INIT};
  const mend__listener listener = {tell_connected, tell_delta, tell_done, tell_gone, &told};
  mend_model_request request = MEND_MODEL_REQUEST_INIT;
  request.messages = w->messages;
  mend__buffer_init(&told.log, NULL);
  flush(w->world.loop);
  mend_test_allocator_arm(&w->world.allocator, n, from_there_on);
  const mend_status status = mend__exchange_send(model, &request, &listener, NULL, NULL);
  if (status == MEND_OK) {
    gate_await(&told.done, 1);
  } else {
    cr_assert_eq(status, MEND_ENOMEM);
  }
  const bool failed = mend_test_allocator_failed(&w->world.allocator);
  mend_test_allocator_arm(&w->world.allocator, 0, false);
  mend__buffer_free(&told.log);
  return !failed;
}

Test(provider, torture) {
  static reply replies[TORTURE_REPLIES];
  static char paths[TORTURE_REPLIES][40];
  provider_world w;
  for (size_t i = 0; i < TORTURE_REPLIES; i++) {
    snprintf(paths[i], sizeof paths[i], "/%zu/chat/completions", i);
    replies[i] = (reply){.path = paths[i], .text = torture_replies[i], .then = CLOSE};
  }
  open_provider(&w, replies, TORTURE_REPLIES);
  for (size_t i = 0; i < TORTURE_REPLIES * 2; i++) {
    char base[16];
    snprintf(base, sizeof base, "/%zu", i / 2);
    mend_model *model = model_at(&w, &mend__dialect_openai, base);
    size_t n = 1;
    while (!survives(&w, model, n, i % 2 == 1))
      n++;
    cr_assert(n > 10, "only %zu allocations", n);
    mend_model_release(model);
  }
  close_provider(&w);
}
