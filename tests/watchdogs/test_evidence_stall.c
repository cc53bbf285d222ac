/* Stall in mode evidence, beyond what the recorded cases show: what a detection says, recovering, time that stood
 * still, runs that work for a call, bounds and memory. */
#include "watchdogs/family.h"
#include "watchdogs/room.h"
#include "world.h"

#include <pthread.h>

static mend_watchdog *stall_on(test_world *world, double timeout_s) {
  mend_stall_watchdog_options options = MEND_STALL_WATCHDOG_OPTIONS_INIT;
  options.timeout_s = timeout_s;
  mend_watchdog *stall;
  cr_assert_eq(mend_evidence_stall_watchdog_new(&options, &world->memory.base, &stall, NULL), MEND_OK);
  cr_assert_eq(mend_watchdog_watch_bus(stall, world->bus), MEND_OK);
  return stall;
}

static mend_run *child_run(test_world *world, const char *id, mend_run *parent, const char *parent_call) {
  mend_run_options options = MEND_RUN_OPTIONS_INIT;
  options.id = mend_str_from(id);
  options.parent = parent;
  options.parent_call = mend_str_from(parent_call);
  mend_run *run;
  cr_assert_eq(mend_run_new(world->bus, &options, &run, NULL), MEND_OK);
  return run;
}

static mend_status progress(mend_run *run, uint64_t call, uint64_t bytes) {
  mend_tool_progress_event event = MEND_TOOL_PROGRESS_EVENT_INIT;
  event.event.call = call;
  event.bytes = bytes;
  return mend_run_publish(run, &event.event);
}

/* ---- What it says ---- */

Test(evidence_stall, what_a_detection_says) {
  test_world world;
  world_open(&world);
  mend_watchdog *stall = stall_on(&world, 30);
  mend_run *run = world_run(&world, "r");
  mend_tool_before_event event = MEND_TOOL_BEFORE_EVENT_INIT;
  event.event.call_name = MEND_STR("toolu_\"9");
  event.tool_name = MEND_STR("fetch");
  cr_assert_eq(mend_run_publish(run, &event.event), MEND_OK);
  world_advance(&world, 10);
  cr_assert_eq(progress(run, event.event.call, 12), MEND_OK);
  world_advance(&world, 5);
  cr_assert_eq(progress(run, event.event.call, 0), MEND_OK);
  world_advance(&world, 500);
  const mend_detection *found = latest(run);
  cr_assert(text_is(found->detector, "stall"));
  cr_assert(text_is(found->reason, "tool_idle"));
  cr_assert_eq(found->detected_ns, 1045 * SECOND + 1);
  cr_assert_eq(found->cause_seq, 0u);
  cr_assert_str_eq(found->summary.ptr, "fetch has shown no sign of life for 30.0 s");
  cr_assert(text_is(found->incident, "tool_idle/fetch"));
  cr_assert(text_is(found->tool_name, "fetch"));
  cr_assert(text_is(found->first_call, "toolu_\"9"));
  cr_assert(text_is(found->last_call, "toolu_\"9"));
  cr_assert_str_eq(
      found->evidence.ptr,
      "[{\"what\":\"began\",\"at\":1700000000.0},{\"what\":\"last progress\",\"at\":1700000010.0},"
      "{\"what\":\"last sign of life\",\"at\":1700000015.0},{\"what\":\"stall.timeout_s\",\"seconds\":30.0}]");
  cr_assert_str_eq(found->payload.ptr,
                   "{\"call_id\":\"toolu_\\\"9\",\"started_at\":1700000000.0,\"elapsed_s\":45.000000001,"
                   "\"idle_s\":30.000000001,\"limit_s\":30.0}");
  cr_assert_float_eq(found->severity, 0.5, 1e-9);
  cr_assert(found->confidence >= 0.5 && found->confidence < 1);
  cr_assert(found->steer.len > 0);
  cr_assert_eq(found->rung, MEND_RUNG_ACT);
  mend_detection_release(found);
  mend_run_release(run);
  mend_watchdog_release(stall);
  world_close(&world);
}

