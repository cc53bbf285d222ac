/* HTTP/2 over TLS: the fault server with front.js before it. */
#include "http/client_world.h"
#include "http/secure_server.h"
#include "support/fault_server.h"

typedef struct http2_world {
  client_world client;
  certificate certificate;
  mend_test_faults *plain;
  secure_server front;
} http2_world;

static void open_http2(http2_world *w, world_kind kind) {
  *w = (http2_world){0};
  open_world(&w->client.world, kind);
  make_certificate(&w->certificate, 2);
  w->plain = mend_test_faults_start(NULL);
  start_front(&w->front, &w->certificate, mend_test_faults_port(w->plain));
  const mend__http_options options = {
      .allocator = &w->client.world.allocator.base, .loop = w->client.world.loop, .ca_file = w->certificate.file};
  cr_assert_eq(mend__http_new(&options, &w->client.http, NULL), MEND_OK);
}

static void close_http2(http2_world *w) {
  mend__http_release(w->client.http);
  flush(w->client.world.loop);
  stop_secure_server(&w->front);
  mend_test_faults_stop(w->plain);
  remove_certificate(&w->certificate);
  close_world(&w->client.world);
}

#define WHOLE "{\"messages\": [{\"role\": \"user\", \"content\": \"one two three\"}]}"
#define STREAMED "{\"stream\": true, \"messages\": [{\"role\": \"user\", \"content\": \"one two three\"}]}"

static const mend__http_header type = {{"content-type", 12}, {"application/json", 16}};

/* path: without /v1/chat/completions when there is a body. */
static void ask_front(http2_world *w, exchange *e, const char *path, const char *body) {
  set_exchange(e, &w->client, "");
  snprintf(e->url, sizeof e->url, "https://127.0.0.1:%u%s%s", w->front.port, path,
           body[0] != '\0' ? "/v1/chat/completions" : "");
  if (body[0] != '\0') {
    e->request.method = "POST";
    e->request.headers = &type;
    e->request.header_count = 1;
    e->request.body = mend_str_from(body);
  }
  send_exchange(e);
}

/* ---- One after the other ---- */

/* A connection that broke: it depends on what comes first. */
static const char BROKEN[] = "reset or closed";

static bool is_fault(const exchange *e, const char *fault) {
  if (fault != BROKEN) return strcmp(e->fault, fault) == 0;
  return strcmp(e->fault, "reset") == 0 || strcmp(e->fault, "closed") == 0;
}

static const struct {
  const char *path, *body;
  bool reused;
  uint32_t status;
  const char *fault;
  const char *says; /* is in the body */
} steps[] = {
    {"/version", "", false, 200, "", "2.0"},
    {"", WHOLE, true, 200, "", "\"content\":\"one two three\""},
    {"", STREAMED, true, 200, "", "data: [DONE]\n\n"},
    {"/fault/gzip,status=429", WHOLE, true, 429, "", "\"error\""},
    {"/fault/empty_body", WHOLE, true, 200, "", ""},
    {"/fault/close_after=2", STREAMED, true, 200, "reset", "\"content\":\" two\""},
    {"/fault/short_body=10", WHOLE, true, 200, "reset", "one two three"},
    {"/fault/reset", WHOLE, true, 0, "reset", ""}, /* not sent again */
    {"/version", "", true, 200, "", "2.0"},        /* those were streams that broke, and no more */
    {"/refuse", "", true, 0, "reset", ""},
    {"/version", "", false, 200, "", "2.0"}, /* curl does not trust the connection any more */
    {"/goaway/fault/silence_after=2", STREAMED, true, 200, BROKEN, "data: "},
    {"/version", "", false, 200, "", "2.0"},
    {"/farewell", STREAMED, true, 200, "", "data: [DONE]\n\n"},
    {"/version", "", false, 200, "", "2.0"},
};

static void take_step(http2_world *w, size_t i) {
  exchange e;
  ask_front(w, &e, steps[i].path, steps[i].body);
  await_exchange(&e);
  mend__buffer_char(&e.body, '\0');
  cr_assert(is_fault(&e, steps[i].fault), "step %zu: %s, %s", i, e.fault, e.message);
  cr_assert_eq(e.status, steps[i].status, "step %zu: %u", i, e.status);
  cr_assert_eq(e.reused, steps[i].reused, "step %zu", i);
  cr_assert_eq(e.ends, 1u, "step %zu", i);
  cr_assert_not_null(strstr(e.body.data, steps[i].says), "step %zu: %s", i, e.body.data);
  finish_exchange(&e);
}

