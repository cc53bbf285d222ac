#include "fallback/breaker.h"

static bool has_cooled_down(const mend__breaker *breaker, uint64_t now_ns) {
  return breaker->state == MEND_BREAKER_OPEN && now_ns >= breaker->until_ns;
}

bool mend__breaker_lets(const mend__breaker *breaker, uint64_t now_ns) {
  return breaker->state == MEND_BREAKER_CLOSED || has_cooled_down(breaker, now_ns);
}

static void change(mend__breaker *breaker, mend_breaker state) {
  breaker->state = state;
  breaker->age++;
}

mend__pass mend__breaker_enter(mend__breaker *breaker, uint64_t now_ns) {
  const bool probes = has_cooled_down(breaker, now_ns);
  if (probes) change(breaker, MEND_BREAKER_HALF_OPEN);
  return (mend__pass){breaker->age, probes};
}

bool mend__breaker_succeed(mend__breaker *breaker, mend__pass pass) {
  if (pass.age != breaker->age || breaker->state == MEND_BREAKER_CLOSED) return false;
  change(breaker, MEND_BREAKER_CLOSED);
  breaker->parked = false;
  breaker->cool_down_s = 0;
  return true;
}

static double at_most(double value, double limit) { return value < limit ? value : limit; }

/* Twice the last one when a probe has failed, the same when one was let through before its end. */
static double next_cool_down_s(const mend__breaker *breaker, const mend__cool_down *cool_down) {
  const double last_s = breaker->cool_down_s;
  const double next_s = breaker->state == MEND_BREAKER_HALF_OPEN ? 2 * last_s : last_s;
  return at_most(next_s > cool_down->first_s ? next_s : cool_down->first_s, cool_down->max_s);
}

static double open_for_s(mend__breaker *breaker, const mend__cool_down *cool_down) {
  if (cool_down->retry_after_s >= 0) {
    return at_most(cool_down->retry_after_s, MEND__COOL_DOWN_MAX_S) * (1 + cool_down->jitter / 10);
  }
  breaker->cool_down_s = next_cool_down_s(breaker, cool_down);
  return breaker->cool_down_s * (1 - cool_down->jitter / 10);
}

bool mend__breaker_fail(mend__breaker *breaker, mend__pass pass, const mend__cool_down *cool_down, uint64_t now_ns) {
  if (pass.age != breaker->age) return false;
  const double seconds = open_for_s(breaker, cool_down);
  breaker->until_ns = now_ns + (uint64_t)(seconds * (double)MEND_SECOND_NS);
  breaker->parked = cool_down->parks;
  change(breaker, MEND_BREAKER_OPEN);
  return true;
}

void mend__breaker_leave(mend__breaker *breaker, mend__pass pass) {
  if (pass.probes && pass.age == breaker->age) change(breaker, MEND_BREAKER_OPEN);
}