/* Each reason has a sentence, an incident and a confidence of its own. */
Test(evidence_stall, every_reason_says_something) {
  static const struct {
    const char *reason, *summary, *incident;
    double confidence;
  } rows[] = {
      {"heartbeat_without_progress", "t says that it is alive and has put nothing out for 600.0 s",
       "heartbeat_without_progress/t", 0.7},
      {"tool_total", "t has not returned for 3600.0 s", "tool_total/t", 0.6},
      {"no_first_token", "gpt has not begun to answer for 120.0 s", "no_first_token/gpt", 0.8},
      {"stream_idle", "gpt has stopped in its reply for 60.0 s", "stream_idle/gpt", 0.9},
      {"run_idle", "the run has done nothing for 300.0 s, and nothing is open", "run_idle", 0.4},
      {"run_idle", "the run has done nothing for 300.0 s, and nothing is open", "run_idle", 0.7},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    test_world world;
    world_open(&world);
    mend_watchdog *stall = stall_on(&world, 30);
    mend_run *run = world_run(&world, "r");
    mend_model_request_event request = MEND_MODEL_REQUEST_EVENT_INIT;
    request.model = MEND_STR("gpt");
    mend_model_delta_event delta = MEND_MODEL_DELTA_EVENT_INIT;
    delta.text = MEND_STR("x");
    switch (i) {
    case 0:
    case 1:
      cr_assert_eq(before(run, 1, "t", NULL), MEND_OK);
      for (int beat = 0; beat < 150; beat++) {
        world_advance(&world, 25);
        cr_assert_eq(progress(run, 1, i), MEND_OK);
      }
      break;
    case 2: cr_assert_eq(mend_run_publish(run, &request.event), MEND_OK); break;
    case 3:
      cr_assert_eq(mend_run_publish(run, &request.event), MEND_OK);
      cr_assert_eq(mend_run_publish(run, &delta.event), MEND_OK);
      break;
    case 4:
      cr_assert_eq(before(run, 1, "t", NULL), MEND_OK);
      cr_assert_eq(after(run, 1), MEND_OK);
      break;
    default: cr_assert_eq(publish(run, MEND_EVENT_AGENT_START, 0), MEND_OK); break;
    }
    world_advance(&world, i == 0 ? 20 : 400);
    cr_assert(detections_of(run) > 0, "row %zu", i);
    mend_watch *watch;
    cr_assert_eq(mend_run_watch(run, &watch), MEND_OK);
    mend_detection_cursor cursor = MEND_DETECTION_CURSOR_INIT;
    const mend_detection *found;
    cr_assert_eq(mend_watch_next(watch, &cursor, &found), MEND_OK);
    cr_assert(text_is(found->reason, rows[i].reason), "row %zu: %s", i, found->reason.ptr);
    cr_assert_str_eq(found->summary.ptr, rows[i].summary);
    cr_assert(text_is(found->incident, rows[i].incident), "row %zu", i);
    cr_assert_float_eq(found->confidence, rows[i].confidence, 1e-9, "row %zu", i);
    cr_assert(found->evidence.len > 2, "row %zu", i);
    mend_detection_release(found);
    mend_run_release(run);
    mend_watchdog_release(stall);
    world_close(&world);
  }
}

/* A run of which only tools are known is told to be idle once; one whose agent is known, each time anew. */
Test(evidence_stall, how_often_a_run_is_idle) {
  for (int is_live = 0; is_live < 2; is_live++) {
    test_world world;
    world_open(&world);
    mend_watchdog *stall = stall_on(&world, 30);
    mend_run *run = world_run(&world, "r");
    if (is_live != 0) cr_assert_eq(publish(run, MEND_EVENT_AGENT_START, 0), MEND_OK);
    for (uint64_t call = 1; call <= 3; call++) {
      cr_assert_eq(before(run, call, "t", NULL), MEND_OK);
      cr_assert_eq(after(run, call), MEND_OK);
      world_advance(&world, 1000);
    }
    cr_assert_eq(detections_of(run), is_live != 0 ? 3u : 1u);
    mend_run_release(run);
    mend_watchdog_release(stall);
    world_close(&world);
  }
}

