/* The chain of models that a configuration names. */
#include "core/option_names.h"
#include "core/options_size.h"
#include "healing_runner/healing_internal.h"

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
  mend_fallback_options chain;
  const char **names;
  size_t count;
  mend_status status = mend__option_names(models, runner->allocator, &names, &count);
  if (status != MEND_OK || count == 0) return status;
  status = take_options(runner, options->models, &chain, error);
  if (status == MEND_OK) status = mend_fallback_new(names, count, &chain, &runner->model, error);
  mend__free(runner->allocator, names);
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

mend_model *mend_healing_model(mend_healing_runner *runner) { return runner->model; }
