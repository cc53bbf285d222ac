/* Seeded random schedules: three threads add, remove, arm, cancel, post, wake and advance as they like. */
#include "loop/world.h"

enum { SCHEDULES = 1000, PLAYERS = 3, STEPS = 24, SLOTS = 3 };

typedef struct stage {
  world world;
  atomic_uint in_calls;            /* on the loop's thread, one at a time */
  atomic_uint overlaps, elsewhere; /* what must not be */
  atomic_uint late, twice, out_of_order, failures;
} stage;

static void enter(stage *s) {
  if (atomic_fetch_add(&s->in_calls, 1) != 0) atomic_fetch_add(&s->overlaps, 1);
  if (!mend_loop_is_here(s->world.loop)) atomic_fetch_add(&s->elsewhere, 1);
}

static void leave(stage *s) { atomic_fetch_sub(&s->in_calls, 1); }

static void expect(stage *s, mend_status status, mend_status expected) {
  if (status != expected) atomic_fetch_add(&s->failures, 1);
}

/* ---- What the players have: plain fields where only removing or cancelling orders the accesses ---- */

typedef struct actor { /* a driver */
  stage *stage;
  mend_waker waker;
  atomic_uint_least64_t due_ns;
  bool alive;
} actor;

typedef struct bell { /* a timer */
  stage *stage;
  mend_timer *timer;
  unsigned rings;
  bool alive;
} bell;

typedef struct player {
  stage *stage;
  uint64_t random;
  actor actors[SLOTS];
  bell bells[SLOTS];
  unsigned posted, handled; /* `handled` is the loop's */
} player;

static unsigned draw(player *p, unsigned below) { /* xorshift64* */
  p->random ^= p->random >> 12;
  p->random ^= p->random << 25;
  p->random ^= p->random >> 27;
  return (unsigned)((p->random * UINT64_C(2685821657736338717)) >> 33) % below;
}

/* ---- On the loop ---- */

static uint64_t actor_next(void *ctx) {
  actor *a = ctx;
  enter(a->stage);
  if (!a->alive) atomic_fetch_add(&a->stage->late, 1);
  leave(a->stage);
  return atomic_load(&a->due_ns);
}

static void actor_run(void *ctx, uint64_t now_ns) {
  actor *a = ctx;
  (void)now_ns;
  enter(a->stage);
  if (!a->alive) atomic_fetch_add(&a->stage->late, 1);
  atomic_store(&a->due_ns, MEND_NEVER);
  leave(a->stage);
}

static void ring(void *ctx) {
  bell *b = ctx;
  enter(b->stage);
  if (!b->alive) atomic_fetch_add(&b->stage->late, 1);
  if (b->rings++ > 0) atomic_fetch_add(&b->stage->twice, 1);
  leave(b->stage);
}

typedef struct note {
  player *player;
  unsigned number;
} note;

static void handle(void *ctx) {
  const note *n = ctx;
  enter(n->player->stage);
  if (n->number != ++n->player->handled) atomic_fetch_add(&n->player->stage->out_of_order, 1);
  leave(n->player->stage);
}

/* ---- What a player may do ---- */

static uint64_t soon(player *p) {
  return mend_clock_now(mend_loop_clock(p->stage->world.loop)).mono_ns + draw(p, 3000);
}

static void turn_actor(player *p) {
  actor *a = &p->actors[draw(p, SLOTS)];
  mend_loop *loop = p->stage->world.loop;
  if (a->alive) {
    expect(p->stage, mend_loop_remove_driver(loop, a), MEND_OK);
    a->alive = false;
    return;
  }
  const mend_clock_driver driver = {sizeof driver, actor_next, actor_run, a};
  *a = (actor){.stage = p->stage, .alive = true};
  atomic_init(&a->due_ns, draw(p, 2) ? soon(p) : MEND_NEVER);
  expect(p->stage, mend_loop_add_driver(loop, &driver, &a->waker), MEND_OK);
}