/* A call that is silent still after it was told is told no more; one that has gone on may be. */
Test(evidence_stall, how_often_a_call_is_told) {
  for (int goes_on = 0; goes_on < 2; goes_on++) {
    test_world world;
    world_open(&world);
    mend_watchdog *stall = stall_on(&world, 30);
    mend_run *run = world_run(&world, "r");
    cr_assert_eq(before(run, 1, "t", NULL), MEND_OK);
    world_advance(&world, 100);
    cr_assert_eq(detections_of(run), 1u);
    if (goes_on != 0) cr_assert_eq(progress(run, 1, 1), MEND_OK);
    world_advance(&world, 10000);
    cr_assert_eq(detections_of(run), goes_on != 0 ? 2u : 1u);
    cr_assert_eq(after(run, 1), MEND_OK);
    mend_run_release(run);
    mend_watchdog_release(stall);
    world_close(&world);
  }
}

/* ---- Recovering ---- */

typedef struct told {
  unsigned recovered, rebased;
  uint64_t detection_id, seq, call;
  double elapsed_s, gap_s;
} told;

static mend_status note_told(void *ctx, const mend_event *event) {
  told *notes = ctx;
  if (event->kind == MEND_EVENT_STALL_RECOVERED) {
    const mend_stall_recovered_event *recovered = (const mend_stall_recovered_event *)event;
    notes->recovered++;
    notes->detection_id = recovered->detection_id;
    notes->elapsed_s = recovered->elapsed_s;
    notes->call = event->call;
    notes->seq = event->seq;
  } else {
    notes->rebased++;
    notes->gap_s = ((const mend_clock_rebased_event *)event)->gap_s;
  }
  return MEND_OK;
}

static void listen(test_world *world, told *notes) {
  static const char *const topics[] = {"stall.recovered", "clock.rebased"};
  for (int i = 0; i < 2; i++)
    cr_assert_eq(mend_bus_subscribe(world->bus, topics[i], note_told, notes, NULL, NULL, NULL), MEND_OK);
}

