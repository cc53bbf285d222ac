/* Regression in seed mode, rule by rule (docs/watchdogs.md). */
#include "world.h"

static mend_watchdog *regression_on(test_world *world, uint32_t n, double drop) {
  mend_regression_watchdog_options options = MEND_REGRESSION_WATCHDOG_OPTIONS_INIT;
  options.window_n = n;
  options.drop = drop;
  mend_watchdog *regression;
  cr_assert_eq(mend_regression_watchdog_new(&options, &world->memory.base, &regression, NULL), MEND_OK);
  cr_assert_eq(mend_watchdog_watch_bus(regression, world->bus), MEND_OK);
  return regression;
}

enum { READINGS_MAX = 14 };

typedef struct firing_row {
  uint32_t n;
  double drop;
  size_t count;
  double readings[READINGS_MAX];
  const char *fires; /* a letter a reading: F fires, anything else does not */
} firing_row;

static void check_row(const firing_row *row, size_t index) {
  test_world world;
  world_open(&world);
  mend_watchdog *regression = regression_on(&world, row->n, row->drop);
  mend_run *run = world_run(&world, "r");
  uint64_t expected = 0;
  for (size_t i = 0; i < row->count; i++) {
    cr_assert_eq(confidence(run, row->readings[i]), MEND_OK);
    expected += row->fires[i] == 'F';
    cr_assert_eq(detections_of(run), expected, "row %zu: reading %zu", index, i + 1);
  }
  mend_run_release(run);
  mend_watchdog_release(regression);
  world_close(&world);
}

