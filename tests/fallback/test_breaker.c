/* The breaker, step by step: a table of what happens and how it stands then. Times are seconds. */
#include "fallback/breaker.h"
#include "support/mend_test.h"

#include <stdio.h>

enum { REQUESTS = 4 };

typedef enum step_kind { END = 0, ASK, ENTER, SUCCEED, FAIL, LEAVE } step_kind;

typedef struct step {
  step_kind kind;
  double at_s;
  int request;               /* 0 to 3: who enters, succeeds, fails or leaves */
  bool result;               /* of ASK: lets; ENTER: probes; SUCCEED, FAIL: the state has changed by it */
  mend_breaker state;        /* afterwards */
  double until_s;            /* afterwards, where it is open */
  mend__cool_down cool_down; /* of FAIL */
} step;

#define COOL(first, max)                                                                                               \
  { first, max, MEND_NAN, false, 0 }
#define AFTER(seconds)                                                                                                 \
  { 5, 60, seconds, false, 0 }
#define PARK                                                                                                           \
  { 600, 3600, MEND_NAN, true, 0 }
#define JITTER(first, amount)                                                                                          \
  { first, 60, MEND_NAN, false, amount }
#define NONE COOL(0, 0)
#define CLOSED MEND_BREAKER_CLOSED
#define OPEN MEND_BREAKER_OPEN
#define HALF MEND_BREAKER_HALF_OPEN

typedef struct story {
  const char *name;
  step steps[24];
} story;

static const story stories[] = {
    {"a failure opens it, one probe after the cool-down, a success closes it",
     {{ASK, 0, 0, true, CLOSED, 0, NONE},
      {ENTER, 0, 0, false, CLOSED, 0, NONE},
      {FAIL, 1, 0, true, OPEN, 6, COOL(5, 60)},
      {ASK, 5.9, 0, false, OPEN, 6, NONE},
      {ASK, 6, 0, true, OPEN, 6, NONE},
      {ENTER, 6, 1, true, HALF, 0, NONE},
      {ASK, 6, 0, false, HALF, 0, NONE},
      {ASK, 100, 0, false, HALF, 0, NONE},
      {SUCCEED, 100, 1, true, CLOSED, 0, NONE},
      {ASK, 100, 0, true, CLOSED, 0, NONE}}},
    {"it doubles with each probe that fails, up to the longest, and starts anew after a success",
     {{ENTER, 0, 0, false, CLOSED, 0, NONE},
      {FAIL, 0, 0, true, OPEN, 5, COOL(5, 30)},
      {ENTER, 5, 0, true, HALF, 0, NONE},
      {FAIL, 5, 0, true, OPEN, 15, COOL(5, 30)},
      {ENTER, 15, 0, true, HALF, 0, NONE},
      {FAIL, 15, 0, true, OPEN, 35, COOL(5, 30)},
      {ENTER, 35, 0, true, HALF, 0, NONE},
      {FAIL, 36, 0, true, OPEN, 66, COOL(5, 30)},
      {ENTER, 66, 0, true, HALF, 0, NONE},
      {FAIL, 66, 0, true, OPEN, 96, COOL(5, 30)},
      {ENTER, 96, 0, true, HALF, 0, NONE},
      {SUCCEED, 96, 0, true, CLOSED, 0, NONE},
      {ENTER, 96, 0, false, CLOSED, 0, NONE},
      {FAIL, 97, 0, true, OPEN, 102, COOL(5, 30)}}},
    {"of several that fail together the first opens it",
     {{ENTER, 0, 0, false, CLOSED, 0, NONE},
      {ENTER, 0, 1, false, CLOSED, 0, NONE},
      {ENTER, 0, 2, false, CLOSED, 0, NONE},
      {FAIL, 1, 0, true, OPEN, 6, COOL(5, 60)},
      {FAIL, 2, 1, false, OPEN, 6, COOL(5, 60)},
      {SUCCEED, 3, 2, false, OPEN, 6, NONE}}},
    {"a late failure of before says nothing about now",
     {{ENTER, 0, 0, false, CLOSED, 0, NONE},
      {ENTER, 0, 1, false, CLOSED, 0, NONE},
      {FAIL, 1, 0, true, OPEN, 6, COOL(5, 60)},
      {ENTER, 6, 2, true, HALF, 0, NONE},
      {FAIL, 7, 1, false, HALF, 0, COOL(5, 60)},
      {SUCCEED, 8, 2, true, CLOSED, 0, NONE},
      {FAIL, 9, 1, false, CLOSED, 0, COOL(5, 60)}}},
    {"a probe that leaves without a verdict makes room for the next",
     {{ENTER, 0, 0, false, CLOSED, 0, NONE},
      {FAIL, 0, 0, true, OPEN, 5, COOL(5, 60)},
      {ENTER, 5, 1, true, HALF, 0, NONE},
      {LEAVE, 6, 1, false, OPEN, 5, NONE},
      {ASK, 6, 0, true, OPEN, 5, NONE},
      {ENTER, 6, 2, true, HALF, 0, NONE},
      {LEAVE, 6, 1, false, HALF, 0, NONE},
      {FAIL, 6, 2, true, OPEN, 16, COOL(5, 60)}}},
    {"one that is let through while it is open: no doubling, and a success counts",
     {{ENTER, 0, 0, false, CLOSED, 0, NONE},
      {FAIL, 0, 0, true, OPEN, 5, COOL(5, 60)},
      {ENTER, 2, 1, false, OPEN, 5, NONE},
      {FAIL, 3, 1, true, OPEN, 8, COOL(5, 60)},
      {ENTER, 4, 2, false, OPEN, 8, NONE},
      {LEAVE, 4, 2, false, OPEN, 8, NONE},
      {ENTER, 4, 3, false, OPEN, 8, NONE},
      {SUCCEED, 5, 3, true, CLOSED, 0, NONE}}},
    {"a Retry-After counts as it is and does not double; at most a week",
     {{ENTER, 0, 0, false, CLOSED, 0, NONE},
      {FAIL, 0, 0, true, OPEN, 17, AFTER(17)},
      {ENTER, 17, 0, true, HALF, 0, NONE},
      {FAIL, 20, 0, true, OPEN, 20, AFTER(0)},
      {ENTER, 20, 0, true, HALF, 0, NONE},
      {FAIL, 20, 0, true, OPEN, 25, COOL(5, 60)},
      {ENTER, 25, 0, true, HALF, 0, NONE},
      {FAIL, 25, 0, true, OPEN, 604825, AFTER(1e9)}}},
    {"parked: probed slowly, until a probe succeeds or fails otherwise",
     {{ENTER, 0, 0, false, CLOSED, 0, NONE},
      {FAIL, 0, 0, true, OPEN, 600, PARK},
      {ENTER, 600, 0, true, HALF, 0, NONE},
      {FAIL, 600, 0, true, OPEN, 1800, PARK},
      {ENTER, 1800, 0, true, HALF, 0, NONE},
      {FAIL, 1800, 0, true, OPEN, 4200, PARK},
      {ENTER, 4200, 0, true, HALF, 0, NONE},
      {FAIL, 4200, 0, true, OPEN, 7800, PARK},
      {ENTER, 7800, 0, true, HALF, 0, NONE},
      {SUCCEED, 7800, 0, true, CLOSED, 0, NONE}}},
    {"jitter: shorter by up to a tenth",
     {{ENTER, 0, 0, false, CLOSED, 0, NONE},
      {FAIL, 0, 0, true, OPEN, 9, JITTER(10, 1)},
      {ENTER, 9, 0, true, HALF, 0, NONE},
      {FAIL, 9, 0, true, OPEN, 28, JITTER(10, 0.5)}}},
};

