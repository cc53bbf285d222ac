#include "loop/world.h"

/* A driver with one deadline at a time, the way a bus has one: its owner's lock, and the waker used under it. */
typedef struct owner {
  world *world;
  pthread_mutex_t lock;
  mend_waker waker;
  uint64_t due_ns;
  atomic_uint runs;
  atomic_uint elsewhere; /* calls on a thread that is not the loop's */
  atomic_uint failures;
  uint64_t ran_ns;
  void (*in_run)(struct owner *self);
} owner;

#define OWNER_INIT(of_world)                                                                                           \
  { .world = (of_world), .lock = PTHREAD_MUTEX_INITIALIZER, .due_ns = MEND_NEVER }

static uint64_t owner_next(void *ctx) {
  owner *self = ctx;
  if (!mend_loop_is_here(self->world->loop)) atomic_fetch_add(&self->elsewhere, 1);
  pthread_mutex_lock(&self->lock);
  const uint64_t due_ns = self->due_ns;
  pthread_mutex_unlock(&self->lock);
  return due_ns;
}

static void owner_run(void *ctx, uint64_t now_ns) {
  owner *self = ctx;
  if (!mend_loop_is_here(self->world->loop)) atomic_fetch_add(&self->elsewhere, 1);
  pthread_mutex_lock(&self->lock);
  if (self->due_ns <= now_ns) self->due_ns = MEND_NEVER;
  self->ran_ns = now_ns;
  pthread_mutex_unlock(&self->lock);
  if (self->in_run != NULL) self->in_run(self);
  atomic_fetch_add(&self->runs, 1);
}

static mend_status add(owner *self) {
  const mend_clock_driver driver = {sizeof driver, owner_next, owner_run, self};
  return mend_loop_add_driver(self->world->loop, &driver, &self->waker);
}

static uint64_t now_ns(const world *w) { return mend_clock_now(mend_loop_clock(w->loop)).mono_ns; }

static void set_due(owner *self, uint64_t due_ns) {
  pthread_mutex_lock(&self->lock);
  self->due_ns = due_ns;
  self->waker.wake(self->waker.ctx);
  pthread_mutex_unlock(&self->lock);
}

/* ---- Running ---- */

Test(loop_drivers, run_on_the_loop_when_due) {
  for (world_kind kind = 0; kind < WORLD_KINDS; kind++) {
    world w;
    open_world(&w, kind);
    owner early = OWNER_INIT(&w), late = OWNER_INIT(&w);
    early.due_ns = 0; /* past already when it is added */
    cr_assert_eq(add(&early), MEND_OK);
    cr_assert_eq(add(&late), MEND_OK);
    pass_time_until(&w, &early.runs, 1);
    for (unsigned round = 1; round <= 3; round++) {
      const uint64_t due_ns = now_ns(&w) + 20000;
      set_due(&late, due_ns);
      pass_time_until(&w, &late.runs, round);
      cr_assert(late.ran_ns >= due_ns, "kind %d", (int)kind);
      if (is_virtual_kind(kind)) cr_assert_eq(late.ran_ns, due_ns, "at the very time");
    }
    cr_assert_eq(atomic_load(&early.runs), 1u, "kind %d", (int)kind);
    cr_assert_eq(atomic_load(&early.elsewhere) + atomic_load(&late.elsewhere), 0u, "kind %d", (int)kind);
    cr_assert_eq(mend_loop_remove_driver(w.loop, &early), MEND_OK);
    cr_assert_eq(mend_loop_remove_driver(w.loop, &late), MEND_OK);
    late.waker.wake(late.waker.ctx); /* nobody is there any more */
    flush(w.loop);
    close_world(&w);
  }
}

Test(loop_drivers, are_refused) {
  world w;
  open_world(&w, OWN_THREAD);
  owner o = OWNER_INIT(&w);
  const struct {
    mend_clock_driver driver;
    mend_status status;
  } cases[] = {
      {{0, owner_next, owner_run, &o}, MEND_EINVAL},
      {{sizeof(mend_clock_driver), NULL, owner_run, &o}, MEND_EINVAL},
      {{sizeof(mend_clock_driver), owner_next, NULL, &o}, MEND_EINVAL},
      {{sizeof(mend_clock_driver), owner_next, owner_run, &o}, MEND_OK},
      {{sizeof(mend_clock_driver), owner_next, owner_run, &o}, MEND_EEXIST},
  };
  mend_waker waker;
  cr_assert_eq(mend_loop_add_driver(w.loop, NULL, &waker), MEND_EINVAL);
  cr_assert_eq(mend_loop_remove_driver(w.loop, &o), MEND_ENOENT);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    cr_assert_eq(mend_loop_add_driver(w.loop, &cases[i].driver, &waker), cases[i].status, "case %zu", i);
  cr_assert_eq(mend_loop_remove_driver(w.loop, &o), MEND_OK);
  cr_assert_eq(mend_loop_remove_driver(w.loop, &o), MEND_ENOENT);
  close_world(&w);
}

/* ---- Removing ---- */

