/* Descriptors that a loop watches, on every kind of loop, and timers that are set again. */
#include "loop/room.h"
#include "loop/world.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct watching {
  world world;
  int near, far; /* two ends of a connection */
  mend__descriptor *descriptor;
  bool reads, writes;    /* what is wanted next */
  bool unwatches, holds; /* what `ready` does */
  mend_status status;
  gate ready;  /* stage: how often it was called */
  gate let_go; /* of `ready`, which holds */
  atomic_uint elsewhere, reads_seen, writes_seen;
} watching;

static void on_ready(void *ctx, int fd, bool can_read, bool can_write) {
  watching *w = ctx;
  char bytes[16];
  if (!mend_loop_is_here(w->world.loop) || fd != w->near) w->elsewhere++;
  if (can_read && read(fd, bytes, sizeof bytes) >= 0) w->reads_seen++;
  if (can_write) w->writes_seen++;
  if (can_write) mend__descriptor_want(w->descriptor, true, false); /* else it would be told so all the time */
  if (w->unwatches) mend__descriptor_unwatch(&w->descriptor);
  gate_reach(&w->ready, w->ready.stage + 1);
  if (w->holds) gate_await(&w->let_go, 1);
}

static void watch_now(void *ctx) {
  watching *w = ctx;
  w->status = mend__loop_watch(w->world.loop, w->near, "test", w->reads, w->writes, on_ready, w, &w->descriptor);
}

static void want_now(void *ctx) {
  watching *w = ctx;
  w->status = mend__descriptor_want(w->descriptor, w->reads, w->writes);
}

static void unwatch_now(void *ctx) {
  watching *w = ctx;
  mend__descriptor_unwatch(&w->descriptor);
}

static void open_watching(watching *w, world_kind kind) {
  int ends[2];
  *w = (watching){.ready = GATE_INIT, .let_go = GATE_INIT};
  open_world(&w->world, kind);
  cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  w->near = ends[0];
  w->far = ends[1];
}

static void close_watching(watching *w) {
  mend__loop_call(w->world.loop, unwatch_now, w);
  cr_assert_null(w->descriptor);
  cr_assert_eq(atomic_load(&w->elsewhere), 0u);
  close(w->near);
  close(w->far);
  close_world(&w->world);
}

static void call(watching *w, void (*function)(void *ctx), bool reads, bool writes) {
  w->reads = reads;
  w->writes = writes;
  mend__loop_call(w->world.loop, function, w);
  cr_assert_eq(w->status, MEND_OK);
}

static void say(watching *w) { cr_assert_eq(write(w->far, "x", 1), 1); }

static void expect_seen(watching *w, int calls, unsigned reads, unsigned writes) {
  gate_await(&w->ready, calls);
  flush(w->world.loop);
  cr_assert_eq(w->ready.stage, calls);
  cr_assert_eq(atomic_load(&w->reads_seen), reads);
  cr_assert_eq(atomic_load(&w->writes_seen), writes);
}

Test(loop_descriptors, tell_what_was_asked_for) {
  for (world_kind kind = 0; kind < WORLD_KINDS; kind++) {
    watching w;
    open_watching(&w, kind);
    call(&w, watch_now, true, false);
    expect_seen(&w, 0, 0, 0);
    say(&w);
    expect_seen(&w, 1, 1, 0);
    say(&w);
    expect_seen(&w, 2, 2, 0);
    call(&w, want_now, true, true);
    expect_seen(&w, 3, 2, 1);
    call(&w, want_now, false, false);
    say(&w);
    expect_seen(&w, 3, 2, 1);
    w.unwatches = true;
    call(&w, want_now, true, false); /* level-triggered: it is still there */
    expect_seen(&w, 4, 3, 1);
    say(&w);
    expect_seen(&w, 4, 3, 1);
    close_watching(&w);
  }
}

Test(loop_descriptors, cannot_be_files) {
  watching w;
  open_watching(&w, OWN_THREAD);
  close(w.near);
  w.near = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  w.reads = true;
  mend__loop_call(w.world.loop, watch_now, &w);
  cr_assert_eq(w.status, MEND_EIO);
  cr_assert_null(w.descriptor);
  close_watching(&w);
}

/* ---- Beside a virtual clock ---- */

static void count(void *ctx) { atomic_fetch_add((atomic_uint *)ctx, 1); }

static void *advance_an_hour(void *clock) {
  mend_clock_advance(clock, 3600 * MEND_SECOND_NS);
  return NULL;
}

/* The clock waits for what is under way, and what that arms counts from before it moved. */
Test(loop_descriptors, work_while_a_virtual_clock_advances) {
  static const world_kind kinds[] = {OWN_THREAD_VIRTUAL, DISPATCHED_VIRTUAL};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    watching w;
    open_watching(&w, kinds[i]);
    w.holds = true;
    call(&w, watch_now, true, false);
    say(&w);
    gate_await(&w.ready, 1);
    atomic_uint rung = 0;
    mend_timer *timer;
    cr_assert_eq(mend_loop_after(w.world.loop, 60 * MEND_SECOND_NS, count, &rung, &timer), MEND_OK);
    pthread_t advancer;
    cr_assert_eq(pthread_create(&advancer, NULL, advance_an_hour, w.world.clock), 0);
    cr_assert_eq(atomic_load(&rung), 0u);
    gate_reach(&w.let_go, 1);
    pthread_join(advancer, NULL);
    cr_assert_eq(atomic_load(&rung), 1u);
    say(&w);
    expect_seen(&w, 2, 2, 0);
    mend_timer_cancel(&timer);
    close_watching(&w);
  }
}

/* ---- Timers that are set again ---- */

Test(loop_descriptors, timers_count_as_they_were_set_last) {
  world w;
  open_world(&w, OWN_THREAD_VIRTUAL);
  atomic_uint rung = 0;
  mend_timer *timer;
  cr_assert_eq(mend__timer_new(w.loop, count, &rung, &timer), MEND_OK);
  static const struct {
    bool clears;
    uint64_t set_ns; /* 0: not set */
    uint64_t advance_ns;
    unsigned rung;
  } steps[] = {
      {false, 0, 1000, 0}, {false, 100, 100, 0}, {false, 0, 1, 1},   {false, 0, 1000, 1}, {false, 100, 50, 1},
      {false, 100, 60, 1}, {false, 0, 41, 2},    {false, 50, 20, 2}, {true, 0, 1000, 2},  {false, 10, 11, 3},
  };
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    if (steps[i].clears) mend__timer_clear(timer);
    if (steps[i].set_ns != 0) mend__timer_set(timer, steps[i].set_ns);
    cr_assert_eq(mend_clock_advance(w.clock, steps[i].advance_ns), MEND_OK);
    cr_assert_eq(atomic_load(&rung), steps[i].rung, "step %zu", i);
  }
  mend_timer_cancel(&timer);
  close_world(&w);
}

/* ---- Without memory ---- */

Test(loop_descriptors, need_memory) {
  watching w;
  open_watching(&w, OWN_THREAD);
  mend_timer *timer = NULL;
  mend_test_allocator_arm(&w.world.allocator, 1, true);
  mend__loop_call(w.world.loop, watch_now, &w);
  cr_assert_eq(w.status, MEND_ENOMEM);
  cr_assert_eq(mend__timer_new(w.world.loop, unwatch_now, &w, &timer), MEND_ENOMEM);
  cr_assert_null(timer);
  mend_test_allocator_arm(&w.world.allocator, 0, false);
  call(&w, watch_now, true, false);
  say(&w);
  expect_seen(&w, 1, 1, 0);
  close_watching(&w);
}
