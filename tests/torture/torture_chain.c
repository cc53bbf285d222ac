/* Requests through a chain over HTTP, from a server in a process of its own, whose memory does not run out. Curl's
 * memory is its own, too. Time is real: each request has some seconds. */
#include "mend/fallback.h"
#include "program/fault_server/server.h"
#include "torture/torture.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- The server: from the first scenario that wants it to the end of this process ---- */

static void stop_serving(evutil_socket_t fd, short what, void *ctx) {
  (void)fd;
  (void)what;
  event_base_loopbreak(ctx);
}

/* Ends when the other end of `until` is closed. */
static void serve(int until, int told) {
  const fault_server_options options = {.port = 0};
  fault_server *server;
  struct event_base *base = event_base_new();
  if (base == NULL || fault_server_new(base, &options, &server, NULL) != MEND_OK) _exit(EXIT_FAILURE);
  struct event *end = event_new(base, until, EV_READ, stop_serving, base);
  const unsigned port = fault_server_port(server);
  if (end == NULL || event_add(end, NULL) != 0) _exit(EXIT_FAILURE);
  if (write(told, &port, sizeof port) != (ssize_t)sizeof port) _exit(EXIT_FAILURE);
  event_base_dispatch(base);
  _exit(EXIT_SUCCESS);
}

static struct {
  unsigned port;
  int until; /* closed with this process */
} server;

static void need_server(torture *t) {
  int until[2], told[2];
  if (server.port != 0) return;
  if (pipe(until) != 0 || pipe(told) != 0) abort();
  const pid_t child = fork();
  if (child == 0) {
    close(until[1]);
    serve(until[0], told[1]);
  }
  close(until[0]);
  close(told[1]);
  const bool answered = child > 0 && read(told[0], &server.port, sizeof server.port) == (ssize_t)sizeof server.port;
  close(told[0]);
  server.until = until[1];
  torture_must(t, answered, "the server starts");
}

/* ---- A chain ---- */

typedef struct world {
  struct event_base *base;
  mend_loop *loop;
  mend_model *chain;
  mend_messages *messages;
  mend_exchange *exchange;
  torture *t;
  mend_status expected; /* of the end */
  bool leaves;          /* at the first content */
} world;

enum { TARGETS = 3 };

static mend_status open_chain(torture *t, world *w, const char *const *faults) {
  static const char *const models[TARGETS] = {"openai:a", "anthropic:b", "google:c"};
  static const char *const providers[TARGETS] = {"openai", "anthropic", "google"};
  const mend_key key = {NULL, "the key of all"};
  char urls[TARGETS][128];
  mend_endpoint endpoints[TARGETS];
  mend_fallback_options options = MEND_FALLBACK_OPTIONS_INIT;
  for (int i = 0; i < TARGETS; i++) {
    snprintf(urls[i], sizeof urls[i], "http://127.0.0.1:%u/fault/%s/v1", server.port, faults[i]);
    endpoints[i] = (mend_endpoint){providers[i], urls[i]};
  }
  options.loop = w->loop;
  options.allocator = t->allocator;
  options.keys = &key;
  options.key_count = 1;
  options.endpoints = endpoints;
  options.endpoint_count = TARGETS;
  options.profile = MEND_FALLBACK_RESILIENT;
  options.seed = 1;
  return mend_fallback_new(models, TARGETS, &options, &w->chain, NULL);
}

static mend_status open_world(torture *t, world *w, const char *const *faults) {
  mend_loop_options options = MEND_LOOP_OPTIONS_INIT;
  mend_status status = torture_open_bus(t);
  w->t = t;
  w->base = event_base_new();
  if (status == MEND_OK && w->base == NULL) status = MEND_ENOMEM;
  options.allocator = t->allocator;
  options.base = w->base;
  if (status == MEND_OK) status = mend_loop_new(&options, &w->loop, NULL);
  if (status == MEND_OK) status = open_chain(t, w, faults);
  if (status == MEND_OK) status = mend_messages_new(t->allocator, &w->messages);
  if (status == MEND_OK) status = mend_messages_add_user(w->messages, MEND_STR("one two three"));
  return status;
}

static void close_world(world *w) {
  mend_exchange_release(w->exchange);
  mend_model_release(w->chain);
  mend_messages_free(w->messages);
  mend_loop_release(w->loop);
  if (w->base != NULL) event_base_free(w->base);
  torture_close_bus(w->t);
}

/* ---- Requests ---- */

static void hear_delta(void *ctx, const mend_delta *delta) {
  (void)delta;
  const world *w = ctx;
  if (w->leaves) mend_exchange_cancel(w->exchange);
}

static void hear_end(void *ctx, mend_status status, mend_reply *reply, const mend_failure *failure) {
  (void)failure;
  const world *w = ctx;
  torture *t = w->t;
  t->events++;
  t->reported |= status == MEND_ENOMEM;
  torture_claim(t, status == w->expected, "it ends as it should");
  if (reply == NULL) return;
  torture_must(t, mend_str_equal(reply->text, MEND_STR("one two three")), "the reply is whole");
  torture_must(t, mend_str_equal(reply->target, MEND_STR("google:c")), "it is the last target's");
}

static mend_status ask(torture *t, world *w, const char *const *faults) {
  const mend_model_listener listener = {sizeof listener, hear_delta, hear_end, w};
  mend_model_request request = MEND_MODEL_REQUEST_INIT;
  mend_status status = open_world(t, w, faults);
  if (status != MEND_OK) goto end;
  request.messages = w->messages;
  request.run = t->run;
  request.clocks = (mend_model_clocks){5, 5, 5, 5};
  TRY(mend_model_send(w->chain, &request, &listener, &w->exchange, NULL));
  while (t->events == 0)
    event_base_loop(w->base, EVLOOP_ONCE);
  event_base_loop(w->base, EVLOOP_NONBLOCK);
  torture_must(t, t->events == 1, "the end is told once");
end:
  close_world(w);
  return status;
}

static mend_status fail_over(torture *t) {
  static const char *const faults[TARGETS] = {"overloaded", "close_after=0", "comments"};
  world w = {.expected = MEND_OK};
  return ask(t, &w, faults);
}

static mend_status die_after_content(torture *t) {
  static const char *const faults[TARGETS] = {"overloaded", "close_after=2", "comments"};
  world w = {.expected = MEND_EFAILED};
  return ask(t, &w, faults);
}

static mend_status leave_in_the_middle(torture *t) {
  static const char *const faults[TARGETS] = {"overloaded", "silence_after=2", "comments"};
  world w = {.expected = MEND_ECANCELLED, .leaves = true};
  return ask(t, &w, faults);
}

static const torture_scenario scenarios[] = {
    {"a request that fails over", fail_over, need_server, NULL},
    {"a stream that dies after content", die_after_content, need_server, NULL},
    {"a caller that leaves in the middle", leave_in_the_middle, need_server, NULL},
};
const torture_room torture_chain = TORTURE_ROOM("chain", scenarios);
