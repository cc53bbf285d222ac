#include "loop/world.h"

/* ---- In the order of posting ---- */

enum { POSTERS = 3, POSTS = 500 };

typedef struct post_office {
  world world;
  atomic_uint failures;
  /* Only the loop's thread: */
  unsigned handled, out_of_order, elsewhere;
  unsigned last[POSTERS];
} post_office;

typedef struct letter {
  post_office *office;
  unsigned poster, number;
} letter;

static void handle(void *ctx) {
  const letter *l = ctx;
  post_office *office = l->office;
  if (!mend_loop_is_here(office->world.loop)) office->elsewhere++;
  if (l->number != office->last[l->poster] + 1) office->out_of_order++;
  office->last[l->poster] = l->number;
  office->handled++;
}

typedef struct poster {
  post_office *office;
  unsigned number;
  letter letters[POSTS];
} poster;

static void *post_all(void *ctx) {
  poster *p = ctx;
  for (unsigned i = 0; i < POSTS; i++) {
    p->letters[i] = (letter){p->office, p->number, i + 1};
    if (mend_loop_post(p->office->world.loop, handle, &p->letters[i]) != MEND_OK)
      atomic_fetch_add(&p->office->failures, 1);
  }
  return NULL;
}

Test(loop_posted, runs_in_order_from_several_threads) {
  for (world_kind kind = 0; kind < WORLD_KINDS; kind++) {
    static poster posters[POSTERS];
    post_office office = {.handled = 0};
    pthread_t threads[POSTERS];
    open_world(&office.world, kind);
    for (unsigned i = 0; i < POSTERS; i++) {
      posters[i] = (poster){.office = &office, .number = i};
      cr_assert_eq(pthread_create(&threads[i], NULL, post_all, &posters[i]), 0);
    }
    for (unsigned i = 0; i < POSTERS; i++)
      pthread_join(threads[i], NULL);
    flush(office.world.loop);
    cr_assert(!mend_loop_is_here(office.world.loop));
    cr_assert_eq(atomic_load(&office.failures), 0u);
    cr_assert_eq(office.handled, (unsigned)POSTERS * POSTS, "kind %d", (int)kind);
    cr_assert_eq(office.out_of_order, 0u, "kind %d", (int)kind);
    cr_assert_eq(office.elsewhere, 0u, "kind %d", (int)kind);
    close_world(&office.world);
  }
}

/* ---- Posting from a posted function ---- */

typedef struct chain {
  mend_loop *loop;
  char log[8];
  size_t len;
  mend_status posted;
} chain;

static void note(chain *c, char what) { c->log[c->len++] = what; }
static void note_c(void *ctx) { note(ctx, 'c'); }

static void post_then_note_a(void *ctx) {
  chain *c = ctx;
  c->posted = mend_loop_post(c->loop, note_c, c);
  note(c, 'a');
}

static void note_b(void *ctx) { note(ctx, 'b'); }

Test(loop_posted, what_is_posted_meanwhile_comes_last) {
  world w;
  begin_world(&w);
  struct event_base *base = new_precise_base();
  chain c = {.loop = new_loop(&w, base), .posted = MEND_EFAILED};
  cr_assert_eq(mend_loop_post(c.loop, post_then_note_a, &c), MEND_OK);
  cr_assert_eq(mend_loop_post(c.loop, note_b, &c), MEND_OK);
  cr_assert_str_eq(c.log, "", "posting runs nothing");
  event_base_loop(base, EVLOOP_ONCE);
  cr_assert_str_eq(c.log, "ab", "one turn is one round");
  cr_assert_eq(c.posted, MEND_OK);
  event_base_loop(base, EVLOOP_ONCE);
  cr_assert_str_eq(c.log, "abc");
  mend_loop_release(c.loop);
  event_base_free(base);
  check_nothing_left(&w);
}

/* ---- At the end ---- */

typedef struct last_will {
  world world;
  gate gate;
  mend_status posted, armed, added;
  unsigned ran;
} last_will;

static void count(void *ctx) { ((last_will *)ctx)->ran++; }

static uint64_t never(void *ctx) {
  (void)ctx;
  return MEND_NEVER;
}

static void run_never(void *ctx, uint64_t now_ns) { (void)ctx, (void)now_ns; }

static void wait_then_try_everything(void *ctx) {
  last_will *will = ctx;
  mend_loop *loop = will->world.loop;
  gate_await(&will->gate, 1);
  while ((will->posted = mend_loop_post(loop, count, will)) == MEND_OK) /* until the last reference has gone */
    sched_yield();
  mend_timer *timer = NULL;
  mend_waker waker;
  const mend_clock_driver driver = {sizeof driver, never, run_never, will};
  will->armed = mend_loop_after(loop, 1, count, will, &timer);
  will->added = mend_loop_add_driver(loop, &driver, &waker);
  mend_loop_release(mend_loop_retain(loop)); /* does not end it twice */
}

static void *let_the_function_go_on(void *ctx) {
  gate_reach(ctx, 1);
  return NULL;
}

Test(loop_posted, runs_at_the_end_and_is_refused_afterwards) {
  for (world_kind kind = OWN_THREAD; kind <= OWN_THREAD_VIRTUAL; kind++) {
    last_will will = {.gate = GATE_INIT};
    open_world(&will.world, kind);
    mend_loop_post(will.world.loop, wait_then_try_everything, &will);
    for (int i = 0; i < 10; i++)
      mend_loop_post(will.world.loop, count, &will);
    pthread_t other;
    cr_assert_eq(pthread_create(&other, NULL, let_the_function_go_on, &will.gate), 0);
    close_world(&will.world);
    pthread_join(other, NULL);
    cr_assert(will.ran >= 10u, "kind %d: %u ran", (int)kind, will.ran);
    cr_assert_eq(will.posted, MEND_ECLOSED);
    cr_assert_eq(will.armed, MEND_ECLOSED);
    cr_assert_eq(will.added, MEND_ECLOSED);
  }
}
