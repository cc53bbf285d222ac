/* The ladder: what is answered when the same trouble comes back. */
#include "watchdogs/ladder.h"
#include "world.h"

/* Says what an event's text tells it to: "incident confidence kind". */
static mend_status repeat_text(void *ctx, const mend_event *event, mend_emitter *emitter) {
  (void)ctx;
  const mend_str text = ((const mend_user_message_event *)event)->text;
  char said[256], incident[64], kind[32];
  mend_detection detection = MEND_DETECTION_INIT;
  snprintf(said, sizeof said, "%.*s", MEND_STR_ARG(text));
  cr_assert_eq(sscanf(said, "%63s %lf %31s", incident, &detection.confidence, kind), 3);
  detection.reason = MEND_STR("told");
  detection.kind = mend_str_from(kind);
  if (strcmp(incident, "-") != 0) detection.incident = mend_str_from(incident);
  return mend_emit(emitter, &detection);
}

static void say(mend_run *run, const char *text) {
  mend_user_message_event event = MEND_USER_MESSAGE_EVENT_INIT;
  event.text = mend_str_from(text);
  cr_assert_eq(mend_run_publish(run, &event.event), MEND_OK);
}

static mend_run *world_watched_run(test_world *world, mend_watchdog **ret_watchdog) {
  mend_watchdog_vtable vtable = MEND_WATCHDOG_VTABLE_INIT;
  vtable.name = "told";
  vtable.topics = "user.message";
  vtable.event = repeat_text;
  cr_assert_eq(mend_watchdog_new(&vtable, NULL, &world->memory.base, ret_watchdog, NULL), MEND_OK);
  mend_run *run = world_run(world, "r");
  cr_assert_eq(mend_watchdog_watch_run(*ret_watchdog, run), MEND_OK);
  return run;
}

static const struct {
  const char *said[5]; /* "reset" resets the run */
  const char *rungs;   /* of what was said, in order */
  uint64_t occurrence; /* of the last */
} climbs[] = {
    {{"a 1 loop"}, "act", 1},
    {{"a 1 loop", "a 1 loop", "a 1 loop"}, "act abort abort", 3},
    {{"a 0.5 loop"}, "act", 1},
    {{"a 0.49 loop", "a 0.49 loop", "a 0.49 loop", "a 0.49 loop"}, "warn act abort abort", 4},
    {{"a 1 regression", "a 1 regression", "a 1 regression"}, "warn act abort", 3},
    {{"a 1 loop", "b 1 loop", "a 1 loop"}, "act act abort", 2},
    {{"a 1 loop", "reset", "a 1 loop"}, "act act", 1},
    {{"- 1 loop", "- 1 loop"}, "none none", 0},
};

static void play(const char *const *said, size_t count, char *rungs, size_t size, uint64_t *ret_occurrence) {
  test_world world;
  world_open(&world);
  mend_watchdog *watchdog;
  mend_run *run = world_watched_run(&world, &watchdog);
  size_t len = 0;
  for (size_t i = 0; i < count && said[i] != NULL; i++) {
    if (strcmp(said[i], "reset") == 0) {
      reset(run);
      continue;
    }
    say(run, said[i]);
    const mend_detection *detection = latest(run);
    len += (size_t)snprintf(rungs + len, size - len, "%s%s", len > 0 ? " " : "", mend_rung_name(detection->rung));
    *ret_occurrence = detection->occurrence;
    mend_detection_release(detection);
  }
  mend_run_release(run);
  mend_watchdog_release(watchdog);
  world_close(&world);
}

Test(ladder, each_return_goes_one_rung_up) {
  for (size_t i = 0; i < sizeof climbs / sizeof climbs[0]; i++) {
    char rungs[128] = "";
    uint64_t occurrence = 99;
    play(climbs[i].said, 5, rungs, sizeof rungs, &occurrence);
    cr_assert_str_eq(rungs, climbs[i].rungs, "case %zu", i);
    cr_assert_eq(occurrence, climbs[i].occurrence, "case %zu", i);
  }
}

/* Different incidents all the time: neither warnings count nor does a reset take anything back. */
Test(ladder, a_ceiling) {
  mend__ladder ladder = {.steps = {NULL, 0, 0}};
  mend_test_allocator memory;
  mend_test_allocator_init(&memory);
  for (unsigned i = 0; i < 40; i++) {
    char incident[16];
    snprintf(incident, sizeof incident, "%u", i);
    mend_detection detection = MEND_DETECTION_INIT;
    detection.incident = mend_str_from(incident);
    detection.confidence = i % 2 == 0 ? 0.9 : 0.1;
    cr_assert_eq(mend__ladder_climb(&ladder, 12, &detection, &memory.base), MEND_OK);
    const mend_rung expected = i % 2 != 0 ? MEND_RUNG_WARN : i < 24 ? MEND_RUNG_ACT : MEND_RUNG_ABORT;
    cr_assert_eq(detection.rung, expected, "incident %u", i);
    if (i == 26) mend__ladder_reset(&ladder, &memory.base);
  }
  mend__ladder_reset(&ladder, &memory.base);
  cr_assert_eq(atomic_load(&memory.blocks), 0u);
}

