/* mend_loop_dump: what it says of a loop, while others use it, and without memory. */
#include "loop/room.h"
#include "loop/world.h"

#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

static void do_little(void *ctx) { (void)ctx; }

static uint64_t say_when(void *ctx) { return *(const uint64_t *)ctx; }

static void run_once(void *ctx, uint64_t now_ns) {
  (void)now_ns;
  *(uint64_t *)ctx = MEND_NEVER;
}

static char *dump_of(world *w) {
  char *text = NULL;
  cr_assert_eq(mend_loop_dump(w->loop, &w->allocator.base, &text), MEND_OK);
  cr_assert_not_null(text);
  return text;
}

/* When its last turn is over. */
static char *dump_at_rest(world *w) {
  char *text = dump_of(w);
  while (strstr(text, ": waiting;") == NULL) {
    mend_free(&w->allocator.base, text);
    sched_yield();
    text = dump_of(w);
  }
  return text;
}

/* Whatever number of turns it took, the text begins with `head` and ends with `tail`. */
static void expect(world *w, const char *head, const char *tail) {
  char *text = dump_at_rest(w);
  const size_t len = strlen(text), tail_len = strlen(tail);
  cr_assert(strncmp(text, head, strlen(head)) == 0, "%s", text);
  cr_assert(len > tail_len && strcmp(text + len - tail_len, tail) == 0, "%s\nis not at the end of\n%s", tail, text);
  mend_free(&w->allocator.base, text);
}

/* ---- A virtual clock: everything but the number of turns is known ---- */

Test(loop_dump, tells_what_waits) {
  static const struct {
    world_kind kind;
    const char *head;
  } cases[] = {
      {OWN_THREAD_VIRTUAL, "loop, a thread of its own: waiting; turns "},
      {DISPATCHED_VIRTUAL, "loop, a caller's base: waiting; turns "},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    world w;
    open_world(&w, cases[i].kind);
    mend_timer *early = NULL, *late = NULL;
    cr_assert_eq(mend_loop_after(w.loop, 2000, do_little, NULL, &late), MEND_OK);
    cr_assert_eq(mend_loop_after(w.loop, 500, do_little, NULL, &early), MEND_OK);
    uint64_t first_ns = 7000, second_ns = MEND_NEVER;
    const mend_clock_driver first = {sizeof first, say_when, run_once, &first_ns};
    const mend_clock_driver second = {sizeof second, say_when, run_once, &second_ns};
    mend_waker waker;
    cr_assert_eq(mend_loop_add_driver(w.loop, &first, &waker), MEND_OK);
    cr_assert_eq(mend_loop_add_driver(w.loop, &second, &waker), MEND_OK);
    cr_assert_eq(mend_clock_advance(w.clock, 1000), MEND_OK);
    mend_loop_retain(w.loop);

    char tail[400];
    snprintf(tail, sizeof tail,
             ", references 2\n"
             "virtual clock: it is 0.000002 s\n"
             "posted: 0\n"
             "drivers: 2\n"
             "  context 0x%llx, deadline 0.000007 s\n"
             "  context 0x%llx, deadline never\n"
             "timers: 1, deadline 0.000003001 s\n"
             "descriptors: 0\n",
             (unsigned long long)(uintptr_t)&first_ns, (unsigned long long)(uintptr_t)&second_ns);
    expect(&w, cases[i].head, tail);

    mend_loop_release(w.loop);
    mend_timer_cancel(&early);
    mend_timer_cancel(&late);
    cr_assert_eq(mend_loop_remove_driver(w.loop, &first_ns), MEND_OK);
    cr_assert_eq(mend_loop_remove_driver(w.loop, &second_ns), MEND_OK);
    close_world(&w);
  }
}

/* ---- Descriptors ---- */

typedef struct watched {
  world *world;
  int fd;
  mend__descriptor *descriptor;
  bool reads, writes;
} watched;

static void ignore_ready(void *ctx, int fd, bool can_read, bool can_write) {
  (void)ctx, (void)fd, (void)can_read, (void)can_write;
}