Test(evidence_stall, what_ends_after_all_has_recovered) {
  static const struct {
    mend_event_kind ending;
    double open_s;
    bool recovers;
  } rows[] = {
      {MEND_EVENT_TOOL_AFTER, 100, true},      {MEND_EVENT_TOOL_ERROR, 100, true},
      {MEND_EVENT_TOOL_AFTER, 29, false},      {MEND_EVENT_TOOL_CANCELLED, 100, false},
      {MEND_EVENT_TOOL_SKIPPED, 100, false},   {MEND_EVENT_TOOL_ABORTED, 100, false},
      {MEND_EVENT_MODEL_RESPONSE, 130, true},  {MEND_EVENT_MODEL_ERROR, 130, false},
      {MEND_EVENT_MODEL_RESPONSE, 100, false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    test_world world;
    world_open(&world);
    mend_watchdog *stall = stall_on(&world, 30);
    mend_run *run = world_run(&world, "r");
    told notes = {0};
    listen(&world, &notes);
    const bool is_model = rows[i].ending >= MEND_EVENT_MODEL_REQUEST;
    cr_assert_eq(publish(run, is_model ? MEND_EVENT_MODEL_REQUEST : MEND_EVENT_TOOL_BEFORE, 7), MEND_OK);
    world_advance(&world, rows[i].open_s);
    cr_assert_eq(publish(run, rows[i].ending, 7), MEND_OK);
    cr_assert_eq(notes.recovered, rows[i].recovers ? 1u : 0u, "row %zu", i);
    if (rows[i].recovers) {
      cr_assert_eq(notes.detection_id, 1u);
      cr_assert_eq(notes.call, 7u);
      cr_assert_float_eq(notes.elapsed_s, rows[i].open_s, 1e-6);
      cr_assert(notes.seq > 2, "behind the event that ended it");
    }
    mend_run_release(run);
    mend_watchdog_release(stall);
    world_close(&world);
  }
}

/* ---- Time that stood still ---- */

static void wake_nobody(void *ctx) { (void)ctx; }

/* Somebody waits for deadlines and comes far too late: nothing had a chance to go on, and nothing has stalled. A little
 * late is what a busy machine is. */
Test(evidence_stall, a_suspended_host) {
  static const struct {
    double late_s;
    bool is_rebased;
  } rows[] = {{0.5, false}, {9, false}, {11, true}, {36000, true}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    for (int by_event = 0; by_event < 2; by_event++) {
      test_world world;
      world_open(&world);
      mend_watchdog *stall = stall_on(&world, 30);
      mend_run *run = world_run(&world, "r");
      told notes = {0};
      listen(&world, &notes);
      cr_assert_eq(mend_bus_set_waker(world.bus, (mend_waker){wake_nobody, NULL}), MEND_OK);
      cr_assert_eq(before(run, 1, "t", NULL), MEND_OK);
      world_advance(&world, 10);
      cr_assert_eq(before(run, 2, "t", NULL), MEND_OK);
      world_advance(&world, 20 + rows[i].late_s);
      cr_assert_eq(by_event != 0 ? after(run, 2) : mend_bus_expire(world.bus), MEND_OK);
      cr_assert_eq(notes.rebased, rows[i].is_rebased ? 1u : 0u, "row %zu", i);
      cr_assert_eq(detections_of(run), rows[i].is_rebased ? 0u : 1u, "row %zu", i);
      if (rows[i].is_rebased) {
        cr_assert_float_eq(notes.gap_s, 20 + rows[i].late_s, 1e-6);
        /* The first call was 10 s old when the run was looked at last, and has 20 s left. */
        world_advance(&world, 19.5);
        cr_assert_eq(mend_bus_expire(world.bus), MEND_OK);
        cr_assert_eq(detections_of(run), 0u);
        world_advance(&world, 1);
        cr_assert_eq(mend_bus_expire(world.bus), MEND_OK);
        cr_assert_eq(detections_of(run), 1u);
        const mend_detection *found = latest(run);
        cr_assert(text_is(found->last_call, "1"));
        mend_detection_release(found);
      }
      mend_run_release(run);
      mend_watchdog_release(stall);
      world_close(&world);
    }
  }
}

/* A recording says that time stood still; nobody waits. */
Test(evidence_stall, a_recorded_suspension) {
  static const double gaps[] = {1000, 0, -5, 1e300};
  for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++) {
    test_world world;
    world_open(&world);
    mend_watchdog *stall = stall_on(&world, 30);
    mend_run *run = world_run(&world, "r");
    cr_assert_eq(before(run, 1, "t", NULL), MEND_OK);
    world_advance(&world, 10);
    mend_clock_rebased_event rebased = MEND_CLOCK_REBASED_EVENT_INIT;
    rebased.gap_s = gaps[i];
    cr_assert_eq(mend_run_publish(run, &rebased.event), MEND_OK);
    world_advance(&world, 1000);
    cr_assert_eq(detections_of(run), gaps[i] > 0 ? 0u : 1u, "row %zu", i);
    world_advance(&world, 21);
    cr_assert_eq(detections_of(run), gaps[i] > 4000 ? 0u : 1u, "row %zu", i);
    mend_run_release(run);
    mend_watchdog_release(stall);
    world_close(&world);
  }
}

/* While a run waits for a person nothing in it is late, also what is open longer than it may be; every other way to go
 * on ends the wait. */
Test(evidence_stall, a_run_that_waits_for_a_person) {
  static const mend_event_kind endings[] = {MEND_EVENT_APPROVAL_GRANTED, MEND_EVENT_USER_MESSAGE, MEND_EVENT_AGENT_END,
                                            MEND_EVENT_MODEL_REQUEST};
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
    test_world world;
    world_open(&world);
    mend_watchdog *stall = stall_on(&world, 30);
    mend_run *run = world_run(&world, "r");
    cr_assert_eq(before(run, 1, "t", NULL), MEND_OK);
    for (int waits = 0; waits < 2; waits++) {
      world_advance(&world, 9);
      cr_assert_eq(publish(run, MEND_EVENT_APPROVAL_WAIT, 0), MEND_OK);
      world_advance(&world, 1000);
      cr_assert_eq(publish(run, endings[i], 0), MEND_OK);
    }
    world_advance(&world, 11.5);
    cr_assert_eq(detections_of(run), 0u, "row %zu", i);
    world_advance(&world, 1);
    cr_assert_eq(detections_of(run), 1u, "row %zu", i);
    mend_run_release(run);
    mend_watchdog_release(stall);
    world_close(&world);
  }
}