Test(http_http2, one_after_the_other) {
  http2_world w;
  if (!is_installed("openssl") || !is_installed("node")) return;
  open_http2(&w, OWN_THREAD_VIRTUAL);
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
    take_step(&w, i);
  close_http2(&w);
}

/* ---- Streams on one connection ---- */

typedef struct look {
  exchange *exchange;
  bool has_body;
} look;

static void look_now(void *ctx) {
  look *l = ctx;
  l->has_body = l->exchange->body_len > 0;
}

static void await_body(exchange *e) {
  for (look l = {e, false}; !l.has_body; sched_yield())
    mend__loop_call(e->world->world.loop, look_now, &l);
}

static void cancel_now(void *ctx) { mend__http_cancel(&((exchange *)ctx)->transfer); }

/* The server sees at once that one is given up; the others and the connection go on. */
static void cancel_one_of_two(http2_world *w) {
  exchange first, cancelled, stays, last;
  ask_front(w, &first, "/version", "");
  await_exchange(&first);
  ask_front(w, &cancelled, "/fault/silence_after=2", STREAMED);
  ask_front(w, &stays, "/fault/delta_delay=0.01,deltas=30", STREAMED);
  await_body(&cancelled);
  await_body(&stays);
  mend__loop_call(w->client.world.loop, cancel_now, &cancelled);
  await_exchange(&stays);
  cr_assert_str_eq(stays.fault, "", "%s", stays.message);
  cr_assert(stays.reused && cancelled.head_reused);
  cr_assert_eq(cancelled.ends, 0u);
  cr_assert(mend_test_faults_wait_idle(w->plain), "the stream that was cancelled is still open");
  const mend_test_fault_counts counts = mend_test_faults_counts(w->plain);
  cr_assert_eq(counts.ended[FAULT_END_CLOSED] + counts.ended[FAULT_END_RESET], 1u);
  ask_front(w, &last, "/version", "");
  await_exchange(&last);
  cr_assert(body_is(&last, "2.0") && last.reused);
  finish_exchange(&first);
  finish_exchange(&cancelled);
  finish_exchange(&stays);
  finish_exchange(&last);
}

Test(http_http2, cancel_one_of_two) {
  if (!is_installed("openssl") || !is_installed("node")) return;
  for (world_kind kind = OWN_THREAD; kind <= OWN_THREAD_VIRTUAL; kind++) {
    http2_world w;
    open_http2(&w, kind);
    cancel_one_of_two(&w);
    close_http2(&w);
  }
}

/* ---- The connection goes, and all its streams with it ---- */

enum { STREAMS = 20 };

Test(http_http2, a_connection_takes_its_streams_along) {
  static exchange streams[STREAMS];
  http2_world w;
  exchange first, breaks;
  if (!is_installed("openssl") || !is_installed("node")) return;
  open_http2(&w, OWN_THREAD_VIRTUAL);
  ask_front(&w, &first, "/version", "");
  await_exchange(&first);
  for (size_t i = 0; i < STREAMS; i++)
    ask_front(&w, &streams[i], "/fault/silence_after=2", STREAMED);
  for (size_t i = 0; i < STREAMS; i++)
    await_body(&streams[i]);
  ask_front(&w, &breaks, "/goaway/fault/silence_after=2", STREAMED);
  await_exchange(&breaks);
  cr_assert(is_fault(&breaks, BROKEN), "%s, %s", breaks.fault, breaks.message);
  for (size_t i = 0; i < STREAMS; i++) {
    await_exchange(&streams[i]);
    cr_assert(streams[i].head_reused);
    cr_assert(is_fault(&streams[i], BROKEN), "%zu: %s, %s", i, streams[i].fault, streams[i].message);
    finish_exchange(&streams[i]);
  }
  cr_assert(mend_test_faults_wait_idle(w.plain));
  finish_exchange(&first);
  finish_exchange(&breaks);
  close_http2(&w);
}
