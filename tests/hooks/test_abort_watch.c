/* Who waits in a run for something that is no call hears of its abort. */
#include "hooks/abort_watch.h"
#include "hooks/boundary_internal.h"
#include "support/mend_test.h"
#include "support/test_support.h"

typedef struct world {
  mend_test_allocator memory;
  mend_bus *bus;
  mend_run *run;
  mend_boundary *boundary;
} world;

static void open_world(world *w) {
  mend_test_allocator_init(&w->memory);
  mend_bus_options bus = MEND_BUS_OPTIONS_INIT;
  mend_boundary_options boundary = MEND_BOUNDARY_OPTIONS_INIT;
  bus.allocator = &w->memory.base;
  cr_assert_eq(mend_bus_new(&bus, &w->bus, NULL), MEND_OK);
  cr_assert_eq(mend_run_new(w->bus, NULL, &w->run, NULL), MEND_OK);
  boundary.run = w->run;
  cr_assert_eq(mend_boundary_new(&boundary, &w->boundary, NULL), MEND_OK);
}

static void close_world(world *w) {
  mend_boundary_release(w->boundary);
  mend_run_release(w->run);
  mend_bus_release(w->bus);
  cr_assert_eq(w->memory.blocks, 0);
}

/* ---- Which watches an abort means ---- */

/* What is done, a letter each: f opens a confined frame, F closes it, 0 and 1 begin a watch, A aborts the run (the
 * innermost frame), R resets it. Then which watches are to be cancelled. */
static const struct {
  const char *steps;
  bool wanted[2];
} rows[] = {
    {"01", {false, false}},   {"01A", {true, true}},     {"A01", {true, true}},      {"0AR1", {true, false}},
    {"0f1A", {false, true}},  {"f01A", {true, true}},    {"0f1AF", {false, true}},   {"0f1FA", {true, true}},
    {"fA01F", {true, true}},  {"fAF01", {false, false}}, {"f0F1A", {true, true}},    {"0ff1A", {false, true}},
    {"f0f1FA", {true, true}}, {"0f1FRA", {true, true}},  {"fAR01F", {false, false}},
};

static void take_step(const world *w, char step, mend__abort_frame *frames, size_t *depth,
                      mend__abort_watch watches[2]) {
  mend__run_state *state = mend__run_state_find(w->run);
  switch (step) {
  case 'f': mend__frame_open(state, &frames[(*depth)++]); break;
  case 'F': mend__frame_close(state, &frames[--*depth]); break;
  case 'A': cr_assert_eq(mend_run_abort(w->run, MEND_STR("enough"), MEND_STR("me")), MEND_OK); break;
  case 'R': cr_assert_eq(mend_run_reset(w->run, MEND_STR("again")), MEND_OK); break;
  default: cr_assert_eq(mend__abort_watch_begin(&watches[step - '0'], w->run), MEND_OK);
  }
}

static void want(size_t row) {
  world w;
  mend__abort_frame frames[4];
  mend__abort_watch watches[2];
  size_t depth = 0;
  open_world(&w);
  for (const char *step = rows[row].steps; *step != '\0'; step++)
    take_step(&w, *step, frames, &depth, watches);
  for (int i = 0; i < 2; i++) {
    const bool told = mend_token_is_cancelled(watches[i].token);
    cr_assert_eq(told, rows[row].wanted[i], "%s: watch %d", rows[row].steps, i);
    if (told) cr_assert(mend_str_equal(mend_token_reason(watches[i].token), MEND_STR("enough")));
  }
  mend__abort_watch_end(&watches[row % 2]); /* in both orders */
  mend__abort_watch_end(&watches[1 - row % 2]);
  while (depth > 0)
    take_step(&w, 'F', frames, &depth, watches);
  close_world(&w);
}

Test(abort_watch, hears_of_the_aborts_that_mean_it) {
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    want(i);
}

/* ---- Aborts and watches on several threads ---- */

static void *abort_and_reset(void *ctx) {
  mend_run *run = ctx;
  for (int i = 0; i < 2000; i++) {
    mend_run_abort(run, MEND_STR("enough"), MEND_STR("me"));
    mend_run_reset(run, MEND_STR("again"));
  }
  return NULL;
}

static void count(void *ctx) { ++*(unsigned *)ctx; }

Test(abort_watch, is_told_once_whoever_aborts) {
  world w;
  pthread_t thread;
  open_world(&w);
  pthread_create(&thread, NULL, abort_and_reset, w.run);
  for (int i = 0; i < 2000; i++) {
    mend__abort_watch watch;
    unsigned told = 0;
    uint64_t id;
    cr_assert_eq(mend__abort_watch_begin(&watch, w.run), MEND_OK);
    cr_assert_eq(mend_token_on_cancel(watch.token, count, &told, &id), MEND_OK);
    mend_token_forget(watch.token, id);
    cr_assert(told <= 1);
    mend__abort_watch_end(&watch);
  }
  pthread_join(thread, NULL);
  close_world(&w);
}

/* ---- No memory ---- */

Test(abort_watch, out_of_memory) {
  world w;
  open_world(&w);
  for (size_t fail_at = 1;; fail_at++) {
    mend__abort_watch watch;
    mend_test_allocator_arm(&w.memory, fail_at, false);
    const mend_status status = mend__abort_watch_begin(&watch, w.run);
    if (!mend_test_allocator_failed(&w.memory)) {
      cr_assert_eq(status, MEND_OK);
      mend__abort_watch_end(&watch);
      break;
    }
    cr_assert_eq(status, MEND_ENOMEM);
  }
  mend_test_allocator_arm(&w.memory, 0, false);
  close_world(&w);
}