/* A recorded host that stood still: told once for all runs there are, and not again when it is published on one. */
Test(evidence_stall, a_recorded_host) {
  test_world world;
  world_open(&world);
  mend_watchdog *stall = stall_on(&world, 30);
  mend_run *early = world_run(&world, "early"), *idle = world_run(&world, "idle");
  cr_assert_eq(before(early, 1, "t", NULL), MEND_OK);
  world_advance(&world, 10);
  for (int times = 0; times < 2; times++)
    cr_assert_eq(mend__bus_stood_still(world.bus, 500 * SECOND), MEND_OK);
  mend_clock_rebased_event rebased = MEND_CLOCK_REBASED_EVENT_INIT;
  rebased.gap_s = 1000;
  cr_assert_eq(mend_run_publish(early, &rebased.event), MEND_OK);
  mend_run *late = world_run(&world, "late");
  cr_assert_eq(before(late, 2, "t", NULL), MEND_OK);
  world_advance(&world, 31);
  cr_assert_eq(detections_of(late), 1u, "it began afterwards");
  world_advance(&world, 1000 - 31);
  cr_assert_eq(before(idle, 3, "t", NULL), MEND_OK);
  world_advance(&world, 19.5);
  cr_assert_eq(detections_of(early), 0u);
  world_advance(&world, 1);
  cr_assert_eq(detections_of(early), 1u);
  cr_assert_eq(detections_of(idle), 0u);
  world_advance(&world, 10);
  cr_assert_eq(detections_of(idle), 1u, "it had nothing open when the host stood still");
  mend_run_release(early);
  mend_run_release(idle);
  mend_run_release(late);
  mend_watchdog_release(stall);
  world_close(&world);
}

/* A recording that says of a wait that time stood still for longer than there was: the wait took no time, and what is
 * open goes on from where it was put. */
Test(evidence_stall, a_wait_in_which_more_time_stood_still_than_passed) {
  for (uint64_t call = 0; call < 2; call++) {
    test_world world;
    world_open(&world);
    mend_watchdog *stall = stall_on(&world, 30);
    mend_run *run = world_run(&world, "r");
    cr_assert_eq(before(run, 1, "t", NULL), MEND_OK);
    cr_assert_eq(publish(run, MEND_EVENT_APPROVAL_WAIT, call), MEND_OK);
    mend_clock_rebased_event rebased = MEND_CLOCK_REBASED_EVENT_INIT;
    rebased.gap_s = 5000;
    cr_assert_eq(mend_run_publish(run, &rebased.event), MEND_OK);
    world_advance(&world, 10);
    cr_assert_eq(publish(run, MEND_EVENT_APPROVAL_GRANTED, call), MEND_OK);
    world_advance(&world, 5000);
    cr_assert_eq(detections_of(run), 0u, "call %llu", (unsigned long long)call);
    world_advance(&world, 31);
    cr_assert_eq(detections_of(run), 1u, "call %llu", (unsigned long long)call);
    mend_run_release(run);
    mend_watchdog_release(stall);
    world_close(&world);
  }
}

/* ---- Runs that work for a call ---- */

