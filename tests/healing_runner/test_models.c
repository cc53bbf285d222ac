/* The model of a healing runner: the chain that its configuration names. */
#include "mend/healing.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include <stdio.h>

#define FILE_NAME MEND_TEST_DATA "/fallback/chain/hello.json"
#define HELLO "scripted:" FILE_NAME

typedef struct world {
  mend_test_allocator memory;
  mend_clock *clock;
  mend_bus *bus;
  mend_loop *loop;
  char notices[2048];
  size_t threads;
} world;

static mend_status note_notices(void *ctx, const mend_event *event) {
  const mend_healing_started_event *started = (const mend_healing_started_event *)event;
  world *w = ctx;
  snprintf(w->notices, sizeof w->notices, "%.*s", MEND_STR_ARG(started->notices));
  return MEND_OK;
}

static void open_world(world *w) {
  *w = (world){.threads = mend_test_threads_before()};
  mend_test_allocator_init(&w->memory);
  mend_bus_options bus = MEND_BUS_OPTIONS_INIT;
  mend_loop_options loop = MEND_LOOP_OPTIONS_INIT;
  cr_assert_eq(mend_clock_new_virtual(&w->memory.base, (mend_time){1, 1}, &w->clock), MEND_OK);
  bus.allocator = loop.allocator = &w->memory.base;
  bus.clock = loop.clock = w->clock;
  cr_assert_eq(mend_bus_new(&bus, &w->bus, NULL), MEND_OK);
  cr_assert_eq(mend_loop_new(&loop, &w->loop, NULL), MEND_OK);
  cr_assert_eq(mend_bus_subscribe(w->bus, "healing.started", note_notices, w, NULL, NULL, NULL), MEND_OK);
}

static void close_world(world *w) {
  mend_loop_release(w->loop);
  mend_bus_release(w->bus);
  mend_clock_release(w->clock);
  cr_assert_eq(w->memory.blocks, 0, "%zu blocks are left", (size_t)w->memory.blocks);
  cr_assert(mend_test_threads_are(w->threads));
}

/* ---- Which chain there is ---- */

static const mend_key openai_key[] = {{"openai", "sk-test-of-a-chain"}};

static const struct {
  const char *models; /* JSON; NULL: nothing is configured */
  const mend_key *key;
  bool allow_no_model;
  mend_status want;
  const char *name;     /* of the model; NULL: there is none */
  const char *sentence; /* in the error, or in the notices */
} rows[] = {
    {NULL, NULL, false, MEND_OK, NULL, ""},
    {"[]", NULL, false, MEND_OK, NULL, ""},
    {"[\"" HELLO "\"]", NULL, false, MEND_OK, "fallback(" FILE_NAME ")", ""},
    {"[\"openai:gpt-4.1\", \"" HELLO "\"]", openai_key, false, MEND_OK, "fallback(gpt-4.1," FILE_NAME ")", ""},
    {"[\"openai:gpt-4.1\", \"" HELLO "\"]", NULL, false, MEND_OK, "fallback(" FILE_NAME ")", "no key for openai"},
    {"[\"openai:gpt-4.1\"]", NULL, false, MEND_EINVAL, NULL, "fallback.models: no model is left of the chain"},
    {"[\"openai:gpt-4.1\"]", NULL, true, MEND_OK, NULL, "there is no model: no model is left of the chain"},
    {"[\"opneai:gpt-4.1\"]", openai_key, false, MEND_EINVAL, NULL, "did you mean openai?"},
    {"[\"opneai:gpt-4.1\"]", openai_key, true, MEND_OK, NULL, "did you mean openai?"},
    {"[\"scripted:/no/such/file\"]", NULL, false, MEND_ENOENT, NULL, "/no/such/file"},
    {"[\"\\u006fpenai:gpt-4.1\"]", openai_key, false, MEND_OK, "fallback(gpt-4.1)", ""},
};

