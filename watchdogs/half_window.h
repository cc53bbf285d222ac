/* Private to watchdogs/: the last n readings of confidence, and by how much the older half's mean exceeds the newer
 * half's. Zero it, and set n (2..65536), before first use. */
#ifndef MEND_WATCHDOGS_HALF_WINDOW_H
#define MEND_WATCHDOGS_HALF_WINDOW_H

#include "core/buffer.h"

typedef struct mend__half_window {
  double *ring;
  uint32_t n, capacity, count, oldest;
  uint64_t head_sum, tail_sum; /* of the full window */
} mend__half_window;

/* How far below a limit a drop may be and still count: 0.7 - 0.5 is 0.19999999999999996. */
#define MEND__DROP_TOLERANCE 1e-9

/* A reading of 0..1. MEND_ENOMEM. */
mend_status mend__half_window_add(mend__half_window *window, double reading, const mend_allocator *allocator);
/* The readings are forgotten, their memory is kept. */
void mend__half_window_clear(mend__half_window *window);
void mend__half_window_free(mend__half_window *window, const mend_allocator *allocator);

static inline bool mend__half_window_is_full(const mend__half_window *window) { return window->count == window->n; }
/* The reading at `index` from the oldest. */
static inline double mend__half_window_at(const mend__half_window *window, uint32_t index) {
  return window->ring[(window->oldest + index) % window->capacity];
}
/* Of a full window. */
double mend__half_window_drop(const mend__half_window *window);
/* Of that drop, from the spread within the halves; infinite when they have one reading each. */
double mend__half_window_error(const mend__half_window *window);
double mend__half_window_mean(const mend__half_window *window, uint32_t first, uint32_t count);

/* From one mean to another. */
typedef struct mend__fall {
  double from, to;
} mend__fall;
/* From the older half of a full window to the newer one. */
mend__fall mend__half_window_fall(const mend__half_window *window);
/* The newest readings, 256 at most, as a JSON array from the oldest. */
void mend__half_window_write(const mend__half_window *window, mend__buffer *text);

#endif