static void watch_now(void *ctx) {
  watched *w = ctx;
  cr_assert_eq(mend__loop_watch(w->world->loop, w->fd, "a test", w->reads, w->writes, ignore_ready, w, &w->descriptor),
               MEND_OK);
}

static void want_now(void *ctx) {
  const watched *w = ctx;
  cr_assert_eq(mend__descriptor_want(w->descriptor, w->reads, w->writes), MEND_OK);
}

static void unwatch_now(void *ctx) { mend__descriptor_unwatch(&((watched *)ctx)->descriptor); }

static void call(watched *w, void (*function)(void *ctx), bool reads, bool writes) {
  w->reads = reads;
  w->writes = writes;
  mend__loop_call(w->world->loop, function, w);
}

static void expect_descriptors(world *w, const watched *first, const char *first_wants, const watched *second) {
  char tail[300];
  int len = snprintf(tail, sizeof tail, "descriptors: %d\n", second != NULL ? 2 : 1);
  if (second != NULL) {
    len += snprintf(tail + len, sizeof tail - (size_t)len,
                    "  %d (a test), waits to be written, context 0x%llx, since 0.000002 s\n", second->fd,
                    (unsigned long long)(uintptr_t)second);
  }
  snprintf(tail + len, sizeof tail - (size_t)len, "  %d (a test), waits %s, context 0x%llx, since 0.000001 s\n",
           first->fd, first_wants, (unsigned long long)(uintptr_t)first);
  expect(w, "loop, ", tail);
}

Test(loop_dump, tells_descriptors) {
  static const world_kind kinds[] = {OWN_THREAD_VIRTUAL, DISPATCHED_VIRTUAL};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    world w;
    open_world(&w, kinds[i]);
    watched first = {.world = &w, .fd = eventfd(0, EFD_CLOEXEC)}, second = {.world = &w, .fd = eventfd(0, EFD_CLOEXEC)};
    const uint64_t full = UINT64_MAX - 1;
    cr_assert_eq(write(second.fd, &full, sizeof full), (ssize_t)sizeof full);
    call(&first, watch_now, true, false);
    expect_descriptors(&w, &first, "to be read", NULL);
    cr_assert_eq(mend_clock_advance(w.clock, 1000), MEND_OK);
    call(&second, watch_now, false, true);
    expect_descriptors(&w, &first, "to be read", &second);
    call(&first, want_now, false, false);
    expect_descriptors(&w, &first, "for nothing now", &second);
    call(&second, unwatch_now, false, false);
    expect_descriptors(&w, &first, "for nothing now", NULL);
    call(&first, unwatch_now, false, false);
    expect(&w, "loop, ", "descriptors: 0\n");
    close(first.fd);
    close(second.fd);
    close_world(&w);
  }
}

/* ---- From functions that the loop runs ---- */

typedef struct place {
  world *world;
  char *from_timer, *from_posted;
  gate seen;
} place;

static void dump_from_timer(void *ctx) {
  place *p = ctx;
  p->from_timer = dump_of(p->world);
}

static void dump_from_posted(void *ctx) {
  place *p = ctx;
  p->from_posted = dump_of(p->world);
  gate_reach(&p->seen, 1);
}