/* A child that has come and gone before anybody asked is not forgotten. */
Test(evidence_stall, a_child_that_is_gone) {
  test_world world;
  world_open(&world);
  mend_watchdog *stall = stall_on(&world, 30);
  mend_run *run = world_run(&world, "r");
  cr_assert_eq(before(run, 1, "spawn", NULL), MEND_OK);
  world_advance(&world, 5);
  mend_run *child = child_run(&world, "kid", run, "1");
  world_advance(&world, 20);
  cr_assert_eq(publish(child, MEND_EVENT_USER_MESSAGE, 0), MEND_OK);
  mend_run_release(child);
  world_advance(&world, 29);
  cr_assert_eq(detections_of(run), 0u);
  world_advance(&world, 2);
  cr_assert_eq(detections_of(run), 1u);
  mend_run_release(run);
  mend_watchdog_release(stall);
  world_close(&world);
}

/* What a child has open when its run is reset or freed keeps nobody waiting. */
Test(evidence_stall, a_child_that_ends_with_something_open) {
  for (int is_freed = 0; is_freed < 2; is_freed++) {
    test_world world;
    world_open(&world);
    mend_watchdog *stall = stall_on(&world, 30);
    mend_run *run = world_run(&world, "r"), *child = child_run(&world, "kid", run, "1");
    cr_assert_eq(before(run, 1, "spawn", NULL), MEND_OK);
    cr_assert_eq(before(child, 1, "t", NULL), MEND_OK);
    world_advance(&world, 20);
    if (is_freed != 0) {
      mend_run_release(child);
    } else {
      cr_assert_eq(reset(child), MEND_OK);
    }
    world_advance(&world, 31);
    cr_assert_eq(detections_of(run), 1u);
    if (is_freed == 0) mend_run_release(child);
    mend_run_release(run);
    mend_watchdog_release(stall);
    world_close(&world);
  }
}

/* A run waits for the runs that work for it, though the call that started them has returned. */
Test(evidence_stall, work_in_the_background) {
  test_world world;
  world_open(&world);
  mend_watchdog *stall = stall_on(&world, 30);
  mend_run *run = world_run(&world, "r");
  cr_assert_eq(publish(run, MEND_EVENT_AGENT_START, 0), MEND_OK);
  cr_assert_eq(before(run, 1, "spawn", NULL), MEND_OK);
  mend_run *child = child_run(&world, "kid", run, "1");
  cr_assert_eq(after(run, 1), MEND_OK);
  for (int i = 0; i < 10; i++) {
    world_advance(&world, 250);
    cr_assert_eq(publish(child, MEND_EVENT_USER_MESSAGE, 0), MEND_OK);
  }
  cr_assert_eq(detections_of(run), 0u);
  world_advance(&world, 301);
  cr_assert_eq(detections_of(run), 1u);
  mend_run_release(child);
  mend_run_release(run);
  mend_watchdog_release(stall);
  world_close(&world);
}

enum { CHILDREN = 4, ROUNDS = 2000 };

static void *work_for(void *ctx) {
  mend_run *child = ctx;
  for (uint64_t i = 1; i <= ROUNDS; i++) {
    before(child, i, "t", NULL);
    progress(child, i, 1);
    after(child, i);
  }
  return NULL;
}

typedef struct step_counter { /* a driver that wants nothing and is asked at each step of the clock */
  unsigned steps;
} step_counter;

static uint64_t count_step(void *ctx) {
  ((step_counter *)ctx)->steps++;
  return MEND_NEVER;
}

static void run_nothing(void *ctx, uint64_t now_ns) { (void)ctx, (void)now_ns; }

/* The parent looks at its child again and again, but not once a limit for 26 years. */
Test(evidence_stall, a_jump_in_time_takes_few_steps) {
  static const struct {
    double seconds;
    unsigned steps; /* at most */
  } rows[] = {{1000, 15}, {86400, 120}, {26 * 365.25 * 86400, 500}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    test_world world;
    step_counter counter = {0};
    const mend_clock_driver driver = {sizeof driver, count_step, run_nothing, &counter};
    world_open(&world);
    mend_watchdog *stall = stall_on(&world, 30);
    mend_run *run = world_run(&world, "r");
    mend_run *child = child_run(&world, "kid", run, "1");
    cr_assert_eq(publish(run, MEND_EVENT_AGENT_START, 0), MEND_OK);
    cr_assert_eq(before(run, 1, "task", NULL), MEND_OK);
    cr_assert_eq(before(child, 2, "search", NULL), MEND_OK);
    cr_assert_eq(after(run, 1), MEND_OK);
    cr_assert_eq(mend_clock_add_driver(world.clock, &driver), MEND_OK);
    world_advance(&world, rows[i].seconds);
    cr_assert(counter.steps <= rows[i].steps, "%.0f s: %u steps", rows[i].seconds, counter.steps);
    cr_assert_eq(mend_clock_remove_driver(world.clock, &counter), MEND_OK);
    mend_run_release(child);
    mend_run_release(run);
    mend_watchdog_release(stall);
    world_close(&world);
  }
}

