#include "core/mix.h"
#include "core/options_size.h"
#include "core/seconds.h"
#include "hooks/flows_internal.h"
#include "hooks/passage_internal.h"

#include <math.h>
#include <stdlib.h>

enum { ATTEMPTS_MAX = 1000 };

typedef struct retry_flow {
  mend_retry_options options;
  mend__passage passage;
  mend__buffer note;
  uint64_t random;
} retry_flow;

/* ---- Options ---- */

static mend_status check_duration(const char *name, double seconds, mend_error *error) {
  if (isfinite(seconds) && seconds >= 0) return MEND_OK;
  return mend__options_refuse_number(name, seconds, "seconds >= 0", error);
}

static mend_status take_options(const mend_retry_options *given, mend_retry_options *ret_options, mend_error *error) {
  *ret_options = (mend_retry_options)MEND_RETRY_OPTIONS_INIT;
  mend_status status = mend__options_take(ret_options, given, "mend_retry_options", error);
  if (status == MEND_OK) {
    status =
        mend__options_check_range("mend_retry_options.max_attempts", ret_options->max_attempts, 1, ATTEMPTS_MAX, error);
  }
  if (status == MEND_OK) status = check_duration("mend_retry_options.backoff_s", ret_options->backoff_s, error);
  if (status == MEND_OK) {
    status = check_duration("mend_retry_options.backoff_max_s", ret_options->backoff_max_s, error);
  }
  return status;
}

/* ---- The pause ---- */

/* 0 to 1. */
static double draw(uint64_t *state) {
  *state += MEND__MIX_STEP;
  return (double)(mend__mix(*state) >> 11) * 0x1p-53;
}

static uint64_t seed(const retry_flow *retry) {
  if (retry->options.jitter_seed != 0) return retry->options.jitter_seed;
  return mend_clock_now(mend_bus_clock(mend_run_bus(retry->passage.boundary->run))).mono_ns ^ retry->passage.number
                                                                                                  << 32;
}

uint64_t mend__backoff_ns(const mend_retry_options *options, uint32_t failures, uint64_t *random) {
  const double longest_s = fmin(ldexp(options->backoff_s, (int)failures - 1), options->backoff_max_s);
  return mend__seconds_to_ns(options->jitter ? longest_s * draw(random) : longest_s);
}

static void pause_before_next(retry_flow *retry, uint32_t failures) {
  const uint64_t pause_ns = mend__backoff_ns(&retry->options, failures, &retry->random);
  if (pause_ns > 0) mend_token_wait(retry->passage.call->token, pause_ns);
}

/* ---- The note ---- */

static void add_failure(mend__buffer *note, const mend_result *failure) {
  if (note->len > 0) mend__buffer_str(note, MEND_STR("\n\n"));
  mend__buffer_printf(note, "Attempt %u failed: ", failure->attempts);
  mend__buffer_str(note, failure->error_type);
  mend__buffer_str(note, MEND_STR(": "));
  mend__buffer_str(note, failure->error_message);
}

static void show_note(retry_flow *retry) {
  retry->passage.note = retry->note.len > 0 ? mend__buffer_text(&retry->note) : (mend_str)MEND_ABSENT;
}

/* A caller's function that fails leaves the note as it was. Without memory for it the note ends where it did. */
static void enrich(retry_flow *retry) {
  const mend_result *failure = retry->passage.result;
  const size_t before = retry->note.len;
  if (retry->options.enrich == NULL) {
    add_failure(&retry->note, failure);
    if (retry->note.failed) retry->note.len = before;
  } else {
    char *next = NULL;
    const mend_status status = retry->options.enrich(retry->options.ctx, retry->passage.note, failure, &next);
    if (status == MEND_OK && next != NULL) {
      mend__buffer_clear(&retry->note);
      mend__buffer_str(&retry->note, mend_str_from(next));
    }
    free(next);
  }
  show_note(retry);
}

/* ---- The flow ---- */

static bool wants_another(const retry_flow *retry, uint32_t tries) {
  const mend_result *result = retry->passage.result;
  if (retry->passage.error != MEND_OK || result->outcome != MEND_OUTCOME_FAILED) return false;
  if (tries >= retry->options.max_attempts) return false;
  return retry->options.is_retryable == NULL || retry->options.is_retryable(retry->options.ctx, result);
}

static void tell_exhaustion(mend__passage *passage) {
  mend_result *result = passage->result;
  mend__buffer value;
  mend__buffer_init(&value, passage->boundary->allocator);
  mend__buffer_str(&value, MEND_STR("{\"success\":false,\"error\":"));
  mend__buffer_json_string(&value, result->error_message);
  mend__buffer_printf(&value, ",\"attempts\":%u}", result->attempts);
  if (!value.failed) mend__passage_tell(passage, &result->value, mend__buffer_text(&value));
  mend__buffer_free(&value);
}

static void try_again_and_again(retry_flow *retry) {
  uint32_t tries = 1;
  for (mend__try_here(&retry->passage); wants_another(retry, tries); tries++) {
    enrich(retry);
    pause_before_next(retry, tries);
    if (mend__call_is_cancelled(retry->passage.call)) {
      mend__passage_give_up(&retry->passage);
      return;
    }
    mend__try_here(&retry->passage);
  }
  if (retry->passage.error == MEND_OK && retry->passage.result->outcome == MEND_OUTCOME_FAILED)
    tell_exhaustion(&retry->passage);
}

static mend_status run(mend_boundary *boundary, mend_str tool, mend_str args, const mend_retry_options *given,
                       mend_result *ret_result) {
  retry_flow retry;
  mend_error error = MEND_ERROR_INIT;
  mend_status status = take_options(given, &retry.options, &error);
  if (status != MEND_OK) return mend__result_refuse(ret_result, boundary->allocator, status, error.message);
  mend_call_options options = MEND_CALL_OPTIONS_INIT;
  options.within = retry.options.within;
  status =
      mend__passage_begin(&retry.passage, boundary, &(mend__target){.tool = tool, .args = args}, &options, ret_result);
  if (status != MEND_OK) return status;
  mend__buffer_init(&retry.note, boundary->allocator);
  mend__buffer_str(&retry.note, retry.options.note);
  show_note(&retry);
  retry.random = seed(&retry);
  try_again_and_again(&retry);
  mend__buffer_free(&retry.note);
  return mend__passage_end(&retry.passage);
}

mend_status mend_boundary_retry(mend_boundary *boundary, mend_str tool, mend_str args,
                                const mend_retry_options *options, mend_result *ret_result) {
  mend_result own;
  mend_status status = mend__flow_begin(boundary, ret_result, &own);
  if (status != MEND_OK) return status;
  status = run(boundary, tool, args, options, &own);
  mend__result_move(ret_result, &own);
  return status;
}