Test(regression, when_it_fires) {
  static const firing_row rows[] = {
      {5, 0.2, 4, {.9, .9, .1, .1}, "...."},                             /* not full */
      {5, 0.2, 5, {.9, .9, .5, .1, .1}, "....F"},                        /* full */
      {5, 0.2, 5, {.7, .7, .5, .5, .5}, "....F"},                        /* 0.7 - 0.5 < 0.2 as doubles */
      {5, 0.2, 5, {.7, .7, .5, .5, .51}, "....."},                       /* 0.195 */
      {5, 0.2, 5, {.6, .6, 0, .5, .5}, "....."},                         /* the middle is in neither half */
      {5, 0.2, 5, {.6, .6, 1, .3, .3}, "....F"},                         /* whatever it is */
      {4, 0.2, 4, {.5, .5, .9, .9}, "...."},                             /* rising */
      {2, 0.2, 4, {.9, .7, .7, .4}, ".F.F"},                             /* the smallest window; silence ends below */
      {2, 0.2, 4, {.9, .7, .5, .3}, ".F.."},                             /* silent while the drop lasts */
      {4, 0.2, 8, {.9, .9, .5, .5, .3, .2, .1, .1}, "...F...."},         /* one fall, one detection */
      {4, 0.2, 9, {.9, .9, .5, .5, .5, .5, .5, .2, .2}, "...F....F"},    /* and one more after it was below drop */
      {3, 0.5, 3, {1, .5, .5}, "..F"},                                   /* halves of one reading */
      {4, 1, 4, {1, 1, 0, 0}, "...F"},                                   /* the largest drop */
      {4, 0, 6, {.5, .5, .5, .5, .5, .6}, "...F.."},                     /* drop 0: no gain is a drop */
      {3, 0.2, 6, {.9, __builtin_nan(""), .9, -0.1, 1.1, .1}, ".....F"}, /* what is no reading does not count */
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    check_row(&rows[i], i);
}

Test(regression, what_a_detection_says) {
  test_world world;
  world_open(&world);
  mend_watchdog *regression = regression_on(&world, 5, 0.2);
  mend_run *run = world_run(&world, "r");
  static const double readings[] = {.9, .8, .7, .4, .3};
  for (uint64_t i = 0; i < 5; i++) {
    mend_confidence_event event = MEND_CONFIDENCE_EVENT_INIT;
    event.event.call = i + 1;
    event.confidence = readings[i];
    event.tool_name = MEND_STR("answer");
    cr_assert_eq(mend_run_publish(run, &event.event), MEND_OK);
  }
  const mend_detection *found = latest(run);
  cr_assert(text_is(found->detector, "regression"));
  cr_assert(text_is(found->reason, "half_window"));
  cr_assert_eq(found->cause_seq, 5u);
  cr_assert_float_eq(found->severity, 1, 0); /* 0.5 / 0.2 */
  cr_assert_str_eq(found->summary.ptr, "confidence fell from 0.85 to 0.35");
  cr_assert(text_is(found->tool_name, "answer"));
  cr_assert(text_is(found->last_call, "5"));
  cr_assert(text_is(found->first_call, NULL));
  cr_assert_eq(found->count, 5u);
  cr_assert_str_eq(found->payload.ptr, "{\"head_mean\":0.85,\"tail_mean\":0.35,\"scores\":[0.9,0.8,0.7,0.4,0.3]}");
  mend_detection_release(found);
  mend_run_release(run);
  mend_watchdog_release(regression);
  world_close(&world);
}

/* severity = min(1, difference / max(0.001, drop)) */
Test(regression, severity) {
  static const struct {
    double drop, high, low, severity;
  } rows[] = {
      {0.4, 0.9, 0.5, 1}, {0.2, 0.7, 0.5, 1}, {0, 0.5, 0.4995, 0.5}, {0, 0.5, 0.5, 0}, {0.0005, 0.5, 0.49945, 0.55}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    test_world world;
    world_open(&world);
    mend_watchdog *regression = regression_on(&world, 2, rows[i].drop);
    mend_run *run = world_run(&world, "r");
    cr_assert_eq(confidence(run, rows[i].high), MEND_OK);
    cr_assert_eq(confidence(run, rows[i].low), MEND_OK);
    const mend_detection *found = latest(run);
    cr_assert_float_eq(found->severity, rows[i].severity, 1e-9);
    mend_detection_release(found);
    mend_run_release(run);
    mend_watchdog_release(regression);
    world_close(&world);
  }
}

static void publish_reading(mend_run *run, uint64_t call, uint64_t attempt, const char *source, double value) {
  mend_confidence_event event = MEND_CONFIDENCE_EVENT_INIT;
  event.event.call = call;
  event.attempt = attempt;
  event.source = mend_str_from(source);
  event.confidence = value;
  cr_assert_eq(mend_run_publish(run, &event.event), MEND_OK);
}

Test(regression, a_reading_told_twice) {
  static const struct {
    uint64_t call, attempt;
    const char *source;
    bool is_new; /* without a call nothing tells readings apart */
  } rows[] = {
      {1, MEND_NONE, NULL, true}, {1, MEND_NONE, NULL, false}, {1, 1, NULL, false}, /* absent is the first attempt */
      {1, 1, "", false},          {1, 2, NULL, true},          {1, 2, "hook", true}, {1, 2, "hook", false},
      {2, 2, "hook", true},       {0, 2, "hook", true},        {0, 2, "hook", true},
  };
  test_world world;
  world_open(&world);
  mend_watchdog *regression = regression_on(&world, 5, 0.2);
  mend_run *run = world_run(&world, "r");
  uint64_t duplicates = 0;
  mend_watchdog_stats stats = {.size = sizeof stats};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    publish_reading(run, rows[i].call, rows[i].attempt, rows[i].source, 0.5);
    duplicates += !rows[i].is_new;
    cr_assert_eq(mend_watchdog_get_stats(regression, &stats), MEND_OK);
    cr_assert_eq(stats.duplicates, duplicates, "row %zu", i);
  }
  /* The last 256 are remembered. */
  for (uint64_t call = 100; call < 356; call++)
    publish_reading(run, call, 1, NULL, 0.5);
  publish_reading(run, 100, 1, NULL, 0.5);
  publish_reading(run, 1, 1, NULL, 0.5);
  publish_reading(run, 100, 1, NULL, 0.5);
  cr_assert_eq(mend_watchdog_get_stats(regression, &stats), MEND_OK);
  cr_assert_eq(stats.duplicates, duplicates + 1);
  confidence(run, 2);
  confidence(run, __builtin_nan(""));
  confidence(run, __builtin_inf());
  cr_assert_eq(mend_watchdog_get_stats(regression, &stats), MEND_OK);
  cr_assert_eq(stats.ignored, 3u);
  mend_run_release(run);
  mend_watchdog_release(regression);
  world_close(&world);
}

/* A million readings of a window of 1,001 against sums made anew: the sums must not drift. The drop is put where the
 * tolerance decides, so an error of 1e-9 would show. */
