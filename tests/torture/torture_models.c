/* Conversations and requests, in a base that this thread dispatches: what fails, and when, is the same each time. */
#include "fallback/scripted.h"
#include "torture/torture.h"

#include <event2/event.h>

#define SCRIPT                                                                                                         \
  MEND_STR("{\"replies\": [{\"thinking\": \"hm\", \"text\": \"let me see\", \"cut\": 4, \"every_ms\": 10, "            \
           "\"calls\": [{\"name\": \"look\", \"args\": {\"at\": 1}}], \"usage\": {\"input\": 1, \"output\": 2}}]}")

/* ---- Conversations ---- */

static mend_status talk(torture *t) {
  mend_messages *messages = NULL, *copy = NULL;
  mend_part call = MEND_PART_INIT;
  mend_reply reply = MEND_REPLY_INIT;
  mend_status status = MEND_OK;
  call.kind = MEND_PART_CALL;
  call.call_id = MEND_STR("c1");
  call.name = MEND_STR("look");
  call.args = MEND_STR("{broken");
  reply.parts = &call;
  reply.part_count = 1;
  TRY(mend_messages_new(t->allocator, &messages));
  TRY(mend_messages_add_user(messages, MEND_STR("look")));
  TRY(mend_messages_add_reply(messages, &reply));
  TRY(mend_messages_add_result(messages, MEND_STR("c1"), MEND_STR("seen"), false));
  TRY(mend_messages_copy(messages, t->allocator, &copy));
  torture_must(t, mend_messages_count(copy) == 3, "a copy has all messages");
end:
  mend_messages_free(copy);
  mend_messages_free(messages);
  return status;
}

/* ---- Requests ---- */

typedef struct world {
  struct event_base *base;
  mend_loop *loop;
  mend_model *model;
  mend_messages *messages;
} world;

static mend_status open_world(torture *t, world *w) {
  mend_loop_options options = MEND_LOOP_OPTIONS_INIT;
  mend_status status = torture_open_bus(t);
  w->base = event_base_new();
  if (status == MEND_OK && w->base == NULL) status = MEND_ENOMEM;
  options.allocator = t->allocator;
  options.clock = t->clock;
  options.base = w->base;
  if (status == MEND_OK) status = mend_loop_new(&options, &w->loop, NULL);
  if (status == MEND_OK) status = mend_messages_new(t->allocator, &w->messages);
  if (status == MEND_OK) status = mend_messages_add_user(w->messages, MEND_STR("hello"));
  if (status == MEND_OK) status = mend__scripted_new("script", SCRIPT, w->loop, t->allocator, NULL, &w->model, NULL);
  return status;
}

static void close_world(torture *t, world *w) {
  mend_model_release(w->model);
  mend_messages_free(w->messages);
  mend_loop_release(w->loop);
  if (w->base != NULL) event_base_free(w->base);
  torture_close_bus(t);
}

static void hear_done(void *ctx, mend_status status, mend_reply *reply, const mend_failure *failure) {
  (void)failure;
  torture *t = ctx;
  t->events++;
  if (status == MEND_ENOMEM) t->reported = true;
  torture_claim(t, reply != NULL && reply->part_count == 3, "the reply is whole");
}

static mend_status ask(torture *t) {
  const mend_model_listener listener = {sizeof listener, NULL, hear_done, t};
  mend_model_request request = MEND_MODEL_REQUEST_INIT;
  world w = {.base = NULL};
  mend_status status = open_world(t, &w);
  request.messages = w.messages;
  request.run = t->run;
  if (status != MEND_OK) goto end;
  TRY(mend_model_send(w.model, &request, &listener, NULL, NULL));
  mend_clock_advance(t->clock, 10 * MEND_SECOND_NS);
  torture_must(t, t->events == 1, "the end is told once");
end:
  close_world(t, &w);
  return status;
}

/* ---- Cancelled halfway ---- */

static void count_cancelled(void *ctx, mend_status status, mend_reply *reply, const mend_failure *failure) {
  (void)reply;
  (void)failure;
  torture *t = ctx;
  t->events++;
  if (status == MEND_ENOMEM) t->reported = true;
  torture_claim(t, status == MEND_ECANCELLED, "it was cancelled");
}

static mend_status cancel(torture *t) {
  const mend_model_listener listener = {sizeof listener, NULL, count_cancelled, t};
  mend_model_request request = MEND_MODEL_REQUEST_INIT;
  mend_exchange *exchange = NULL;
  world w = {.base = NULL};
  mend_status status = open_world(t, &w);
  request.messages = w.messages;
  if (status != MEND_OK) goto end;
  TRY(mend_model_send(w.model, &request, &listener, &exchange, NULL));
  mend_clock_advance(t->clock, 15000000);
  mend_exchange_cancel(exchange);
  mend_clock_advance(t->clock, MEND_SECOND_NS);
  torture_must(t, t->events == 1, "the end is told once");
end:
  mend_exchange_release(exchange);
  close_world(t, &w);
  return status;
}

static const torture_scenario scenarios[] = {
    {"a conversation", talk, NULL, NULL},
    {"a request to a scripted model", ask, NULL, NULL},
    {"a request that is cancelled", cancel, NULL, NULL},
};
const torture_room torture_models = TORTURE_ROOM("fallback", scenarios);
