/* Models: made, asked and waited for; requests that are refused; what a piece of a stream costs. */
#include "fallback/world.h"

#include <stdlib.h>

/* ---- Asking and waiting ---- */

static mend_status answer_at_once(void *ctx, mend_exchange *exchange, mend_error *error) {
  (void)error;
  const mend_failure *failure = ctx;
  mend_delta delta = MEND_DELTA_INIT;
  delta.text = MEND_STR("yes");
  mend_exchange_delta(exchange, &delta);
  if (failure != NULL) {
    mend_exchange_fail(exchange, failure);
  } else {
    mend_exchange_finish(exchange);
  }
  return MEND_OK;
}

typedef struct deadlock {
  mend_model *model;
  const mend_model_request *request;
  mend_status status;
} deadlock;

static void ask_here(void *ctx) {
  deadlock *asked = ctx;
  mend_reply reply = MEND_REPLY_INIT;
  asked->status = mend_model_ask(asked->model, asked->request, &reply, NULL);
}

/* What was told of the failure is the reply's to keep. */
static void check_kept(const mend_failure *kept, const mend_failure *given) {
  cr_assert_eq(kept != NULL, given != NULL);
  if (given == NULL) return;
  cr_assert(mend_str_equal(kept->type, given->type));
  cr_assert(mend_str_equal(kept->message, given->message));
  cr_assert(mend_str_equal(kept->body, given->body));
  cr_assert(mend_str_equal(kept->attempts, given->attempts));
  cr_assert_eq(kept->http_status, given->http_status);
  cr_assert_float_eq(kept->retry_after_s, given->retry_after_s, 0);
  cr_assert(kept->after_content);
}

static void ask(world *w, mend_failure *failure, mend_status wanted, const char *text, const char *sentence,
                const char *attempts) {
  const mend_model_vtable vtable = {.size = sizeof vtable, .begin = answer_at_once};
  mend_model *model;
  mend_error error = MEND_ERROR_INIT;
  mend_reply reply = MEND_REPLY_INIT;
  const mend_model_request request = world_request(w);
  cr_assert_eq(mend_model_new(w->loop, &w->memory.base, &vtable, failure, "p", "m", &model, NULL), MEND_OK);
  cr_assert_eq((int)mend_model_ask(model, &request, &reply, &error), (int)wanted);
  cr_assert_str_eq(error.message, sentence);
  cr_assert(mend_str_equal(reply.text, mend_str_from(text)));
  cr_assert(mend_str_equal(reply.attempts, mend_str_from(attempts)));
  check_kept(reply.failure, failure);
  deadlock asked = {model, &request, MEND_OK};
  mend__loop_call(w->loop, ask_here, &asked);
  cr_assert_eq((int)asked.status, (int)MEND_EDEADLK);
  mend_reply_clear(&reply);
  mend_model_release(model);
}

/* A reply of zeroes is a mistake that is told, and does no harm. */
static void ask_into_zeroes(world *w) {
  static const mend_model_vtable vtable = {.size = sizeof vtable, .begin = answer_at_once};
  mend_model *model;
  mend_reply reply;
  mend_error error = MEND_ERROR_INIT;
  memset(&reply, 0, sizeof reply);
  cr_assert_eq(mend_model_new(w->loop, &w->memory.base, &vtable, NULL, "p", "m", &model, NULL), MEND_OK);
  const mend_model_request request = world_request(w);
  cr_assert_eq((int)mend_model_ask(model, &request, &reply, &error), (int)MEND_EINVAL);
  cr_assert_str_eq(error.message,
                   "mend_reply: size is 0, start from the type's _INIT or set size to sizeof(mend_reply)");
  mend_reply_clear(&reply);
  mend_model_release(model);
}

Test(model, is_waited_for) {
  world w;
  mend_failure broken = MEND_FAILURE_INIT;
  broken.type = MEND_STR("broken");
  broken.message = MEND_STR("it is broken");
  broken.attempts = MEND_STR("[1]");
  broken.body = MEND_STR("{}");
  broken.http_status = 503;
  broken.retry_after_s = 7;
  world_open(&w);
  ask(&w, NULL, MEND_OK, "yes", "", "");
  ask(&w, &broken, MEND_EFAILED, "", "it is broken", "[1]");
  ask_into_zeroes(&w);
  world_close(&w);
}