static void want_row(world *w, size_t row) {
  mend_healing_runner *runner = NULL;
  mend_error error = MEND_ERROR_INIT;
  mend_options config = MEND_OPTIONS_INIT;
  mend_fallback_options models = MEND_FALLBACK_OPTIONS_INIT;
  mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
  if (rows[row].models != NULL) config.fallback.models = mend_str_from(rows[row].models);
  models.keys = rows[row].key;
  models.key_count = rows[row].key != NULL;
  options.bus = w->bus;
  options.config = &config;
  options.models = &models;
  options.allow_no_model = rows[row].allow_no_model;
  w->notices[0] = '\0';
  cr_assert_eq(mend_healing_runner_new(&options, &runner, &error), rows[row].want, "row %zu: %s", row, error.message);
  if (runner == NULL) {
    cr_assert_not_null(strstr(error.message, rows[row].sentence), "row %zu: %s", row, error.message);
    return;
  }
  const mend_model *model = mend_healing_model(runner);
  cr_assert_eq(model != NULL, rows[row].name != NULL, "row %zu", row);
  if (model != NULL) cr_assert(mend_str_equal(mend_model_name(model), mend_str_from(rows[row].name)), "row %zu", row);
  MEND_HEALING_SCOPE(runner, NULL) {}
  cr_assert_not_null(strstr(w->notices, rows[row].sentence), "row %zu: %s", row, w->notices);
  cr_assert_null(strstr(w->notices, "sk-test"), "row %zu: %s", row, w->notices);
  mend_healing_runner_release(runner);
}

Test(healing_models, are_those_that_the_configuration_names) {
  world w;
  open_world(&w);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    want_row(&w, i);
  close_world(&w);
}

/* ---- Whose loop it is on ---- */

typedef enum whose { NOBODYS, THE_RUNNERS, THE_MODELS, FOREIGN } whose;

static void ask(mend_healing_runner *runner, mend_bus *bus) {
  mend_messages *messages;
  mend_reply reply = MEND_REPLY_INIT;
  mend_model_request request = MEND_MODEL_REQUEST_INIT;
  mend_error error = MEND_ERROR_INIT;
  cr_assert_eq(mend_messages_new(mend_bus_allocator(bus), &messages), MEND_OK);
  cr_assert_eq(mend_messages_add_user(messages, MEND_STR("hello")), MEND_OK);
  request.messages = messages;
  cr_assert_eq(mend_model_ask(mend_healing_model(runner), &request, &reply, &error), MEND_OK, "%s", error.message);
  cr_assert(reply.text.len > 0);
  mend_reply_clear(&reply);
  mend_messages_free(messages);
}

Test(healing_models, are_on_a_loop_of_the_buss_clock) {
  mend_loop *foreign;
  cr_assert_eq(mend_loop_new(NULL, &foreign, NULL), MEND_OK);
  for (whose loop = NOBODYS; loop <= FOREIGN; loop++) {
    world w;
    open_world(&w);
    mend_healing_runner *runner = NULL;
    mend_error error = MEND_ERROR_INIT;
    mend_options config = MEND_OPTIONS_INIT;
    mend_fallback_options models = MEND_FALLBACK_OPTIONS_INIT;
    mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
    config.fallback.models = MEND_STR("[\"" HELLO "\"]");
    models.loop = loop == THE_MODELS ? w.loop : loop == FOREIGN ? foreign : NULL;
    options.bus = w.bus;
    options.loop = loop == THE_RUNNERS ? w.loop : NULL;
    options.config = &config;
    options.models = &models;
    const mend_status status = mend_healing_runner_new(&options, &runner, &error);
    cr_assert_eq(status, loop == FOREIGN ? MEND_EINVAL : MEND_OK, "%d: %s", (int)loop, error.message);
    if (status == MEND_OK) {
      ask(runner, w.bus); /* also outside */
      MEND_HEALING_SCOPE(runner, NULL) { ask(runner, w.bus); }
    } else {
      cr_assert_not_null(strstr(error.message, "another clock"), "%s", error.message);
    }
    mend_healing_runner_release(runner);
    close_world(&w);
  }
  mend_loop_release(foreign);
}