Test(ladder, bounds_and_memory) {
  mend__ladder ladder = {.steps = {NULL, 0, 0}};
  mend_test_allocator memory;
  mend_test_allocator_init(&memory);
  mend_detection detection = MEND_DETECTION_INIT;
  detection.incident = MEND_STR("a");
  mend_test_allocator_arm(&memory, 1, true);
  cr_assert_eq(mend__ladder_climb(&ladder, 1, &detection, &memory.base), MEND_ENOMEM);
  cr_assert_eq(detection.rung, MEND_RUNG_NONE);
  mend_test_allocator_arm(&memory, 0, false);
  cr_assert_eq(mend__ladder_climb(&ladder, 0, &detection, &memory.base), MEND_OK);
  cr_assert_eq(detection.rung, MEND_RUNG_NONE, "without a ceiling there is no ladder");
  detection.confidence = 0;
  for (unsigned i = 0; i <= MEND__LADDER_INCIDENTS; i++) {
    char incident[16];
    snprintf(incident, sizeof incident, "%u", i);
    detection.incident = mend_str_from(incident);
    for (uint64_t times = 1; times <= 2; times++) {
      cr_assert_eq(mend__ladder_climb(&ladder, 65535, &detection, &memory.base), MEND_OK);
      cr_assert_eq(detection.occurrence, i < MEND__LADDER_INCIDENTS ? times : 1);
    }
  }
  mend__ladder_reset(&ladder, &memory.base);
  cr_assert_eq(atomic_load(&memory.blocks), 0u);
}

/* Nine incidents, so that log and ladder grow more than once, each of which finds no memory at first: what was not told
 * is no return of it. */
Test(ladder, what_could_not_be_told_does_not_count) {
  test_world world;
  world_open(&world);
  mend_watchdog *watchdog;
  mend_run *run = world_watched_run(&world, &watchdog);
  for (unsigned i = 0; i < 9; i++) {
    char text[32];
    snprintf(text, sizeof text, "%u 1 loop", i);
    bool failed = true;
    for (size_t fail_at = 1; failed; fail_at++) {
      mend_test_allocator_arm(&world.memory, fail_at, false);
      say(run, text);
      failed = detections_of(run) == i;
      mend_test_allocator_arm(&world.memory, 0, false);
    }
    const mend_detection *detection = latest(run);
    cr_assert_eq(detection->occurrence, 1u, "incident %u", i);
    cr_assert_eq(detection->rung, MEND_RUNG_ACT, "incident %u", i);
    mend_detection_release(detection);
  }
  mend_run_release(run);
  mend_watchdog_release(watchdog);
  world_close(&world);
}

/* ---- What is done about it ---- */

static mend_status ask_back(void *ctx, const mend_detection *detection, mend_action *ret_action) {
  (void)detection;
  ++*(unsigned *)ctx;
  *ret_action = mend_action_escalate("go on?");
  return MEND_OK;
}

static mend_status fail(void *ctx, const mend_detection *detection, mend_action *ret_action) {
  (void)ctx, (void)detection;
  *ret_action = mend_action_abort("half done");
  return MEND_EIO;
}

static mend_status answer_nonsense(void *ctx, const mend_detection *detection, mend_action *ret_action) {
  (void)ctx, (void)detection;
  ret_action->kind = (mend_action_kind)7;
  return MEND_OK;
}

static const struct {
  mend_rung rung;
  mend_policy policy;
  mend_status status;
  mend_action_kind action;
  unsigned asked;
  const char *text;
} decisions[] = {
    {MEND_RUNG_NONE, ask_back, MEND_OK, MEND_ACTION_ESCALATE, 1, "go on?"},
    {MEND_RUNG_WARN, ask_back, MEND_OK, MEND_ACTION_NONE, 0, ""},
    {MEND_RUNG_ACT, ask_back, MEND_OK, MEND_ACTION_ESCALATE, 1, "go on?"},
    {MEND_RUNG_ABORT, ask_back, MEND_OK, MEND_ACTION_ABORT, 0, "loop: it turns; it was not the first time"},
    {MEND_RUNG_ACT, fail, MEND_EIO, MEND_ACTION_NONE, 0, ""},
    {MEND_RUNG_ACT, answer_nonsense, MEND_EINVAL, MEND_ACTION_NONE, 0, ""},
};

Test(ladder, what_is_done_on_each_rung) {
  for (size_t i = 0; i < sizeof decisions / sizeof decisions[0]; i++) {
    mend_detection detection = MEND_DETECTION_INIT;
    detection.detector = MEND_STR("loop");
    detection.summary = MEND_STR("it turns");
    detection.rung = decisions[i].rung;
    unsigned asked = 0;
    mend_action action;
    cr_assert_eq(mend_detection_decide(&detection, decisions[i].policy, &asked, &action), decisions[i].status);
    cr_assert_eq(action.kind, decisions[i].action, "case %zu", i);
    cr_assert_str_eq(action.text, decisions[i].text, "case %zu", i);
    cr_assert_eq(asked, decisions[i].asked, "case %zu", i);
  }
  cr_assert_str_eq(mend_rung_name(MEND_RUNG_NONE), "none");
}