/* Children on threads of their own, while the parent's deadlines pass on another. */
Test(evidence_stall, children_on_threads) {
  test_world world;
  world_open(&world);
  mend_watchdog *stall = stall_on(&world, 30);
  mend_run *run = world_run(&world, "r"), *children[CHILDREN];
  cr_assert_eq(before(run, 1, "spawn", NULL), MEND_OK);
  pthread_t threads[CHILDREN];
  for (int i = 0; i < CHILDREN; i++) {
    char id[16];
    snprintf(id, sizeof id, "kid%d", i);
    children[i] = child_run(&world, id, run, "1");
    cr_assert_eq(pthread_create(&threads[i], NULL, work_for, children[i]), 0);
  }
  for (int i = 0; i < 50; i++)
    mend_clock_advance(world.clock, 20 * SECOND);
  for (int i = 0; i < CHILDREN; i++) {
    cr_assert_eq(pthread_join(threads[i], NULL), 0);
    mend_run_release(children[i]);
  }
  world_advance(&world, 100);
  cr_assert(detections_of(run) >= 1u);
  mend_run_release(run);
  mend_watchdog_release(stall);
  world_close(&world);
}

/* ---- Bounds and memory ---- */

Test(evidence_stall, the_bound_of_what_is_open) {
  enum { MAX = 65536 };
  test_world world;
  world_open(&world);
  mend_watchdog *stall = stall_on(&world, 30);
  mend_run *run = world_run(&world, "r");
  for (uint64_t call = 1; call <= MAX + 1; call++)
    cr_assert_eq(before(run, call, "t", NULL), MEND_OK);
  mend_watchdog_stats stats = {.size = sizeof stats};
  cr_assert_eq(mend_watchdog_get_stats(stall, &stats), MEND_OK);
  cr_assert_eq(stats.unwatched, 1u);
  for (uint64_t call = 1; call <= MAX; call++) {
    if (call != 1234) cr_assert_eq(after(run, call), MEND_OK);
  }
  world_advance(&world, 31);
  cr_assert_eq(detections_of(run), 1u);
  mend_run_release(run);
  mend_watchdog_release(stall);
  world_close(&world);
}

/* An ordinary call needs no memory once warm, and its signs of life move no deadline. */
Test(evidence_stall, a_call_allocates_nothing_once_warm) {
  test_world world;
  world_open(&world);
  mend_watchdog *stall = stall_on(&world, 30);
  mend_run *run = world_run(&world, "r");
  size_t calls = 0;
  for (uint64_t call = 1; call <= 100; call++) {
    mend_tool_before_event event = MEND_TOOL_BEFORE_EVENT_INIT;
    event.event.call = call;
    event.event.call_name = MEND_STR("a foreign id that is too long to be kept inside of an item");
    event.tool_name = MEND_STR("a tool whose name is too long to be kept inside of an item");
    cr_assert_eq(mend_run_publish(run, &event.event), MEND_OK);
    cr_assert_eq(progress(run, call, 3), MEND_OK);
    cr_assert_eq(after(run, call), MEND_OK);
    world_advance(&world, 1);
    if (call == 50) calls = atomic_load(&world.memory.calls);
  }
  cr_assert_eq(atomic_load(&world.memory.calls), calls);
  mend_run_release(run);
  mend_watchdog_release(stall);
  world_close(&world);
}