/* ---- Many threads ---- */

enum { ASKERS = 4, QUESTIONS = 50 };

typedef struct asker {
  world *w;
  mend_model *model;
  size_t answered;
} asker;

static void *ask_often(void *ctx) {
  asker *own = ctx;
  mend_model *model = mend_model_retain(own->model);
  const mend_model_request request = world_request(own->w);
  for (int i = 0; i < QUESTIONS; i++) {
    mend_reply reply = MEND_REPLY_INIT;
    const mend_status status = mend_model_ask(model, &request, &reply, NULL);
    own->answered += status == MEND_OK && mend_str_equal(reply.text, MEND_STR("yes"));
    mend_reply_clear(&reply);
  }
  mend_model_release(model);
  return NULL;
}

Test(model, is_asked_by_many_threads) {
  static const mend_model_vtable vtable = {.size = sizeof vtable, .begin = answer_at_once};
  world w;
  mend_model *model;
  pthread_t threads[ASKERS];
  asker askers[ASKERS];
  world_open(&w);
  cr_assert_eq(mend_model_new(w.loop, &w.memory.base, &vtable, NULL, "p", "m", &model, NULL), MEND_OK);
  for (size_t i = 0; i < ASKERS; i++) {
    askers[i] = (asker){&w, model, 0};
    cr_assert_eq(pthread_create(&threads[i], NULL, ask_often, &askers[i]), 0);
  }
  for (size_t i = 0; i < ASKERS; i++) {
    pthread_join(threads[i], NULL);
    cr_assert_eq(askers[i].answered, (size_t)QUESTIONS);
  }
  mend_model_release(model);
  world_close(&w);
}

/* ---- Requests ---- */

Test(model, checks_requests) {
  static const char schema[] = "{\"type\":\"object\"}";
  const mend_tool_spec good = {sizeof good, MEND_STR("f"), MEND_ABSENT, {schema, sizeof schema - 1}, false};
  const mend_tool_spec bad = {sizeof bad, MEND_STR("g"), MEND_ABSENT, MEND_STR("[]"), false};
  const mend_tool_spec nameless = {sizeof nameless, MEND_ABSENT, MEND_ABSENT, MEND_ABSENT, false};
  world w;
  world_open(&w);
  mend_messages *none;
  cr_assert_eq(mend_messages_new(NULL, &none), MEND_OK);
  const mend_model_request base = world_request(&w);
  struct {
    mend_model_request request;
    const char *sentence;
  } cases[13];
  size_t count = 0;
#define CASE(text, change)                                                                                             \
  do {                                                                                                                 \
    mend_model_request request = base;                                                                                 \
    change;                                                                                                            \
    cases[count].request = request;                                                                                    \
    cases[count++].sentence = (text);                                                                                  \
  } while (0)
  CASE("request: messages: expected at least one", request.messages = NULL);
  CASE("request: messages: expected at least one", request.messages = none);
  CASE("request: temperature is -1, expected a number from 0", request.temperature = -1);
  CASE("request: clocks.idle_s is NaN, expected a number from 0", request.clocks.idle_s = MEND_NAN);
  CASE("request: stop: expected a JSON array of strings", request.stop = MEND_STR("[1]"));
  CASE("request: stop: expected a JSON array of strings", request.stop = MEND_STR("\"a\""));
  CASE("request: extra: expected a JSON object", request.extra = MEND_STR("[]"));
  CASE("request: tool g: schema: expected a JSON object", (request.tools = &bad, request.tool_count = 1));
  CASE("request: a tool has no name", (request.tools = &nameless, request.tool_count = 1));
  CASE("request: tool_choice is \"h\", expected auto, none, required or the name of one of its tools",
       (request.tools = &good, request.tool_count = 1, request.tool_choice = MEND_STR("h")));
  CASE("request: tools is NULL, expected as many as tool_count says: 2", request.tool_count = 2);
  CASE("mend_model_request: size is 0, start from the type's _INIT or set size to sizeof(mend_model_request)",
       request.size = 0);
#undef CASE
  const mend_model_vtable vtable = {.size = sizeof vtable, .begin = answer_at_once};
  mend_model *model;
  cr_assert_eq(mend_model_new(w.loop, &w.memory.base, &vtable, NULL, "p", "m", &model, NULL), MEND_OK);
  for (size_t i = 0; i < count; i++) {
    mend_error error = MEND_ERROR_INIT;
    cr_assert_eq((int)mend_model_send(model, &cases[i].request, NULL, NULL, &error), (int)MEND_EINVAL, "case %zu", i);
    cr_assert_str_eq(error.message, cases[i].sentence, "case %zu", i);
  }
  mend_model_release(model);
  mend_messages_free(none);
  world_close(&w);
}