static uint64_t ns(double seconds) { return (uint64_t)(seconds * 1e9 + 0.5); }

static bool take(mend__breaker *breaker, mend__pass passes[REQUESTS], const step *s) {
  mend__pass *pass = &passes[s->request];
  switch (s->kind) {
  case ASK: return mend__breaker_lets(breaker, ns(s->at_s));
  case ENTER: *pass = mend__breaker_enter(breaker, ns(s->at_s)); return pass->probes;
  case SUCCEED: return mend__breaker_succeed(breaker, *pass);
  case FAIL: return mend__breaker_fail(breaker, *pass, &s->cool_down, ns(s->at_s));
  case LEAVE: mend__breaker_leave(breaker, *pass); return false;
  case END: break;
  }
  return false;
}

static void tell(const story *told) {
  mend__breaker breaker = {0};
  mend__pass passes[REQUESTS] = {0};
  for (const step *s = told->steps; s->kind != END; s++) {
    const bool result = take(&breaker, passes, s);
    const int number = (int)(s - told->steps) + 1;
    cr_assert_eq(result, s->result, "%s: step %d gives %d", told->name, number, result);
    cr_assert_eq(breaker.state, s->state, "%s: step %d leaves it %d", told->name, number, (int)breaker.state);
    const double until_s = (double)breaker.until_ns / 1e9;
    if (breaker.state == MEND_BREAKER_OPEN)
      cr_assert_float_eq(until_s, s->until_s, 1e-6, "%s: step %d: %f", told->name, number, until_s);
    const bool parked = s->kind == FAIL && s->result ? s->cool_down.parks : breaker.parked;
    cr_assert_eq(breaker.parked, parked, "%s: step %d", told->name, number);
  }
}

Test(breaker, stories) {
  for (size_t i = 0; i < sizeof stories / sizeof *stories; i++)
    tell(&stories[i]);
}
