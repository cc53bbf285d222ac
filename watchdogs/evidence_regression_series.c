#include "watchdogs/evidence_regression.h"

/* A drop of so many standard errors is no noise: in 100 quiet readings one in 20 series has it at the most. */
static const double ERRORS_MIN = 5;

static bool has_dropped(const mend__readings *series, double drop) {
  return mend__half_window_is_full(&series->window) &&
         mend__half_window_drop(&series->window) >= drop - MEND__DROP_TOLERANCE;
}

static bool is_beyond_noise(const mend__readings *series) {
  const double least = ERRORS_MIN * mend__half_window_error(&series->window);
  return mend__half_window_drop(&series->window) >= least - MEND__DROP_TOLERANCE;
}

/* Where the sum leaves zero a decline begins, if it is one. An id that finds no memory is not known. */
static void note_beginning(mend__readings *series, double sum_before, const mend_event *event,
                           const mend_allocator *allocator) {
  static const mend_str absent = {NULL, 0};
  if (sum_before > 0 || series->cusum.sum <= 0) return;
  char digits[MEND__CALL_DIGITS];
  const mend_str call = mend__call_text(event->call, event->call_name, digits);
  if (!mend__kept_text_set(&series->begun_with, call, absent, allocator)) {
    mend__kept_text_set(&series->begun_with, absent, absent, allocator);
  }
}

static mend__decline judge(mend__readings *series, double drop, bool has_drifted) {
  const bool dropped = has_dropped(series, drop);
  if (series->quiet > 0) series->quiet--;
  if (!dropped && series->quiet == 0) series->drop_is_told = false;
  if (series->cusum.sum <= 0) series->drift_is_told = false;
  if (dropped && !series->drop_is_told && is_beyond_noise(series)) return MEND__DECLINE_HALF_WINDOW;
  return has_drifted && !series->drift_is_told ? MEND__DECLINE_CUSUM : MEND__DECLINE_NONE;
}

mend_status mend__readings_add(mend__readings *series, double drop, const mend_confidence_event *reading,
                               const mend_allocator *allocator, mend__decline *ret_decline) {
  const mend_status status = mend__half_window_add(&series->window, reading->confidence, allocator);
  if (status != MEND_OK) return status;
  const double sum_before = series->cusum.sum;
  const bool has_drifted = mend__cusum_add(&series->cusum, reading->confidence);
  note_beginning(series, sum_before, &reading->event, allocator);
  *ret_decline = judge(series, drop, has_drifted);
  return MEND_OK;
}

void mend__readings_told(mend__readings *series) {
  series->drop_is_told = series->drift_is_told = true;
  series->quiet = series->window.n;
}

void mend__readings_clear(mend__readings *series) {
  mend__half_window_clear(&series->window);
  series->cusum = (mend__cusum){0};
  series->drop_is_told = series->drift_is_told = false;
  series->quiet = 0;
}

void mend__readings_free(mend__readings *series, const mend_allocator *allocator) {
  mend__half_window_free(&series->window, allocator);
  mend__kept_text_free(&series->source, allocator);
  mend__kept_text_free(&series->begun_with, allocator);
}
