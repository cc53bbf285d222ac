/* Models of providers on a loop, with a server that has its replies: what tests of them share. */
#ifndef MEND_TESTS_FALLBACK_PROVIDER_WORLD_H
#define MEND_TESTS_FALLBACK_PROVIDER_WORLD_H

#include "fallback/fallback_internal.h"
#include "fallback/provider.h"
#include "http/server.h"

#include <math.h>

#define HEAD(status, type) "HTTP/1.1 " status "\r\ncontent-type: " type "\r\nconnection: close\r\n"
#define STREAM HEAD("200 OK", "text/event-stream") "\r\n"
#define DOCUMENT HEAD("200 OK", "application/json") "\r\n"
#define TEXT "data: {\"choices\":[{\"delta\":{\"content\":\"Paris\"}}]}\n\n"
#define USAGE "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1}}\n\n"
#define FINISH "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
#define DONE "data: [DONE]\n\n"
#define SECRET "key-sk-secret"

/* ---- What an exchange is told ---- */

typedef struct asked {
  gate done;
  mend__buffer log;
} asked;

static inline void tell_connected(void *ctx) { mend__buffer_str(&((asked *)ctx)->log, MEND_STR("connected ")); }

static inline void tell_delta(void *ctx, const mend_delta *delta) {
  mend__buffer_printf(&((asked *)ctx)->log, "+%.*s ", MEND_STR_ARG(delta->text));
}

static inline void tell_reply(mend__buffer *log, const mend_reply *got) {
  mend__buffer_printf(log, "reply \"%.*s\" %s", MEND_STR_ARG(got->text), mend_finish_name(got->finish));
  if (got->usage.input != MEND_NONE) mend__buffer_printf(log, " usage %u", (unsigned)got->usage.input);
}

static inline void tell_failure(mend__buffer *log, const mend_failure *failure, const mend_failure_signal *signal) {
  mend__buffer_printf(log, "%s", signal->transport != NULL ? signal->transport : "told");
  if (signal->http_status != 0) mend__buffer_printf(log, " %u", (unsigned)signal->http_status);
  if (signal->after_content) mend__buffer_str(log, MEND_STR(" after content"));
  if (signal->any_byte) mend__buffer_str(log, MEND_STR(" any byte"));
  if (signal->reused) mend__buffer_str(log, MEND_STR(" reused"));
  if (!isnan(failure->retry_after_s)) mend__buffer_printf(log, " wait %g", failure->retry_after_s);
  if (failure->usage.input != MEND_NONE) mend__buffer_printf(log, " usage %u", (unsigned)failure->usage.input);
  mend__buffer_printf(log, " \"%.*s\"", MEND_STR_ARG(failure->message));
  if (signal->body.len > 0) mend__buffer_printf(log, " body %.*s", MEND_STR_ARG(signal->body));
}

static inline void tell_done(void *ctx, mend_status status, mend_reply *got, const mend_failure *failure,
                             const mend_failure_signal *signal) {
  asked *self = ctx;
  if (status == MEND_OK) {
    tell_reply(&self->log, got);
  } else {
    tell_failure(&self->log, failure, signal);
  }
}

static inline void tell_gone(void *ctx) { gate_reach(&((asked *)ctx)->done, 1); }

/* ---- A provider on a loop ---- */

typedef struct provider_world {
  world world;
  server server;
  mend__http *http;
  mend_messages *messages;
} provider_world;

static inline void open_provider_in(provider_world *w, world_kind kind, const reply *replies, size_t count) {
  open_world(&w->world, kind);
  start_server(&w->server, replies, count);
  const mend_allocator *allocator = &w->world.allocator.base;
  const mend__http_options options = {.allocator = allocator, .loop = w->world.loop};
  cr_assert_eq(mend__http_new(&options, &w->http, NULL), MEND_OK);
  cr_assert_eq(mend_messages_new(allocator, &w->messages), MEND_OK);
  cr_assert_eq(mend_messages_add_user(w->messages, MEND_STR("Capital of France?")), MEND_OK);
}

static inline void open_provider(provider_world *w, const reply *replies, size_t count) {
  open_provider_in(w, OWN_THREAD, replies, count);
}

static inline void close_provider(provider_world *w) {
  mend_messages_free(w->messages);
  mend__http_release(w->http);
  flush(w->world.loop);
  stop_server(&w->server);
  close_world(&w->world);
}

static inline mend_model *model_with(provider_world *w, const mend_allocator *allocator, const mend__dialect *dialect,
                                     const char *path) {
  char url[128];
  mend_model *model;
  mend_error error = MEND_ERROR_INIT;
  snprintf(url, sizeof url, "http://127.0.0.1:%u%s", w->server.port, path);
  const mend__provider_options options = {.allocator = allocator,
                                          .loop = w->world.loop,
                                          .dialect = dialect,
                                          .model_id = "m",
                                          .base_url = url,
                                          .key = SECRET,
                                          .http = w->http,
                                          .reply_limit = 4096};
  cr_assert_eq(mend__provider_new(&options, &model, &error), MEND_OK, "%s", error.message);
  return model;
}

static inline mend_model *model_at(provider_world *w, const mend__dialect *dialect, const char *path) {
  return model_with(w, &w->world.allocator.base, dialect, path);
}

static inline void begin_to_ask(mend_model *model, const mend_model_request *request, asked *self) {
  const mend__listener listener = {tell_connected, tell_delta, tell_done, tell_gone, self};
  mend_error error = MEND_ERROR_INIT;
  self->done = (gate)GATE_INIT;
  mend__buffer_init(&self->log, NULL);
  cr_assert_eq(mend__exchange_send(model, request, &listener, NULL, &error), MEND_OK, "%s", error.message);
}

static inline void ask(mend_model *model, const mend_model_request *request, asked *self) {
  begin_to_ask(model, request, self);
  gate_await(&self->done, 1);
  mend__buffer_char(&self->log, '\0');
}

#endif