Test(loop_dump, on_the_loop_and_before_it_is_dispatched) {
  world w;
  begin_world(&w);
  w.clock = new_clock(&w);
  w.base = new_precise_base();
  w.loop = new_loop(&w, w.base);
  place p = {.world = &w, .seen = GATE_INIT};
  cr_assert_eq(mend_loop_post(w.loop, dump_from_posted, &p), MEND_OK);
  cr_assert_eq(mend_loop_post(w.loop, do_little, NULL), MEND_OK);
  char tail[300];
  snprintf(tail, sizeof tail,
           "posted: 2\n"
           "  function 0x%llx, context 0x%llx\n"
           "  function 0x%llx, context 0\n"
           "drivers: 0\n"
           "timers: 0, deadline never\n"
           "descriptors: 0\n",
           (unsigned long long)(uintptr_t)dump_from_posted, (unsigned long long)(uintptr_t)&p,
           (unsigned long long)(uintptr_t)do_little);
  expect(&w, "loop, a caller's base, not dispatched yet: waiting; turns 0, references 1\n", tail);

  cr_assert_eq(pthread_create(&w.dispatcher, NULL, dispatch, w.base), 0);
  gate_await(&p.seen, 1);
  cr_assert_not_null(strstr(p.from_posted, "loop, a caller's base: in a turn; turns "));
  cr_assert_not_null(strstr(p.from_posted, "posted: 1\n"));
  mend_timer *timer = NULL;
  cr_assert_eq(mend_loop_after(w.loop, 10, dump_from_timer, &p, &timer), MEND_OK);
  cr_assert_eq(mend_clock_advance(w.clock, 1000), MEND_OK);
  char call[80];
  snprintf(call, sizeof call, "under way: the driver or timer 0x%llx\n", (unsigned long long)(uintptr_t)timer);
  cr_assert_not_null(strstr(p.from_timer, call), "%s", p.from_timer);
  mend_timer_cancel(&timer);
  mend_free(&w.allocator.base, p.from_timer);
  mend_free(&w.allocator.base, p.from_posted);
  close_world(&w);
}

/* ---- Without memory ---- */

Test(loop_dump, without_memory_changes_nothing) {
  world w;
  open_world(&w, OWN_THREAD_VIRTUAL);
  uint64_t never_ns = MEND_NEVER;
  const mend_clock_driver driver = {sizeof driver, say_when, run_once, &never_ns};
  mend_waker waker;
  cr_assert_eq(mend_loop_add_driver(w.loop, &driver, &waker), MEND_OK);
  const size_t blocks = atomic_load(&w.allocator.blocks);
  mend_status status = MEND_ENOMEM;
  for (size_t fail_at = 1; status != MEND_OK; fail_at++) {
    char *text = NULL;
    mend_test_allocator_arm(&w.allocator, fail_at, false);
    status = mend_loop_dump(w.loop, &w.allocator.base, &text);
    const bool failed = mend_test_allocator_failed(&w.allocator);
    cr_assert_eq(status, failed ? MEND_ENOMEM : MEND_OK, "allocation %zu", fail_at);
    cr_assert_eq(text == NULL, failed);
    mend_free(&w.allocator.base, text);
    cr_assert_eq(atomic_load(&w.allocator.blocks), blocks);
  }
  mend_test_allocator_arm(&w.allocator, 0, false);
  cr_assert_eq(mend_loop_remove_driver(w.loop, &never_ns), MEND_OK);
  close_world(&w);
}

/* ---- While others use it ---- */

enum { ROUNDS = 1000 };

typedef struct user {
  world *world;
  atomic_uint *working;
} user;

static void *post_and_arm(void *ctx) {
  const user *u = ctx;
  for (int i = 0; i < ROUNDS; i++) {
    mend_timer *timer = NULL;
    mend_loop_post(u->world->loop, do_little, NULL);
    mend_loop_after(u->world->loop, (uint64_t)i * 100, do_little, NULL, &timer);
    mend_timer_cancel(&timer);
  }
  watched w = {.world = u->world, .fd = eventfd(0, EFD_CLOEXEC)};
  for (int i = 0; i < ROUNDS / 10; i++) {
    call(&w, watch_now, true, false);
    call(&w, want_now, false, false);
    call(&w, unwatch_now, false, false);
  }
  close(w.fd);
  atomic_fetch_sub(u->working, 1);
  return NULL;
}

Test(loop_dump, while_others_use_it) {
  for (world_kind kind = 0; kind < WORLD_KINDS; kind++) {
    world w;
    open_world(&w, kind);
    atomic_uint working = 2;
    user u = {&w, &working};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
      cr_assert_eq(pthread_create(&threads[i], NULL, post_and_arm, &u), 0);
    do {
      char *text = dump_of(&w);
      cr_assert_not_null(strstr(text, is_virtual_kind(kind) ? "\nvirtual clock: " : "\nreal clock: "));
      mend_free(&w.allocator.base, text);
    } while (atomic_load(&working) > 0);
    for (int i = 0; i < 2; i++)
      pthread_join(threads[i], NULL);
    close_world(&w);
  }
}
