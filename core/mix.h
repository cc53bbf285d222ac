/* House header: numbers that look random and are made of others. */
#ifndef MEND_CORE_MIX_H
#define MEND_CORE_MIX_H

#include <stdint.h>

/* The place of splitmix64's sequence that its state has come to: one to one, so no two states give the same. */
static inline uint64_t mend__mix(uint64_t state) {
  state = (state ^ state >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  state = (state ^ state >> 27) * UINT64_C(0x94D049BB133111EB);
  return state ^ state >> 31;
}
/* What the state grows by from one place to the next. */
#define MEND__MIX_STEP UINT64_C(0x9E3779B97F4A7C15)

#endif