/* Those that have left are remembered up to a bound, the latest. */
Test(evidence_stall, a_family_forgets) {
  test_world world;
  world_open(&world);
  mend__family family;
  cr_assert_eq(mend__family_init(&family, &world.memory.base), MEND_OK);
  mend_run *parent = world_run(&world, "parent");
  const size_t before_all = atomic_load(&world.memory.blocks);
  size_t blocks = 0;
  for (unsigned i = 1; i <= 5000; i++) {
    char id[16], call[16];
    snprintf(id, sizeof id, "kid%u", i);
    snprintf(call, sizeof call, "%u", i);
    mend_run *child = child_run(&world, id, parent, call);
    mend__kin *kin;
    cr_assert_eq(mend__family_join(&family, child, &kin), MEND_OK);
    mend__kin_note(kin, i);
    mend__family_leave(&family, kin);
    mend_run_release(child);
    if (i == 2500) blocks = atomic_load(&world.memory.blocks);
  }
  cr_assert_eq(atomic_load(&world.memory.blocks), blocks);
  mend__kin_life life;
  cr_assert(!mend__family_look(&family, parent, 1, &life));
  cr_assert(mend__family_look(&family, parent, 5000, &life));
  cr_assert_eq(life.last_ns, 5000u);
  cr_assert(mend__family_look(&family, parent, 0, &life), "the run's own is the latest, too");
  cr_assert(!life.is_busy);
  mend__kin *kin;
  cr_assert_eq(mend__family_join(&family, parent, &kin), MEND_OK);
  cr_assert_null(kin, "it works for nobody");
  mend__family_free(&family);
  cr_assert(atomic_load(&world.memory.blocks) <= before_all);
  mend_run_release(parent);
  world_close(&world);
}

Test(evidence_stall, options) {
  static const struct {
    const char *limits;
    double timeout_s;
    bool fine;
  } rows[] = {
      {NULL, 60, true},          {"{}", 60, true}, {"{\"a\": 1, \"b*\": 2.5}", 60, true},
      {"{\"a\": 0}", 60, false}, {NULL, 0, false}, {"no json", 60, false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    mend_stall_watchdog_options options = MEND_STALL_WATCHDOG_OPTIONS_INIT;
    options.timeout_s = rows[i].timeout_s;
    options.tool_timeout_s = mend_str_from(rows[i].limits);
    mend_watchdog *stall = NULL;
    mend_error error = {0};
    const mend_status status = mend_evidence_stall_watchdog_new(&options, NULL, &stall, &error);
    cr_assert_eq(status, rows[i].fine ? MEND_OK : MEND_EINVAL, "row %zu: %s", i, error.message);
    mend_watchdog_release(stall);
  }
}

/* ---- Torture ---- */

static void live(test_world *world) {
  mend_stall_watchdog_options options = MEND_STALL_WATCHDOG_OPTIONS_INIT;
  options.tool_timeout_s = MEND_STR("{\"slow*\": 100}");
  mend_watchdog *stall = NULL;
  mend_run *run = NULL, *child = NULL;
  if (mend_evidence_stall_watchdog_new(&options, &world->memory.base, &stall, NULL) != MEND_OK) return;
  mend_watchdog_watch_bus(stall, world->bus);
  mend_run_new(world->bus, NULL, &run, NULL);
  if (run != NULL) {
    mend_run_options child_options = MEND_RUN_OPTIONS_INIT;
    child_options.parent = run;
    child_options.parent_call = MEND_STR("1");
    mend_run_new(world->bus, &child_options, &child, NULL);
    for (uint64_t call = 1; call <= 6; call++)
      before(run, call, call % 2 == 0 ? "a tool whose name is too long to be kept inside of an item" : "slow", NULL);
    publish(run, MEND_EVENT_MODEL_REQUEST, 9);
  }
  if (child != NULL) before(child, 1, "t", NULL);
  mend_clock_advance(world->clock, 200 * SECOND);
  for (uint64_t call = 1; run != NULL && call <= 6; call++)
    after(run, call);
  if (run != NULL) reset(run);
  mend_run_release(child);
  mend_run_release(run);
  mend_watchdog_release(stall);
}

Test(evidence_stall, each_allocation_fails) { world_torture(live, 50); }