/* ---- Making them ---- */

static void count_destroyed(void *ctx) { ++*(int *)ctx; }

Test(model, is_made_and_destroyed_once) {
  static const mend_model_vtable none = {.size = sizeof none};
  static const mend_model_vtable vtable = {sizeof vtable, answer_at_once, NULL, count_destroyed};
  world w;
  int destroyed = 0;
  world_open(&w);
  const struct {
    mend_loop *loop;
    const mend_model_vtable *vtable;
    const char *provider, *name, *sentence;
  } cases[] = {
      {NULL, &vtable, "p", "m", "a model: loop is NULL, expected one"},
      {w.loop, &none, "p", "m", "a model: its vtable has no begin"},
      {w.loop, &vtable, "", "m", "a model: provider is empty"},
      {w.loop, &vtable, "p", NULL, "a model: name is empty"},
  };
  mend_model *model = NULL;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    mend_error error = MEND_ERROR_INIT;
    cr_assert_eq((int)mend_model_new(cases[i].loop, NULL, cases[i].vtable, &destroyed, cases[i].provider, cases[i].name,
                                     &model, &error),
                 (int)MEND_EINVAL);
    cr_assert_str_eq(error.message, cases[i].sentence);
  }
  cr_assert_eq(mend_model_new(w.loop, &w.memory.base, &vtable, &destroyed, "p", "m", &model, NULL), MEND_OK);
  cr_assert_str_eq(mend_model_provider(model).ptr, "p");
  cr_assert_str_eq(mend_model_name(model).ptr, "m");
  mend_model_release(mend_model_retain(model));
  cr_assert_eq(destroyed, 0);
  mend_model_release(model);
  mend_model_release(NULL);
  cr_assert_eq(destroyed, 1);
  world_close(&w);
}

/* ---- What a piece costs ---- */

enum { PIECES = 10000 };

typedef struct streamer {
  mend_test_allocator *memory;
  size_t allocations; /* of all pieces but the first, with which the bus comes to know the thread */
} streamer;

static mend_status stream(void *ctx, mend_exchange *exchange, mend_error *error) {
  (void)error;
  streamer *own = ctx;
  mend_delta delta = MEND_DELTA_INIT;
  delta.text = MEND_STR("piece ");
  mend_exchange_delta(exchange, &delta);
  const size_t before = atomic_load(&own->memory->calls);
  for (int i = 1; i < PIECES; i++)
    mend_exchange_delta(exchange, &delta);
  own->allocations = atomic_load(&own->memory->calls) - before;
  mend_exchange_finish(exchange);
  return MEND_OK;
}

Test(model, streams_without_allocating) {
  static const mend_model_vtable vtable = {.size = sizeof vtable, .begin = stream};
  world w;
  mend_model *model;
  mend_reply reply = MEND_REPLY_INIT;
  world_open(&w);
  streamer own = {&w.memory, 0};
  const mend_model_request request = world_request(&w);
  cr_assert_eq(mend_model_new(w.loop, &w.memory.base, &vtable, &own, "p", "m", &model, NULL), MEND_OK);
  cr_assert_eq(mend_model_ask(model, &request, &reply, NULL), MEND_OK);
  cr_assert_eq(reply.text.len, (size_t)PIECES * strlen("piece "));
  cr_assert(own.allocations <= 12, "%zu allocations: only the text grows, to twice its size", own.allocations);
  mend_reply_clear(&reply);
  mend_model_release(model);
  world_close(&w);
}