Test(regression, a_million_readings_do_not_drift) {
  enum { N = 1001, HALF = N / 2, COUNT = 1000000 };
  test_world world;
  world_open(&world);
  mend_watchdog *regression = regression_on(&world, N, 0.01);
  mend_run *run = world_run(&world, "r");
  static double window[N];
  uint64_t random = 3, expected = 0;
  bool silent = false;
  for (size_t i = 0; i < COUNT; i++) {
    random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    const double reading = 0.3 + (double)(random >> 40) / 0x1p24 * 0.4;
    window[i % N] = reading;
    cr_assert_eq(confidence(run, reading), MEND_OK);
    if (i % 997 != 0 && i + 2000 < COUNT) continue; /* compared now and then, and at the end one by one */
    if (i + 1 < N) continue;
    double head = 0, tail = 0;
    for (size_t j = 0; j < HALF; j++) {
      head += window[(i + 1 + j) % N];
      tail += window[(i + 1 + N - HALF + j) % N];
    }
    const bool drops = (head - tail) / HALF >= 0.01 - 1e-9;
    if (i + 2000 == COUNT) {
      silent = drops;
      expected = detections_of(run);
    } else if (i + 2000 > COUNT) {
      expected += drops && !silent;
      silent = drops;
      cr_assert_eq(detections_of(run), expected, "reading %zu", i + 1);
    }
  }
  cr_assert(expected > 10);
  /* Settle on a constant, then on one that is lower by the drop to the last digit of the tolerance. */
  cr_assert_eq(reset(run), MEND_OK);
  expected = detections_of(run);
  for (size_t i = 0; i < COUNT / 5; i++)
    cr_assert_eq(confidence(run, i % 3 == 0 ? 0.1 : 0.7), MEND_OK);
  for (size_t i = 0; i < N; i++)
    cr_assert_eq(confidence(run, 0.7), MEND_OK);
  expected = detections_of(run);
  for (size_t i = 0; i < HALF; i++)
    cr_assert_eq(confidence(run, 0.69 + 3e-9), MEND_OK);
  cr_assert_eq(detections_of(run), expected);
  for (size_t i = 0; i < N; i++)
    cr_assert_eq(confidence(run, 0.7), MEND_OK);
  for (size_t i = 0; i < HALF; i++)
    cr_assert_eq(confidence(run, 0.69), MEND_OK);
  cr_assert_eq(detections_of(run), expected + 1);
  mend_run_release(run);
  mend_watchdog_release(regression);
  world_close(&world);
}

Test(regression, a_large_window_shows_its_newest_scores) {
  test_world world;
  world_open(&world);
  mend_watchdog *regression = regression_on(&world, 1000, 0.2);
  mend_run *run = world_run(&world, "r");
  for (int i = 0; i < 1000; i++)
    cr_assert_eq(confidence(run, i < 500 ? 0.75 : 0.25), MEND_OK);
  const mend_detection *found = latest(run);
  size_t commas = 0;
  const char *scores = strstr(found->payload.ptr, "\"scores\":[");
  cr_assert_not_null(scores);
  for (; *scores != '\0'; scores++)
    commas += *scores == ',';
  cr_assert_eq(commas, 255u);
  cr_assert_not_null(strstr(found->payload.ptr, "{\"head_mean\":0.75,\"tail_mean\":0.25,"));
  mend_detection_release(found);
  mend_run_release(run);
  mend_watchdog_release(regression);
  world_close(&world);
}

Test(regression, options) {
  static const struct {
    uint32_t n;
    double drop;
    const char *names;
  } rows[] = {
      {5, 0.2, NULL},
      {2, 0, NULL},
      {65536, 1, NULL},
      {1, 0.2, "regression.window_n"},
      {65537, 0.2, "regression.window_n"},
      {5, -0.1, "regression.drop"},
      {5, 1.1, "regression.drop"},
      {5, __builtin_nan(""), "regression.drop"},
  };
  const mend_regression_watchdog_options defaults = MEND_REGRESSION_WATCHDOG_OPTIONS_INIT;
  cr_assert_eq(defaults.window_n, 5u);
  cr_assert_float_eq(defaults.drop, 0.2, 0);
  cr_assert(!defaults.enable);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    mend_regression_watchdog_options options = MEND_REGRESSION_WATCHDOG_OPTIONS_INIT;
    options.window_n = rows[i].n;
    options.drop = rows[i].drop;
    mend_watchdog *regression = NULL;
    mend_error error = {0};
    const mend_status status = mend_regression_watchdog_new(&options, NULL, &regression, &error);
    cr_assert_eq(status, rows[i].names == NULL ? MEND_OK : MEND_EINVAL, "row %zu", i);
    if (status != MEND_OK) cr_assert_not_null(strstr(error.message, rows[i].names), "%s", error.message);
    mend_watchdog_release(regression);
  }
}
