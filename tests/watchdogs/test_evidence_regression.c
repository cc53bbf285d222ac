/* Regression in mode evidence, beyond what the recorded cases show: its two rules by hand, what a detection says,
 * series apart, bounds and memory. */
#include "watchdogs/cusum.h"
#include "watchdogs/half_window.h"
#include "world.h"

static mend_watchdog *regression_on(test_world *world, uint32_t n) {
  mend_regression_watchdog_options options = MEND_REGRESSION_WATCHDOG_OPTIONS_INIT;
  options.window_n = n;
  mend_watchdog *regression;
  cr_assert_eq(mend_evidence_regression_watchdog_new(&options, &world->memory.base, &regression, NULL), MEND_OK);
  cr_assert_eq(mend_watchdog_watch_bus(regression, world->bus), MEND_OK);
  return regression;
}

static mend_status read_of(mend_run *run, const char *source, const char *id, uint64_t call, double value) {
  mend_confidence_event event = MEND_CONFIDENCE_EVENT_INIT;
  event.event.call = call;
  event.source = mend_str_from(source);
  event.event_id = mend_str_from(id);
  event.confidence = value;
  return mend_run_publish(run, &event.event);
}

/* ---- The rules ---- */

Test(evidence_regression, the_error_of_a_drop) {
  static const struct {
    uint32_t n;
    double readings[8];
    double drop, error;
  } rows[] = {
      {4, {0.9, 0.9, 0.5, 0.5}, 0.4, 0},
      {4, {0.9, 0.7, 0.5, 0.3}, 0.4, 0.1414213562373095}, /* each half 0.02 of variance, two readings each */
      {8, {0.9, 0.7, 0.9, 0.7, 0.5, 0.3, 0.5, 0.3}, 0.4, 0.0816496580927726},
      {5, {0.9, 0.7, 0.0, 0.5, 0.3}, 0.4, 0.1414213562373095}, /* the middle is in neither half */
      {4, {0.5, 0.5, 0.9, 0.9}, -0.4, 0},
      {2, {0.9, 0.5}, 0.4, __builtin_inf()},
      {3, {0.9, 0.7, 0.5}, 0.4, __builtin_inf()},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    mend__half_window window = {.n = rows[i].n};
    for (uint32_t at = 0; at < rows[i].n; at++) {
      cr_assert(!mend__half_window_is_full(&window));
      cr_assert_eq(mend__half_window_add(&window, rows[i].readings[at], NULL), MEND_OK);
    }
    cr_assert_float_eq(mend__half_window_drop(&window), rows[i].drop, 1e-9, "row %zu", i);
    const double error = mend__half_window_error(&window);
    cr_assert(error >= rows[i].error - 1e-9 && error <= rows[i].error + 1e-9, "row %zu: %f", i, error);
    mend__half_window_free(&window, NULL);
  }
}

/* Readings of 0.8 and then of `low`: how many of these until the sum has come to the limit. */
Test(evidence_regression, the_sum) {
  static const struct {
    double noise; /* the base is 0.8 plus and minus it in turn */
    double low;
    int found_at; /* 0: not in 100 */
  } rows[] = {
      {0, 0.8, 0},   {0, 0.77, 0},  {0, 0.74, 6},  {0, 0.71, 3}, {0, 0.1, 3}, /* deviation 0.03, clipped at 3 */
      {0.1, 0.7, 0}, {0.1, 0.6, 7}, {0.1, 0.1, 3}, {0, 0.9, 0},  {0.1, 0.694, 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    mend__cusum cusum = {0};
    for (int base = 0; base < MEND__CUSUM_BASE; base++)
      cr_assert(!mend__cusum_add(&cusum, 0.8 + (base % 2 == 0 ? rows[i].noise : -rows[i].noise)));
    int found_at = 0;
    for (int at = 1; at <= 100 && found_at == 0; at++) {
      if (mend__cusum_add(&cusum, rows[i].low)) found_at = at;
    }
    cr_assert_eq(found_at, rows[i].found_at, "row %zu: %d", i, found_at);
    /* However long it went on, so many good readings make it good. */
    for (int at = 0; at < 100; at++)
      mend__cusum_add(&cusum, rows[i].low);
    for (int at = 0; at < 13; at++)
      mend__cusum_add(&cusum, 0.8);
    cr_assert(cusum.sum <= 0, "row %zu: %f", i, cusum.sum);
  }
}

/* ---- What it says ---- */

Test(evidence_regression, what_a_detection_says) {
  test_world world;
  world_open(&world);
  mend_watchdog *regression = regression_on(&world, 6);
  mend_run *run = world_run(&world, "r");
  static const double early[] = {0.9, 0.9, 0.9, 0.5, 0.5, 0.5};
  for (uint64_t i = 0; i < 6; i++)
    cr_assert_eq(read_of(run, "judge", NULL, i + 1, early[i]), MEND_OK);
  const mend_detection *found = latest(run);
  cr_assert(text_is(found->detector, "regression"));
  cr_assert(text_is(found->kind, "regression"));
  cr_assert(text_is(found->reason, "half_window"));
  cr_assert_str_eq(found->summary.ptr, "confidence of judge fell from 0.9 to 0.5");
  cr_assert(text_is(found->incident, "confidence/judge"));
  cr_assert(text_is(found->last_call, "6"));
  cr_assert_str_eq(found->evidence.ptr, "[0.9,0.9,0.9,0.5,0.5,0.5]");
  cr_assert_str_eq(found->payload.ptr, "{\"head_mean\":0.9,\"tail_mean\":0.5,\"standard_error\":0,\"source\":\"judge\","
                                       "\"scores\":[0.9,0.9,0.9,0.5,0.5,0.5]}");
  cr_assert_eq(found->count, 6u);
  cr_assert_float_eq(found->severity, 1, 1e-9);
  cr_assert_eq(found->rung, MEND_RUNG_WARN); /* as every regression begins */
  mend_detection_release(found);

  for (uint64_t i = 1; i <= 20; i++)
    cr_assert_eq(read_of(run, NULL, NULL, i, i <= 10 ? 0.8 : 0.7), MEND_OK);
  found = latest(run);
  cr_assert(text_is(found->reason, "cusum"));
  cr_assert_str_eq(found->summary.ptr, "confidence keeps below where it began: from 0.8 to 0.7");
  cr_assert(text_is(found->incident, "confidence"));
  cr_assert(text_is(found->first_call, "11"));
  cr_assert(text_is(found->last_call, "13"));
  cr_assert_not_null(strstr(found->payload.ptr, "\"base_mean\":0.8"));
  cr_assert_not_null(strstr(found->payload.ptr, "\"base_deviation\":0.03"));
  mend_detection_release(found);
  cr_assert_eq(detections_of(run), 2u);
  mend_run_release(run);
  mend_watchdog_release(regression);
  world_close(&world);
}

/* One decline is one incident, whichever rule sees it; when it has been made good, the next one is another. */
Test(evidence_regression, once_a_decline) {
  test_world world;
  world_open(&world);
  mend_watchdog *regression = regression_on(&world, 10);
  mend_run *run = world_run(&world, "r");
  uint64_t expected = 0;
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 30; i++)
      cr_assert_eq(confidence(run, 0.9), MEND_OK);
    cr_assert_eq(detections_of(run), expected, "round %d", round);
    for (int i = 0; i < 40; i++) /* the sum sees the third of them, the halves would see the fifth */
      cr_assert_eq(confidence(run, 0.66), MEND_OK);
    cr_assert_eq(detections_of(run), ++expected, "round %d", round);
  }
  const mend_detection *found = latest(run);
  cr_assert_eq(found->rung, MEND_RUNG_ABORT); /* the third time */
  mend_detection_release(found);
  mend_run_release(run);
  mend_watchdog_release(regression);
  world_close(&world);
}