static void wake_actor(player *p) {
  actor *a = &p->actors[draw(p, SLOTS)];
  if (!a->alive) return;
  atomic_store(&a->due_ns, soon(p));
  a->waker.wake(a->waker.ctx);
}

static void turn_bell(player *p) {
  bell *b = &p->bells[draw(p, SLOTS)];
  if (b->alive) {
    mend_timer_cancel(&b->timer);
    b->alive = false;
    return;
  }
  *b = (bell){.stage = p->stage, .alive = true};
  expect(p->stage, mend_loop_after(p->stage->world.loop, draw(p, 3000), ring, b, &b->timer), MEND_OK);
}

static void post(player *p, note notes[STEPS]) {
  note *n = &notes[p->posted];
  *n = (note){p, ++p->posted};
  expect(p->stage, mend_loop_post(p->stage->world.loop, handle, n), MEND_OK);
}

static void pass_time(player *p) {
  mend_clock *clock = p->stage->world.clock;
  if (clock == NULL) {
    sched_yield();
  } else {
    expect(p->stage, mend_clock_advance(clock, draw(p, 2000)), MEND_OK);
  }
}

static void play_step(player *p, note notes[STEPS]) {
  switch (draw(p, 8)) {
  case 0:
  case 1: turn_actor(p); break;
  case 2: wake_actor(p); break;
  case 3:
  case 4: turn_bell(p); break;
  case 5: post(p, notes); break;
  default: pass_time(p); break;
  }
}

/* The even players leave their drivers to the end of the loop. */
static void clear_stage(player *p, unsigned number) {
  for (size_t i = 0; i < SLOTS; i++) {
    mend_timer_cancel(&p->bells[i].timer);
    if (p->actors[i].alive && number % 2 != 0) {
      expect(p->stage, mend_loop_remove_driver(p->stage->world.loop, &p->actors[i]), MEND_OK);
      p->actors[i].alive = false;
    }
  }
}

typedef struct part {
  player player;
  unsigned number;
  note notes[STEPS];
} part;

static void *play(void *ctx) {
  part *mine = ctx;
  for (int i = 0; i < STEPS; i++)
    play_step(&mine->player, mine->notes);
  clear_stage(&mine->player, mine->number);
  return NULL;
}

static void play_schedule(uint64_t seed) {
  stage s = {.failures = 0};
  part parts[PLAYERS];
  pthread_t threads[PLAYERS];
  open_world(&s.world, (world_kind)(seed % WORLD_KINDS));
  for (unsigned i = 0; i < PLAYERS; i++) {
    parts[i] = (part){.player = {.stage = &s, .random = (seed + 1) * 7919 + i + 1}, .number = i};
    cr_assert_eq(pthread_create(&threads[i], NULL, play, &parts[i]), 0);
  }
  for (unsigned i = 0; i < PLAYERS; i++)
    pthread_join(threads[i], NULL);
  close_world(&s.world);
  for (unsigned i = 0; i < PLAYERS; i++)
    cr_assert_eq(parts[i].player.handled, parts[i].player.posted, "seed %u", (unsigned)seed);
  cr_assert_eq(atomic_load(&s.overlaps), 0u, "seed %u", (unsigned)seed);
  cr_assert_eq(atomic_load(&s.elsewhere), 0u, "seed %u", (unsigned)seed);
  cr_assert_eq(atomic_load(&s.late), 0u, "seed %u", (unsigned)seed);
  cr_assert_eq(atomic_load(&s.twice), 0u, "seed %u", (unsigned)seed);
  cr_assert_eq(atomic_load(&s.out_of_order), 0u, "seed %u", (unsigned)seed);
  cr_assert_eq(atomic_load(&s.failures), 0u, "seed %u", (unsigned)seed);
}

Test(loop_schedules, whatever_three_threads_do) {
  for (uint64_t seed = 0; seed < SCHEDULES; seed++)
    play_schedule(seed);
}
