#include "mend/clock.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include <stdlib.h>

static uint64_t next_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 33;
}

static mend_deadlines *new_deadlines(mend_waker waker) {
  mend_deadlines *deadlines;
  cr_assert_eq(mend_deadlines_new(NULL, waker, &deadlines), MEND_OK);
  return deadlines;
}

static const mend_waker nobody = {NULL, NULL};

static void check_valid(const mend_deadlines *deadlines) {
  mend_error error;
  cr_assert_eq(mend_deadlines_validate(deadlines, &error), MEND_OK, "%s", error.message);
}

/* ---- When it is due ---- */

static const struct {
  uint64_t start, timeout, due;
} dues[] = {
    {0, 0, 1},
    {100, 0, 101},
    {100, 60, 161},
    {1000 * MEND_SECOND_NS, 60 * MEND_SECOND_NS, 1060 * MEND_SECOND_NS + 1},
    {MEND_NEVER - 10, 8, MEND_NEVER - 1},
    {MEND_NEVER - 10, 9, MEND_NEVER},
    {MEND_NEVER - 10, 10, MEND_NEVER},
    {1, MEND_NEVER, MEND_NEVER},
    {MEND_NEVER, 0, MEND_NEVER},
    {MEND_NEVER, MEND_NEVER, MEND_NEVER},
};

Test(deadlines, strictly_later_and_saturating) {
  mend_deadlines *deadlines = new_deadlines(nobody);
  for (size_t i = 0; i < sizeof dues / sizeof dues[0]; i++) {
    mend_deadline deadline = {0};
    cr_assert(!mend_deadline_is_armed(&deadline));
    mend_deadlines_arm(deadlines, &deadline, dues[i].start, dues[i].timeout);
    cr_assert(mend_deadline_is_armed(&deadline));
    cr_assert_eq(mend_deadlines_count(deadlines), 1u);
    cr_assert_eq(mend_deadlines_next(deadlines), dues[i].due, "case %zu", i);
    cr_assert_null(mend_deadlines_expire(deadlines, dues[i].due - 1));
    mend_deadline *expired = mend_deadlines_expire(deadlines, dues[i].due);
    cr_assert_eq(expired, dues[i].due == MEND_NEVER ? NULL : &deadline, "case %zu", i);
    mend_deadlines_disarm(deadlines, &deadline);
    cr_assert(!mend_deadline_is_armed(&deadline));
    cr_assert_eq(deadline.due_ns, dues[i].due, "kept");
    mend_deadlines_disarm(deadlines, &deadline);
    cr_assert_eq(mend_deadlines_count(deadlines), 0u);
    cr_assert_eq(mend_deadlines_next(deadlines), MEND_NEVER);
  }
  mend_deadlines_free(deadlines);
}

/* ---- Against a model ---- */

enum { MODELLED = 300 };

typedef struct deadline_model {
  mend_deadline deadlines[MODELLED];
  bool armed[MODELLED];
  uint64_t due[MODELLED], order[MODELLED];
  uint64_t last_order;
  size_t count;
} deadline_model;

static size_t model_head(const deadline_model *model) {
  size_t head = MODELLED;
  for (size_t i = 0; i < MODELLED; i++) {
    if (!model->armed[i]) continue;
    const bool earlier = head == MODELLED || model->due[i] < model->due[head] ||
                         (model->due[i] == model->due[head] && model->order[i] < model->order[head]);
    if (earlier) head = i;
  }
  return head;
}

static void model_arm(deadline_model *model, mend_deadlines *deadlines, size_t i, uint64_t start, uint64_t timeout) {
  mend_deadlines_arm(deadlines, &model->deadlines[i], start, timeout);
  model->count += !model->armed[i];
  model->armed[i] = true;
  model->due[i] = start + timeout + 1;
  model->order[i] = ++model->last_order;
}

static void model_take(deadline_model *model, size_t i) {
  model->armed[i] = false;
  model->count--;
}

static void check_expiry(deadline_model *model, mend_deadlines *deadlines, uint64_t now) {
  for (;;) {
    const size_t head = model_head(model);
    const bool due = head != MODELLED && model->due[head] <= now;
    mend_deadline *expired = mend_deadlines_expire(deadlines, now);
    cr_assert_eq(expired, due ? &model->deadlines[head] : NULL);
    check_valid(deadlines);
    if (!due) return;
    model_take(model, head);
  }
}

/* `timeouts` different ones; one start in `odd` lies in the past. */
static void run_against_model(uint64_t seed, uint64_t timeouts, uint64_t odd) {
  static deadline_model state;
  memset(&state, 0, sizeof state);
  mend_deadlines *deadlines = new_deadlines(nobody);
  uint64_t now = 1000;
  for (size_t step = 0; step < 5000; step++) {
    const size_t i = next_random(&seed) % MODELLED;
    switch (next_random(&seed) % 8) {
    case 0:
      now += next_random(&seed) % 40;
      check_expiry(&state, deadlines, now);
      break;
    case 1:
    case 2:
      mend_deadlines_disarm(deadlines, &state.deadlines[i]);
      if (state.armed[i]) model_take(&state, i);
      break;
    default: {
      const uint64_t start = next_random(&seed) % odd == 0 ? now - next_random(&seed) % 500 : now;
      model_arm(&state, deadlines, i, start, 10 * (next_random(&seed) % timeouts));
    }
    }
    check_valid(deadlines);
    const size_t head = model_head(&state);
    cr_assert_eq(mend_deadlines_count(deadlines), state.count);
    cr_assert_eq(mend_deadline_is_armed(&state.deadlines[i]), state.armed[i]);
    cr_assert_eq(mend_deadlines_next(deadlines), head == MODELLED ? MEND_NEVER : state.due[head], "step %zu", step);
    check_valid(deadlines); /* now that the head was looked for */
  }
  check_expiry(&state, deadlines, MEND_NEVER - 1);
  mend_deadlines_free(deadlines);
}

