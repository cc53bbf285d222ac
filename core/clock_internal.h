/* Private to core/: the two kinds of clock. */
#ifndef MEND_CORE_CLOCK_INTERNAL_H
#define MEND_CORE_CLOCK_INTERNAL_H

#include "mend/clock.h"

/* The first member of either kind. */
struct mend_clock {
  bool is_virtual;
};

mend_time mend__virtual_now(const mend_clock *clock);
void mend__virtual_retain(mend_clock *clock);
void mend__virtual_release(mend_clock *clock);

#endif
