/* Private to watchdogs/: what both modes of Regression share: their options, which readings are readings, and how a
 * fall of confidence is told. */
#ifndef MEND_WATCHDOGS_REGRESSION_RULE_H
#define MEND_WATCHDOGS_REGRESSION_RULE_H

#include "watchdogs/detector.h"
#include "watchdogs/half_window.h"

typedef struct mend__regression_watchdog {
  const mend_allocator *allocator;
  mend__counters counters;
  uint32_t n;
  double drop;
} mend__regression_watchdog;

/* Of this vtable, whose destroy is the function below. Errors: MEND_EINVAL, MEND_ENOMEM. */
mend_status mend__regression_watchdog_new(const mend_watchdog_vtable *vtable,
                                          const mend_regression_watchdog_options *given,
                                          const mend_allocator *allocator, mend_watchdog **ret_watchdog,
                                          mend_error *error);
void mend__regression_watchdog_destroy(void *watchdog);

/* Whether it is a number from 0 to 1; counts what is none. */
bool mend__reading_is_usable(mend__regression_watchdog *watchdog, const mend_confidence_event *reading);

/* Of a fall by so much, where `drop` is the limit. */
double mend__fall_severity(double by, double drop);
/* "0.9 to 0.5" */
void mend__fall_write(mend__fall fall, mend__buffer *text);
/* A number of a payload behind its key, to 12 decimals, without what adding and dividing leaves behind; >= 0. */
void mend__fall_write_number(mend__buffer *text, const char *key, double value);
/* What might help. */
mend_str mend__fall_steer(void);

#endif