static owner *second; /* added after the one that runs */

static void expect_ok(owner *self, mend_status status) {
  if (status != MEND_OK) atomic_fetch_add(&self->failures, 1);
}

static void remove_both(owner *self) {
  expect_ok(self, mend_loop_remove_driver(self->world->loop, self));
  expect_ok(self, mend_loop_remove_driver(self->world->loop, second));
}

Test(loop_drivers, removed_within_a_run_with_the_next_one) {
  for (world_kind kind = 0; kind < WORLD_KINDS; kind++) {
    world w;
    open_world(&w, kind);
    owner first = OWNER_INIT(&w), other = OWNER_INIT(&w), third = OWNER_INIT(&w);
    second = &other;
    first.in_run = remove_both;
    cr_assert_eq(add(&first), MEND_OK);
    cr_assert_eq(add(&other), MEND_OK);
    cr_assert_eq(add(&third), MEND_OK);
    flush(w.loop); /* the turn that asks the new ones is over when the next one has begun */
    flush(w.loop);
    pthread_mutex_lock(&first.lock); /* all at once: the loop asks them when it comes to the first */
    first.due_ns = other.due_ns = third.due_ns = 0;
    first.waker.wake(first.waker.ctx);
    pthread_mutex_unlock(&first.lock);
    pass_time_until(&w, &third.runs, 1);
    cr_assert_eq(atomic_load(&first.runs), 1u, "kind %d", (int)kind);
    cr_assert_eq(atomic_load(&other.runs), 0u, "kind %d", (int)kind);
    cr_assert_eq(atomic_load(&first.failures), 0u);
    cr_assert_eq(mend_loop_remove_driver(w.loop, &third), MEND_OK);
    close_world(&w);
  }
}

/* A call that lasts until somebody has begun to remove its driver, and then a while. */
typedef struct slow {
  world *world;
  gate gate;
  bool in_next; /* else in run */
  atomic_bool asked, removing, left, removed_too_early;
} slow;

static void last_a_while(slow *s) {
  gate_reach(&s->gate, 1);
  while (!atomic_load(&s->removing))
    sched_yield();
  for (int i = 0; i < 1000; i++)
    sched_yield(); /* time for a wrong removal to return */
  atomic_store(&s->left, true);
}

static uint64_t slow_next(void *ctx) {
  slow *s = ctx;
  if (atomic_exchange(&s->asked, true)) return MEND_NEVER;
  if (s->in_next) last_a_while(s);
  return 0;
}

static void slow_run(void *ctx, uint64_t time_ns) {
  (void)time_ns;
  slow *s = ctx;
  if (!s->in_next) last_a_while(s);
}

static void *remove_slow(void *ctx) {
  slow *s = ctx;
  gate_await(&s->gate, 1);
  atomic_store(&s->removing, true);
  const mend_status status = mend_loop_remove_driver(s->world->loop, s);
  atomic_store(&s->removed_too_early, !atomic_load(&s->left));
  return status == MEND_OK ? ctx : NULL;
}

Test(loop_drivers, removing_waits_for_a_call_on_another_thread) {
  for (world_kind kind = 0; kind < WORLD_KINDS; kind++) {
    for (int in_next = 0; in_next < 2; in_next++) {
      world w;
      open_world(&w, kind);
      slow s = {.world = &w, .gate = GATE_INIT, .in_next = in_next};
      const mend_clock_driver driver = {sizeof driver, slow_next, slow_run, &s};
      mend_waker waker;
      pthread_t other;
      void *removed;
      cr_assert_eq(mend_loop_add_driver(w.loop, &driver, &waker), MEND_OK);
      cr_assert_eq(pthread_create(&other, NULL, remove_slow, &s), 0);
      if (w.clock != NULL) mend_clock_advance(w.clock, 1000);
      pthread_join(other, &removed);
      cr_assert_not_null(removed);
      cr_assert(!atomic_load(&s.removed_too_early), "kind %d", (int)kind);
      close_world(&w);
    }
  }
}

/* ---- Adding within a run ---- */

static void add_second(owner *self) { expect_ok(self, add(second)); }

Test(loop_drivers, added_within_a_run) {
  for (world_kind kind = 0; kind < WORLD_KINDS; kind++) {
    world w;
    open_world(&w, kind);
    owner crowd[9];
    for (size_t i = 0; i < 9; i++)
      crowd[i] = (owner)OWNER_INIT(&w);
    second = &crowd[8];
    second->due_ns = 0;
    crowd[0].in_run = add_second;
    for (size_t i = 0; i < 8; i++)
      cr_assert_eq(add(&crowd[i]), MEND_OK); /* the table grows when the ninth comes */
    set_due(&crowd[0], 0);
    pass_time_until(&w, &crowd[8].runs, 1);
    cr_assert_eq(atomic_load(&crowd[0].failures), 0u);
    for (size_t i = 0; i < 9; i++)
      cr_assert_eq(mend_loop_remove_driver(w.loop, &crowd[i]), MEND_OK);
    close_world(&w);
  }
}
