/* The chain of models that a configuration names. */
#include "core/buffer.h"
#include "core/options_size.h"
#include "healing_runner/healing_internal.h"
#include "mend/json.h"

/* ---- Names ---- */

/* Each with a NUL behind. The array was checked with the configuration. */
static size_t write_names(mend__buffer *names, mend_str models) {
  size_t count = 0;
  mend_json json;
  mend_json_init(&json, models, MEND_JSON_DEPTH);
  if (mend_json_next(&json) != MEND_JSON_ARRAY) return 0;
  for (; mend_json_next(&json) == MEND_JSON_STRING; count++) {
    if (mend__buffer_reserve(names, json.slice.len)) {
      names->len += mend_json_unescape(json.slice, names->data + names->len);
    }
    mend__buffer_char(names, '\0');
  }
  return count;
}

static mend_status make_chain(mend_healing_runner *runner, const mend__buffer *names, size_t count,
                              const mend_fallback_options *options, mend_error *error) {
  const char **models = names->failed ? NULL : mend__alloc(runner->allocator, count * sizeof *models);
  if (models == NULL) return mend_error_set(error, MEND_ENOMEM, "fallback.models: out of memory");
  const char *next = names->data;
  for (size_t i = 0; i < count; next += strlen(next) + 1)
    models[i++] = next;
  const mend_status status = mend_fallback_new(models, count, options, &runner->model, error);
  mend__free(runner->allocator, models);
  return status;
}

/* ---- The loop ---- */

/* Models live as long as the runner, and so does their loop. */
static mend_status need_loop(mend_healing_runner *runner, mend_loop *given, mend_error *error) {
  if (given != NULL && mend_loop_clock(given) != mend_bus_clock(runner->bus)) {
    return mend_error_set(error, MEND_EINVAL, "mend_healing_options.models.loop: it has another clock than the bus");
  }
  if (given != NULL || runner->loop != NULL) return MEND_OK;
  mend_loop_options options = MEND_LOOP_OPTIONS_INIT;
  options.allocator = runner->allocator;
  options.clock = mend_bus_clock(runner->bus);
  return mend_loop_new(&options, &runner->loop, error);
}

static mend_status take_options(mend_healing_runner *runner, const mend_fallback_options *given,
                                mend_fallback_options *ret_options, mend_error *error) {
  *ret_options = (mend_fallback_options)MEND_FALLBACK_OPTIONS_INIT;
  mend_status status = mend__options_take(ret_options, given, "mend_fallback_options", error);
  if (status == MEND_OK) status = need_loop(runner, ret_options->loop, error);
  if (ret_options->loop == NULL) ret_options->loop = runner->loop;
  if (ret_options->allocator == NULL) ret_options->allocator = runner->allocator;
  return status;
}

/* ---- The chain ---- */

static mend_status open_chain(mend_healing_runner *runner, const mend_healing_options *options, mend_str models,
                              mend_error *error) {
  mend__buffer names;
  mend_fallback_options chain;
  mend__buffer_init(&names, runner->allocator);
  const size_t count = write_names(&names, models);
  mend_status status = MEND_OK;
  if (count > 0) status = take_options(runner, options->models, &chain, error);
  if (count > 0 && status == MEND_OK) status = make_chain(runner, &names, count, &chain, error);
  mend__buffer_free(&names);
  return status;
}

mend_status mend__models_open(mend_healing_runner *runner, const mend_healing_options *options, mend_str models,
                              mend_error *error) {
  mend_error sentence = MEND_ERROR_INIT;
  const mend_status status = open_chain(runner, options, models, &sentence);
  if (status == MEND_OK) return MEND_OK;
  if (options->allow_no_model && status != MEND_ENOMEM) {
    runner->no_model = sentence;
    return MEND_OK;
  }
  return mend_error_set(error, status, "fallback.models: %s", mend_error_sentence(&sentence, status));
}

mend_model *mend_healing_model(const mend_healing_runner *runner) { return runner->model; }

/* ---- What is said about it ---- */

static void say_left_out(mend__buffer *notices, mend_json *json) {
  mend__buffer_str(notices, MEND_STR("fallback.models: left out: "));
  mend_str whole;
  if (mend_json_value(json, &whole) == MEND_OK) mend__buffer_str(notices, whole);
}

void mend__models_notice(const mend_healing_runner *runner, void (*add)(mend__buffer *notices, const char *sentence),
                         mend__buffer *notices) {
  (void)say_left_out;
  (void)runner;
  (void)add;
  (void)notices;
}
