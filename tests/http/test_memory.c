/* A request, with memory running out at every point, once and from there on. It ends with an error or it succeeds,
 * exactly once, and nothing is left. Curl's memory runs out only while the request is made: during a transfer, curl
 * 7.88 may then divide by zero. */
#include "http/client_world.h"

#include <curl/curl.h>

static const reply replies[] = {{"/ok",
                                 "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
                                 "5\r\nhello\r\n0\r\n\r\n",
                                 0, KEEP}};

/* ---- Curl's memory: the whole process's, so armed for one test only ---- */

static struct {
  atomic_size_t calls, blocks;
  atomic_size_t fail_at; /* 0: never */
  atomic_bool onwards, failed;
} curls;

static bool is_refused(void) {
  const size_t call = atomic_fetch_add(&curls.calls, 1) + 1, fail_at = atomic_load(&curls.fail_at);
  const bool refused = fail_at != 0 && (call == fail_at || (atomic_load(&curls.onwards) && call > fail_at));
  if (refused) atomic_store(&curls.failed, true);
  return refused;
}

static void *curl_realloc(void *pointer, size_t size) {
  if (is_refused()) return NULL;
  void *result = realloc(pointer, size);
  if (result != NULL && pointer == NULL) atomic_fetch_add(&curls.blocks, 1);
  return result;
}

static void *curl_malloc(size_t size) { return curl_realloc(NULL, size); }

static void *curl_calloc(size_t count, size_t size) {
  void *result = curl_malloc(count * size);
  return result != NULL ? memset(result, 0, count * size) : NULL;
}

static char *curl_strdup(const char *text) {
  const size_t size = strlen(text) + 1;
  char *result = curl_malloc(size);
  return result != NULL ? memcpy(result, text, size) : NULL;
}

static void curl_release(void *pointer) {
  if (pointer == NULL) return;
  atomic_fetch_sub(&curls.blocks, 1);
  free(pointer);
}

static void arm_curl(size_t fail_at, bool onwards) {
  atomic_store(&curls.calls, 0);
  atomic_store(&curls.failed, false);
  atomic_store(&curls.onwards, onwards);
  atomic_store(&curls.fail_at, fail_at);
}

static void disarm_curl(void) { atomic_store(&curls.fail_at, 0); }

/* ---- One round ---- */

typedef struct round {
  mend_test_allocator *allocator; /* which memory fails: mend's, or NULL: curl's */
  size_t fail_at;
  bool onwards;
} round;

static void arm(const round *r) {
  if (r->allocator != NULL) mend_test_allocator_arm(r->allocator, r->fail_at, r->onwards);
  if (r->allocator == NULL) arm_curl(r->fail_at, r->onwards);
}

static bool has_failed(const round *r) {
  return r->allocator != NULL ? mend_test_allocator_failed(r->allocator) : atomic_load(&curls.failed);
}

typedef struct playing {
  client_world *world;
  const round *round;
  exchange exchange;
  mend_status made;
} playing;

static void make_and_send(void *ctx) {
  playing *p = ctx;
  client_world *w = p->world;
  arm(p->round);
  const mend__http_options options = {.allocator = &w->world.allocator.base, .loop = w->world.loop};
  p->made = mend__http_new(&options, &w->http, NULL);
  p->exchange.sent = MEND_ENOMEM;
  if (p->made == MEND_OK) send_now(&p->exchange);
  disarm_curl();
}

/* Whether the failure came to pass. */
static bool play(client_world *w, const round *r) {
  playing p = {.world = w, .round = r};
  const mend__http_header header = {MEND_STR("authorization"), MEND_STR("Bearer k")};
  set_exchange(&p.exchange, w, "/ok");
  p.exchange.request.method = "POST";
  p.exchange.request.headers = &header;
  p.exchange.request.header_count = 1;
  p.exchange.request.body = MEND_STR("{}");
  mend__loop_call(w->world.loop, make_and_send, &p);
  cr_assert(p.made == MEND_OK || p.made == MEND_ENOMEM);
  cr_assert(p.exchange.sent == MEND_OK || p.exchange.sent == MEND_ENOMEM);
  if (p.exchange.sent == MEND_OK) gate_await(&p.exchange.done, 1);
  const bool failed = has_failed(r);
  mend_test_allocator_arm(&w->world.allocator, 0, false);
  flush(w->world.loop);
  if (p.exchange.sent == MEND_OK) cr_assert_eq(p.exchange.ends, 1u);
  if (!failed) cr_assert(p.exchange.sent == MEND_OK && body_is(&p.exchange, "hello"), "%s", p.exchange.message);
  if (p.exchange.sent == MEND_OK && p.exchange.fault[0] == '\0') cr_assert(body_is(&p.exchange, "hello"));
  finish_exchange(&p.exchange);
  mend__http_release(w->http);
  w->http = NULL;
  flush(w->world.loop);
  return failed;
}

/* Rounds until one has had enough memory. Returns how many points of failure there were. */
static size_t play_all(client_world *w, mend_test_allocator *allocator, bool onwards) {
  size_t points = 0;
  for (round r = {allocator, 1, onwards}; play(w, &r); r.fail_at++)
    points++;
  return points;
}

Test(http_memory, may_run_out) {
  cr_assert_eq(
      curl_global_init_mem(CURL_GLOBAL_DEFAULT, curl_malloc, curl_release, curl_realloc, curl_strdup, curl_calloc),
      CURLE_OK);
  const size_t blocks = atomic_load(&curls.blocks);
  client_world w = {.http = NULL};
  open_world(&w.world, OWN_THREAD);
  start_server(&w.server, replies, 1);
  for (int onwards = 0; onwards < 2; onwards++) {
    cr_assert(play_all(&w, &w.world.allocator, onwards == 1) > 5);
    cr_assert(play_all(&w, NULL, onwards == 1) > 20);
    cr_assert_eq(atomic_load(&curls.blocks), blocks, "curl has leaked");
  }
  stop_server(&w.server);
  close_world(&w.world);
}
