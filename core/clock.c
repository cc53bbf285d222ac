#include "core/clock_internal.h"

#include <stdatomic.h>
#include <time.h>

static struct real_clock {
  mend_clock base;
  atomic_uint_least64_t wall_offset_ns; /* wall minus monotonic, modulo 2^64 */
  atomic_uint_least64_t measure_at_ns;  /* monotonic time from which the offset is too old; 0: never measured */
} real_clock;

static uint64_t read_ns(clockid_t id) {
  struct timespec now;
  clock_gettime(id, &now);
  return (uint64_t)now.tv_sec * MEND_SECOND_NS + (uint64_t)now.tv_nsec;
}

/* Threads that come here at once measure the same; the release makes an offset visible before what calls it fresh. */
static void measure_wall_offset(uint64_t mono_ns) {
  const uint64_t wall_ns = read_ns(CLOCK_REALTIME);
  atomic_store_explicit(&real_clock.wall_offset_ns, wall_ns - mono_ns, memory_order_relaxed);
  atomic_store_explicit(&real_clock.measure_at_ns, mono_ns + MEND_SECOND_NS, memory_order_release);
}

static mend_time real_now(void) {
  const uint64_t mono_ns = read_ns(CLOCK_MONOTONIC);
  if (mono_ns >= atomic_load_explicit(&real_clock.measure_at_ns, memory_order_acquire)) measure_wall_offset(mono_ns);
  const uint64_t offset_ns = atomic_load_explicit(&real_clock.wall_offset_ns, memory_order_relaxed);
  return (mend_time){mono_ns, mono_ns + offset_ns};
}

mend_clock *mend_clock_real(void) { return &real_clock.base; }

mend_time mend_clock_now(mend_clock *clock) { return clock->is_virtual ? mend__virtual_now(clock) : real_now(); }

bool mend_clock_is_virtual(const mend_clock *clock) { return clock->is_virtual; }

mend_clock *mend_clock_retain(mend_clock *clock) {
  if (clock->is_virtual) mend__virtual_retain(clock);
  return clock;
}

void mend_clock_release(mend_clock *clock) {
  if (clock != NULL && clock->is_virtual) mend__virtual_release(clock);
}