Test(deadlines, same_as_a_model) {
  for (uint64_t seed = 1; seed <= 3; seed++) {
    run_against_model(seed, 1, 1000000);
    run_against_model(seed, 1, 3);
    run_against_model(seed, 15, 10);
    run_against_model(seed, 50, 10);
    run_against_model(seed, 500, 2);
  }
}

/* ---- Order and lifetime ---- */

Test(deadlines, equal_times_in_arming_order) {
  mend_deadlines *deadlines = new_deadlines(nobody);
  mend_deadline each[40] = {{0}};
  for (size_t i = 0; i < 40; i++)
    mend_deadlines_arm(deadlines, &each[i], 1000 - 10 * i, 10 * i); /* FIFOs, then the heap */
  mend_deadlines_arm(deadlines, &each[5], 1000, 0);                 /* moves it to the end */
  for (size_t i = 0; i < 40; i++) {
    if (i != 5) cr_assert_eq(mend_deadlines_expire(deadlines, 1001), &each[i], "place %zu", i);
  }
  cr_assert_eq(mend_deadlines_expire(deadlines, 1001), &each[5]);
  cr_assert_null(mend_deadlines_expire(deadlines, 1001));
  mend_deadlines_free(deadlines);
}

Test(deadlines, freeing_disarms) {
  mend_test_allocator allocator;
  mend_test_allocator_init(&allocator);
  mend_deadlines *deadlines;
  mend_test_allocator_arm(&allocator, 1, false);
  cr_assert_eq(mend_deadlines_new(&allocator.base, nobody, &deadlines), MEND_ENOMEM);
  cr_assert_eq(mend_deadlines_new(&allocator.base, nobody, &deadlines), MEND_OK);
  mend_deadline each[50] = {{0}};
  const size_t calls = allocator.calls;
  for (size_t i = 0; i < 50; i++)
    mend_deadlines_arm(deadlines, &each[i], 100, i);
  mend_deadlines_arm(deadlines, &each[7], 100, MEND_NEVER);
  cr_assert_eq(allocator.calls, calls, "arming never allocates");
  mend_deadlines_free(deadlines);
  for (size_t i = 0; i < 50; i++)
    cr_assert(!mend_deadline_is_armed(&each[i]));
  cr_assert_eq(allocator.blocks, 0u);
  mend_deadlines_free(NULL);
}

/* ---- Waking ---- */

static void count_wake(void *ctx) { ++*(size_t *)ctx; }

Test(deadlines, wakes_only_for_earlier_ones) {
  size_t wakes = 0;
  mend_deadlines *deadlines = new_deadlines((mend_waker){count_wake, &wakes});
  mend_deadline a = {0}, b = {0}, c = {0};
  mend_deadlines_arm(deadlines, &a, 0, 100);
  cr_assert_eq(wakes, 1u, "the first: the waiter knows of none");
  mend_deadlines_arm(deadlines, &b, 0, 200);
  cr_assert_eq(wakes, 1u, "later");
  cr_assert_eq(mend_deadlines_wait(deadlines), 101u);
  mend_deadlines_arm(deadlines, &b, 0, 100);
  cr_assert_eq(wakes, 1u, "the same time");
  mend_deadlines_disarm(deadlines, &a);
  mend_deadlines_disarm(deadlines, &b);
  cr_assert_eq(wakes, 1u, "disarming never wakes");
  mend_deadlines_arm(deadlines, &c, 0, 150);
  cr_assert_eq(wakes, 1u, "the waiter still waits until 101, then asks");
  cr_assert_null(mend_deadlines_expire(deadlines, 101));
  cr_assert_eq(mend_deadlines_wait(deadlines), 151u);
  mend_deadlines_arm(deadlines, &a, 0, 149);
  cr_assert_eq(wakes, 2u, "earlier than what the waiter was told");
  mend_deadlines_arm(deadlines, &b, 0, 149);
  cr_assert_eq(wakes, 2u, "it was woken for that time already");
  mend_deadlines_arm(deadlines, &b, 0, 50);
  cr_assert_eq(wakes, 3u, "but not for this one");
  cr_assert_eq(mend_deadlines_next(deadlines), 51u);
  mend_deadlines_arm(deadlines, &c, 0, 40);
  cr_assert_eq(wakes, 4u, "next() tells nobody");
  mend_deadlines_free(deadlines);
}

/* Calls of 1 us each with the same timeout of 60 s: the waiter wakes once a timeout, as mend/clock.h promises. */
Test(deadlines, a_run_of_ordinary_calls_wakes_hardly_ever) {
  size_t wakes = 0, timers = 0;
  mend_deadlines *deadlines = new_deadlines((mend_waker){count_wake, &wakes});
  mend_deadline call = {0};
  uint64_t now = MEND_SECOND_NS, wait_until = mend_deadlines_wait(deadlines);
  size_t wakes_seen = 0;
  for (size_t i = 0; i < 1000000; i++) {
    mend_deadlines_arm(deadlines, &call, now, 60 * MEND_SECOND_NS);
    now += 100000;
    const bool timer = now >= wait_until;
    if (timer || wakes != wakes_seen) {
      cr_assert_null(mend_deadlines_expire(deadlines, now));
      wait_until = mend_deadlines_wait(deadlines);
      wakes_seen = wakes;
      timers += timer;
    }
    mend_deadlines_disarm(deadlines, &call);
  }
  cr_assert_eq(wakes, 1u);
  cr_assert_eq(timers, 1u, "%zu timers in 100 s", timers);
  mend_deadlines_free(deadlines);
}
