/* Cycles. For each period there is one counter: how many batches in a row, up to the latest, were equal to the one a
 * period before. k whole rounds are (k - 1) times the period. So a batch costs one comparison a period, whatever k. */
#include "core/mix.h"
#include "watchdogs/evidence_loop.h"

/* Never 0, which no batch has been put at. */
static uint64_t key_of(const mend__loop_batch *batch) { return batch->key | 1; }

static bool is_new(const mend__loop_cycle *cycle, uint64_t key) {
  uint64_t equal = 0;
  for (uint32_t i = 0; i < MEND__LOOP_PERIOD_MAX; i++)
    equal |= (uint64_t)(cycle->keys[i] == key);
  return equal == 0;
}

static bool is_equal(const mend__loop_cycle *cycle, uint32_t earlier, uint64_t key, uint64_t outcome) {
  const uint64_t other = cycle->outcomes[earlier];
  return cycle->keys[earlier] == key && (other == outcome || other == 0 || outcome == 0);
}

/* Most batches are new, and then no streak goes on. */
static void count_streaks(mend__loop_cycle *cycle, uint64_t key, uint64_t outcome) {
  const bool repeats = !is_new(cycle, key);
  if (!repeats && cycle->repeats) memset(cycle->streaks, 0, sizeof cycle->streaks);
  cycle->repeats = repeats;
  if (!repeats) return;
  for (uint32_t i = 0; i < MEND__LOOP_PERIOD_MAX; i++)
    cycle->streaks[i] = is_equal(cycle, i, key, outcome) ? cycle->streaks[i] + 1 : 0;
}

void mend__loop_cycle_push(mend__loop_cycle *cycle, const mend__loop_batch *batch) {
  const uint64_t key = key_of(batch), outcome = batch->unknown == 0 ? mend__mix(batch->outcome) | 1 : 0;
  count_streaks(cycle, key, outcome);
  memmove(cycle->keys + 1, cycle->keys, sizeof cycle->keys - sizeof *cycle->keys);
  memmove(cycle->outcomes + 1, cycle->outcomes, sizeof cycle->outcomes - sizeof *cycle->outcomes);
  cycle->keys[0] = key;
  cycle->outcomes[0] = outcome;
}

/* One batch again and again is no cycle, whatever it answered. */
static bool is_one_batch(const mend__loop_cycle *cycle, uint32_t period) {
  for (uint32_t i = 1; i < period; i++) {
    if (cycle->keys[i] != cycle->keys[0]) return false;
  }
  return period > 1;
}

uint32_t mend__loop_cycle_period(const mend__loop_cycle *cycle, const mend__loop_batch *batch, uint32_t k,
                                 uint64_t *ret_rounds) {
  for (uint32_t period = 1; period <= MEND__LOOP_PERIOD_MAX && cycle->repeats; period++) {
    const uint64_t streak = cycle->streaks[period - 1];
    if (streak == 0 || streak < (uint64_t)(k - 1) * period) continue;
    if (cycle->keys[period - 1] != key_of(batch) || is_one_batch(cycle, period)) continue;
    *ret_rounds = streak / period + 1;
    return period;
  }
  return 0;
}

bool mend__loop_cycle_is_known(const mend__loop_cycle *cycle, uint32_t period) {
  for (uint32_t i = 0; i < period; i++) {
    if (cycle->outcomes[i] == 0) return false;
  }
  return true;
}

uint64_t mend__loop_cycle_set(const mend__loop_cycle *cycle, uint32_t period) {
  uint64_t set = 0;
  for (uint32_t i = 0; i < period; i++)
    set += mend__mix(cycle->keys[i]);
  return set;
}
