/* What the tests of the HTTP client share: a client on a loop, the server, exchanges that note all they are told. */
#ifndef MEND_TESTS_HTTP_CLIENT_WORLD_H
#define MEND_TESTS_HTTP_CLIENT_WORLD_H

#include "core/buffer.h"
#include "http/client.h"
#include "http/server.h"
#include "loop/room.h"

typedef struct client_world {
  world world;
  server server;
  mend__http *http;
} client_world;

static inline void open_client(client_world *w, world_kind kind, const reply *replies, size_t count) {
  open_world(&w->world, kind);
  start_server(&w->server, replies, count);
  const mend__http_options options = {.allocator = &w->world.allocator.base, .loop = w->world.loop};
  cr_assert_eq(mend__http_new(&options, &w->http, NULL), MEND_OK);
}

static inline void close_client(client_world *w) {
  mend__http_release(w->http);
  flush(w->world.loop);
  stop_server(&w->server);
  close_world(&w->world);
}

typedef enum moment { NEVER, ON_CONNECTED, ON_HEAD, ON_BODY, ON_END } moment;

typedef struct exchange {
  client_world *world;
  mend__http_request request;
  char url[128];
  moment cancel_on;
  bool can_fail; /* not to be sent is no failure of the test */
  mend_status sent;
  mend__http_transfer *transfer; /* the loop's thread only; as all but done: */
  unsigned connected, heads, ends, out_of_order, elsewhere;
  uint32_t status;
  char content_type[64];
  bool head_reused, reused, any_byte;
  uint64_t body_len;
  mend__buffer body; /* its first bytes */
  char fault[32], message[256];
  gate done; /* stage 1: it has ended or was cancelled */
} exchange;

static inline void note(exchange *e, moment now, bool in_order) {
  if (!mend_loop_is_here(e->world->world.loop)) e->elsewhere++;
  if (!in_order || e->ends > 0) e->out_of_order++;
  if (now != e->cancel_on) return;
  mend__http_cancel(&e->transfer);
  if (now != ON_END) gate_reach(&e->done, 1);
}

static inline void note_connected(void *ctx) {
  exchange *e = ctx;
  e->connected++;
  note(e, ON_CONNECTED, e->connected == 1 && e->heads == 0);
}

static inline void note_head(void *ctx, const mend__http_head *head) {
  exchange *e = ctx;
  e->heads++;
  e->status = head->status;
  e->head_reused = head->reused;
  snprintf(e->content_type, sizeof e->content_type, "%.*s", MEND_STR_ARG(head->content_type));
  note(e, ON_HEAD, e->connected == 1 && e->heads == 1 && e->body_len == 0);
}

static inline void note_body(void *ctx, mend_str bytes) {
  exchange *e = ctx;
  e->body_len += bytes.len;
  if (e->body.len < 4096) mend__buffer_bytes(&e->body, bytes.ptr, bytes.len < 4096 ? bytes.len : 4096);
  note(e, ON_BODY, e->heads == 1);
}

static inline void note_end(void *ctx, const mend__http_end *end) {
  exchange *e = ctx;
  e->reused = end->reused;
  e->any_byte = end->any_byte;
  snprintf(e->fault, sizeof e->fault, "%s", end->fault != NULL ? end->fault : "");
  snprintf(e->message, sizeof e->message, "%s", end->message != NULL ? end->message : "");
  note(e, ON_END, true);
  e->ends++;
  mend__http_cancel(&e->transfer);
  gate_reach(&e->done, 1);
}

static const mend__http_listener note_all = {note_connected, note_head, note_body, note_end};

static inline void set_exchange(exchange *e, client_world *w, const char *path) {
  *e = (exchange){.world = w, .done = GATE_INIT};
  snprintf(e->url, sizeof e->url, "http://127.0.0.1:%u%s", w->server.port, path);
  e->request = (mend__http_request){.method = "GET", .url = e->url, .body_limit = 1 << 20};
  mend__buffer_init(&e->body, NULL);
}

static inline void send_now(void *ctx) {
  exchange *e = ctx;
  e->sent = mend__http_send(e->world->http, &e->request, &note_all, e, &e->transfer, NULL);
}

static inline void send_exchange(exchange *e) {
  mend__loop_call(e->world->world.loop, send_now, e);
  cr_assert_eq(e->sent, MEND_OK);
}

static inline void await_exchange(exchange *e) {
  gate_await(&e->done, 1);
  flush(e->world->world.loop);
  cr_assert_eq(e->out_of_order, 0u);
  cr_assert_eq(e->elsewhere, 0u);
}

static inline void finish_exchange(exchange *e) { mend__buffer_free(&e->body); }

static inline bool body_is(const exchange *e, const char *text) {
  return mend_str_equal((mend_str){e->body.data, e->body.len}, mend_str_from(text));
}

#endif