/* ---- Readings that do not count ---- */

Test(evidence_regression, what_is_dropped) {
  test_world world;
  world_open(&world);
  mend_watchdog *regression = regression_on(&world, 6);
  mend_run *run = world_run(&world, "r");
  static const struct {
    const char *source, *id;
    uint64_t call;
    double value;
    bool is_second, is_none;
  } rows[] = {
      {"a", "e1", 1, 0.5, false, false},
      {"a", "e1", 2, 0.5, true, false},
      {"a", "e2", 1, 0.5, true, false},
      {"b", "e3", 1, 0.5, false, false},
      {NULL, NULL, 0, 0.5, false, false},
      {NULL, NULL, 0, 0.5, false, false},
      {"a", "e4", 4, __builtin_nan(""), false, true},
      {"a", "e4", 4, 1.5, false, true},
      {"a", "e4", 4, -0.1, false, true},
      {"a", "e4", 4, 1, false, false},
  };
  uint64_t seconds = 0, none = 0;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    cr_assert_eq(read_of(run, rows[i].source, rows[i].id, rows[i].call, rows[i].value), MEND_OK);
    seconds += rows[i].is_second;
    none += rows[i].is_none;
    mend_watchdog_stats stats = {.size = sizeof stats};
    cr_assert_eq(mend_watchdog_get_stats(regression, &stats), MEND_OK);
    cr_assert_eq(stats.duplicates, seconds, "row %zu", i);
    cr_assert_eq(stats.ignored, none, "row %zu", i);
  }
  mend_run_release(run);
  mend_watchdog_release(regression);
  world_close(&world);
}

/* Sixty-four sources are followed, one more is not. */
Test(evidence_regression, the_bound_of_sources) {
  test_world world;
  world_open(&world);
  mend_watchdog *regression = regression_on(&world, 4);
  mend_run *run = world_run(&world, "r");
  for (int i = 0; i < 8; i++) {
    for (int source = 0; source < 65; source++) {
      char name[16];
      snprintf(name, sizeof name, "s%d", source);
      cr_assert_eq(read_of(run, name, NULL, 0, i < 2 ? 0.9 : 0.3), MEND_OK);
    }
  }
  cr_assert_eq(detections_of(run), 64u);
  mend_watchdog_stats stats = {.size = sizeof stats};
  cr_assert_eq(mend_watchdog_get_stats(regression, &stats), MEND_OK);
  cr_assert_eq(stats.unwatched, 8u);
  mend_run_release(run);
  mend_watchdog_release(regression);
  world_close(&world);
}

/* ---- Torture ---- */

static void live(test_world *world) {
  mend_watchdog *regression = NULL;
  mend_run *run = NULL;
  if (mend_evidence_regression_watchdog_new(NULL, &world->memory.base, &regression, NULL) != MEND_OK) return;
  mend_watchdog_watch_bus(regression, world->bus);
  mend_run_new(world->bus, NULL, &run, NULL);
  for (uint64_t i = 1; run != NULL && i <= 40; i++) {
    mend_confidence_event event = MEND_CONFIDENCE_EVENT_INIT;
    event.event.call_name = MEND_STR("a foreign id that is too long to be kept inside of a series");
    event.event.call = i;
    event.source = i % 2 == 0 ? MEND_STR("a source whose name is too long to be kept inside of one") : MEND_STR("s");
    event.confidence = i <= 24 ? 0.9 : 0.2;
    mend_run_publish(run, &event.event);
  }
  if (run != NULL) reset(run);
  mend_run_release(run);
  mend_watchdog_release(regression);
}

Test(evidence_regression, each_allocation_fails) { world_torture(live, 30); }
