#include "hook_world.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/resource.h>

#define HOUR_NS (3600 * MEND_SECOND_NS)
#define START_NS (1000 * MEND_SECOND_NS)

static mend_token *new_token(mend_clock *clock) {
  mend_token *token;
  cr_assert_eq(mend_token_new(NULL, clock, &token), MEND_OK);
  return token;
}

/* ---- Cancelling and its reason ---- */

#define X50 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define X250 X50 X50 X50 X50 X50

Test(token, is_cancelled_once) {
  static const struct {
    const char *given, *kept;
  } rows[] = {
      {"stall: no answer", "stall: no answer"},
      {"", ""},
      {NULL, ""},
      {X250 "12345", X250 "12345"},
      {X250 "123456", X250 "12345"},
      {X250 "1234\xC3\xA4", X250 "1234"}, /* never half a character */
      {X250 "\xF0\x9F\x98\x80zz", X250 "\xF0\x9F\x98\x80z"},
      {X250 X250, X250 "xxxxx"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    mend_token *token = new_token(NULL);
    cr_assert(!mend_token_is_cancelled(token));
    cr_assert(text_is(mend_token_reason(token), NULL));
    char *given = rows[i].given != NULL ? strdup(rows[i].given) : NULL;
    mend_token_cancel(token, mend_str_from(given));
    free(given);
    cr_assert(mend_token_is_cancelled(token));
    cr_assert(text_is(mend_token_reason(token), rows[i].kept), "row %zu", i);
    mend_token_cancel(token, MEND_STR("later"));
    cr_assert(text_is(mend_token_reason(token), rows[i].kept), "row %zu", i);
    cr_assert_eq(mend_token_retain(token), token);
    mend_token_release(token);
    mend_token_release(token);
  }
  mend_token_release(NULL);
}

/* ---- The descriptor ---- */

static bool is_readable(int fd) {
  struct pollfd asked = {.fd = fd, .events = POLLIN};
  return poll(&asked, 1, 0) == 1 && (asked.revents & POLLIN) != 0;
}

Test(token, descriptor_is_readable_when_cancelled) {
  const size_t open_files = mend_test_open_files();
  static const struct { bool before, after; } rows[] = {{true, false}, {false, true}, {true, true}, {false, false}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    mend_token *token = new_token(NULL);
    cr_assert_eq(mend_test_open_files(), open_files, "none is made before it is asked for");
    int first = -1, second = -1;
    if (rows[i].before) {
      cr_assert_eq(mend_token_fd(token, &first), MEND_OK);
      cr_assert(!is_readable(first));
      cr_assert((fcntl(first, F_GETFD) & FD_CLOEXEC) != 0);
    }
    mend_token_cancel(token, MEND_STR("why"));
    if (rows[i].before) cr_assert(is_readable(first));
    if (rows[i].after) {
      cr_assert_eq(mend_token_fd(token, &second), MEND_OK);
      cr_assert(is_readable(second));
      cr_assert(!rows[i].before || first == second);
    }
    mend_token_release(token);
    cr_assert_eq(mend_test_open_files(), open_files, "row %zu", i);
  }

  /* none to be had: an error, and the next time it is tried again */
  mend_token *token = new_token(NULL);
  int fd = -1;
  struct rlimit usual, none;
  cr_assert_eq(getrlimit(RLIMIT_NOFILE, &usual), 0);
  none = usual;
  none.rlim_cur = 0;
  cr_assert_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
  const mend_status status = mend_token_fd(token, &fd);
  cr_assert_eq(setrlimit(RLIMIT_NOFILE, &usual), 0);
  cr_assert_eq(status, MEND_EIO);
  cr_assert_eq(fd, -1);
  cr_assert_eq(mend_token_fd(token, &fd), MEND_OK);
  mend_token_cancel(token, MEND_STR("why"));
  cr_assert(is_readable(fd));
  mend_token_release(token);
}

/* ---- Being told, on one thread ---- */

typedef struct told {
  mend_token *token;
  char log[32];
  size_t count;
} told;

/* A function that leaves its letter, and what else it does. */
typedef struct listener {
  told *all;
  char letter;
  void (*act)(struct listener *self);
  uint64_t id, other;
} listener;

static void hear(void *ctx) {
  listener *self = ctx;
  self->all->log[self->all->count++] = self->letter;
  if (self->act != NULL) self->act(self);
}

static void forget_self(listener *self) { mend_token_forget(self->all->token, self->id); }
static void forget_other(listener *self) { mend_token_forget(self->all->token, self->other); }
static void cancel_again(listener *self) { mend_token_cancel(self->all->token, MEND_STR("again")); }
static void drop_token(listener *self) { mend_token_release(self->all->token); }
static void wait_long(listener *self) {
  if (mend_token_wait(self->all->token, MEND_NEVER) != MEND_ECANCELLED) self->all->log[self->all->count++] = '!';
}
static void add_another(listener *self) {
  static listener another;
  another = (listener){.all = self->all, .letter = 'z', .act = forget_self};
  mend_token_on_cancel(self->all->token, hear, &another, &another.id);
}

Test(token, tells_each_once) {
  static const struct {
    void (*acts[3])(listener *self);
    int other[3];  /* of each, whom forget_other forgets */
    int forgotten; /* before it is cancelled; -1: none */
    const char *heard;
  } rows[] = {
      {{NULL, NULL, NULL}, {0, 0, 0}, -1, "abc"},
      {{NULL, NULL, NULL}, {0, 0, 0}, 0, "bc"},
      {{NULL, NULL, NULL}, {0, 0, 0}, 1, "ac"},
      {{NULL, NULL, NULL}, {0, 0, 0}, 2, "ab"},
      {{forget_self, forget_self, forget_self}, {0, 0, 0}, -1, "abc"},
      {{forget_other, NULL, NULL}, {1, 0, 0}, -1, "ac"},
      {{forget_other, NULL, NULL}, {2, 0, 0}, -1, "ab"},
      {{NULL, forget_other, forget_other}, {0, 2, 0}, -1, "ab"},
      {{NULL, NULL, forget_other}, {0, 0, 0}, -1, "abc"},
      {{cancel_again, NULL, NULL}, {0, 0, 0}, -1, "abc"},
      {{NULL, wait_long, NULL}, {0, 0, 0}, -1, "abc"},
      {{NULL, add_another, NULL}, {0, 0, 0}, -1, "abzc"},
      {{NULL, drop_token, NULL}, {0, 0, 0}, -1, "abc"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    told all = {.token = new_token(NULL)};
    listener listeners[3];
    for (int l = 0; l < 3; l++) {
      listeners[l] = (listener){.all = &all, .letter = (char)('a' + l), .act = rows[i].acts[l]};
      cr_assert_eq(mend_token_on_cancel(all.token, hear, &listeners[l], &listeners[l].id), MEND_OK);
    }
    for (int l = 0; l < 3; l++)
      listeners[l].other = listeners[rows[i].other[l]].id;
    if (rows[i].forgotten >= 0) mend_token_forget(all.token, listeners[rows[i].forgotten].id);
    if (rows[i].acts[1] == add_another) mend_token_forget(all.token, 0);
    mend_token_cancel(all.token, MEND_STR("why"));
    cr_assert_str_eq(all.log, rows[i].heard, "row %zu", i);
    if (rows[i].acts[1] != drop_token) {
      cr_assert(text_is(mend_token_reason(all.token), "why"));
      mend_token_cancel(all.token, MEND_STR("again"));
      for (int l = 0; l < 3; l++)
        mend_token_forget(all.token, listeners[l].id);
      mend_token_release(all.token);
    }
    cr_assert_str_eq(all.log, rows[i].heard, "once, row %zu", i);
  }
}

Test(token, tells_at_once_what_comes_late_and_nothing_when_it_is_never_cancelled) {
  mend_test_allocator memory;
  mend_test_allocator_init(&memory);
  told all = {.count = 0};
  cr_assert_eq(mend_token_new(&memory.base, NULL, &all.token), MEND_OK);
  listener early = {.all = &all, .letter = 'e'}, late = {.all = &all, .letter = 'l', .act = forget_self};
  cr_assert_eq(mend_token_on_cancel(all.token, hear, &early, NULL), MEND_OK);
  mend_token_cancel(all.token, MEND_STR("why"));
  cr_assert_eq(mend_token_on_cancel(all.token, hear, &late, &late.id), MEND_OK);
  cr_assert_str_eq(all.log, "el");
  mend_token_forget(all.token, late.id);
  mend_token_release(all.token);

  cr_assert_eq(mend_token_new(&memory.base, NULL, &all.token), MEND_OK);
  for (int i = 0; i < 3; i++)
    cr_assert_eq(mend_token_on_cancel(all.token, hear, &early, NULL), MEND_OK);
  mend_token_release(all.token);
  cr_assert_str_eq(all.log, "el");
  cr_assert_eq(atomic_load(&memory.blocks), 0u);
}

/* ---- Forgetting what runs on another thread ---- */

static void *count_threads(void *ret_count) {
  *(size_t *)ret_count = mend_test_threads() - 1;
  return NULL;
}

/* How many there are besides one that is started for it: a sanitizer starts one of its own with the first. */
static size_t threads_now(void) {
  size_t count;
  pthread_t thread;
  cr_assert_eq(pthread_create(&thread, NULL, count_threads, &count), 0);
  pthread_join(thread, NULL);
  return count;
}

typedef struct slow {
  mend_token *token;
  uint64_t id;
  atomic_bool entered, may_leave, left, forgotten, forgotten_early;
} slow;

static void be_slow(void *ctx) {
  slow *self = ctx;
  atomic_store(&self->entered, true);
  while (!atomic_load(&self->may_leave))
    sched_yield();
  if (atomic_load(&self->forgotten)) atomic_store(&self->forgotten_early, true);
  atomic_store(&self->left, true);
}

static void *cancel_slowly(void *ctx) {
  mend_token_cancel(((slow *)ctx)->token, MEND_STR("why"));
  return NULL;
}

/* It is cancelled already. */
static void *ask_late(void *ctx) {
  slow *self = ctx;
  if (mend_token_on_cancel(self->token, be_slow, self, &self->id) != MEND_OK) abort();
  return NULL;
}

static void *forget_slowly(void *ctx) {
  slow *self = ctx;
  mend_token_forget(self->token, self->id);
  atomic_store(&self->forgotten, true);
  return atomic_load(&self->left) ? self : NULL;
}

static void begin_to_run(slow *self, void *(*cause)(void *ctx), pthread_t *ret_thread) {
  cr_assert_eq(pthread_create(ret_thread, NULL, cause, self), 0);
  while (!atomic_load(&self->entered))
    sched_yield();
}

/* On the canceller's thread, or on that of somebody who came too late; not for another function that runs too. */
Test(token, forget_waits_for_what_runs) {
  const size_t threads_before = threads_now();
  for (int round = 0; round < 50; round++) {
    slow self = {.token = new_token(NULL)}, other = {.token = self.token};
    const bool is_late = round % 2 != 0;
    pthread_t canceller, another, forgetter;
    void *fine;
    if (is_late) {
      mend_token_cancel(self.token, MEND_STR("why"));
      begin_to_run(&other, ask_late, &another);
    } else {
      cr_assert_eq(mend_token_on_cancel(self.token, be_slow, &self, &self.id), MEND_OK);
    }
    begin_to_run(&self, is_late ? ask_late : cancel_slowly, &canceller);
    cr_assert_eq(pthread_create(&forgetter, NULL, forget_slowly, &self), 0);
    mend_token_forget(self.token, self.id + 2); /* nobody */
    for (int i = 0; i < round; i++)
      sched_yield();
    atomic_store(&self.may_leave, true);
    pthread_join(forgetter, &fine);
    pthread_join(canceller, NULL);
    cr_assert_not_null(fine, "it returned before the function did");
    cr_assert(!atomic_load(&self.forgotten_early));
    atomic_store(&other.may_leave, true);
    if (is_late) pthread_join(another, NULL);
    mend_token_release(self.token);
  }
  cr_assert(mend_test_threads_are(threads_before));
}

/* ---- Waiting ---- */

typedef struct waiting {
  mend_token *token;
  mend_clock *clock;
  uint64_t ns;
  mend_status status;
  uint64_t returned_ns;
  atomic_bool returned;
} waiting;

static void *wait_here(void *ctx) {
  waiting *self = ctx;
  self->status = mend_token_wait(self->token, self->ns);
  self->returned_ns = mend_clock_now(self->clock).mono_ns;
  atomic_store(&self->returned, true);
  return NULL;
}

static mend_clock *new_clock(mend_test_allocator *memory) {
  mend_clock *clock;
  mend_test_allocator_init(memory);
  const mend_time start = {START_NS, START_NS};
  cr_assert_eq(mend_clock_new_virtual(&memory->base, start, &clock), MEND_OK);
  return clock;
}

/* A clock of its own asks for memory when its first driver comes: from then on the waiter is not missed. */
static void wait_for_waiter(mend_test_allocator *clock_memory) {
  while (atomic_load(&clock_memory->calls) == 0)
    sched_yield();
}

Test(token, a_wait_ends_when_its_time_has_passed_or_by_cancelling) {
  static const struct {
    uint64_t wait_ns, steps_ns[3]; /* the clock is advanced by each of these, 0 at the end */
    bool cancelled;                /* then it is cancelled */
    mend_status status;
    uint64_t returned_ns; /* after START_NS */
  } rows[] = {
      {HOUR_NS, {HOUR_NS, 0, 0}, false, MEND_OK, HOUR_NS},
      {HOUR_NS, {HOUR_NS - 1, 1, 0}, false, MEND_OK, HOUR_NS},
      {HOUR_NS, {HOUR_NS / 2, HOUR_NS / 2 - 1, 1}, false, MEND_OK, HOUR_NS},
      {1, {1, 0, 0}, false, MEND_OK, 1},
      {HOUR_NS, {0, 0, 0}, true, MEND_ECANCELLED, 0},
      {HOUR_NS, {HOUR_NS - 1, 0, 0}, true, MEND_ECANCELLED, HOUR_NS - 1},
  };
  const size_t threads_before = threads_now();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    mend_test_allocator memory;
    waiting self = {.clock = new_clock(&memory), .ns = rows[i].wait_ns};
    self.token = new_token(self.clock);
    mend_test_allocator_arm(&memory, 0, false);
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, wait_here, &self), 0);
    wait_for_waiter(&memory);
    for (int step = 0; step < 3 && rows[i].steps_ns[step] > 0; step++) {
      cr_assert(!atomic_load(&self.returned), "row %zu", i);
      cr_assert_eq(mend_clock_advance(self.clock, rows[i].steps_ns[step]), MEND_OK);
    }
    if (rows[i].cancelled) mend_token_cancel(self.token, MEND_STR("why"));
    pthread_join(thread, NULL);
    cr_assert_eq(self.status, rows[i].status, "row %zu", i);
    cr_assert_eq(self.returned_ns, START_NS + rows[i].returned_ns, "row %zu", i);
    mend_token_release(self.token);
    mend_clock_release(self.clock);
    cr_assert_eq(atomic_load(&memory.blocks), 0u);
  }
  cr_assert(mend_test_threads_are(threads_before));
}

/* Far beyond it in one step, the waiter is called at its time, not at the end. */
Test(token, advancing_calls_the_waiter_at_its_time) {
  mend_test_allocator memory;
  waiting self = {.clock = new_clock(&memory), .ns = HOUR_NS};
  self.token = new_token(self.clock);
  mend_test_allocator_arm(&memory, 0, false);
  pthread_t thread;
  cr_assert_eq(pthread_create(&thread, NULL, wait_here, &self), 0);
  wait_for_waiter(&memory);
  cr_assert_eq(mend_clock_advance(self.clock, 1000 * HOUR_NS), MEND_OK);
  pthread_join(thread, NULL);
  cr_assert_eq(self.status, MEND_OK);
  cr_assert(self.returned_ns >= START_NS + HOUR_NS);
  mend_token_release(self.token);

  /* several tokens and waits on one clock, advanced in small steps: none returns early */
  enum { WAITERS = 8 };
  waiting many[WAITERS];
  pthread_t threads[WAITERS];
  mend_token *shared = new_token(self.clock);
  const uint64_t start_ns = mend_clock_now(self.clock).mono_ns;
  for (unsigned i = 0; i < WAITERS; i++) {
    many[i] = (waiting){.clock = self.clock, .ns = i * MEND_SECOND_NS};
    many[i].token = i % 2 == 0 ? mend_token_retain(shared) : new_token(self.clock);
    cr_assert_eq(pthread_create(&threads[i], NULL, wait_here, &many[i]), 0);
  }
  for (unsigned i = 0; i < WAITERS; i++) {
    while (!atomic_load(&many[i].returned)) {
      cr_assert_eq(mend_clock_advance(self.clock, MEND_SECOND_NS / 4), MEND_OK);
      sched_yield();
    }
    pthread_join(threads[i], NULL);
    cr_assert_eq(many[i].status, MEND_OK);
    cr_assert(many[i].returned_ns >= start_ns + many[i].ns, "waiter %u", i);
    mend_token_release(many[i].token);
  }
  mend_token_release(shared);
  mend_clock_release(self.clock);
  cr_assert_eq(atomic_load(&memory.blocks), 0u);
}

static void *cancel_here(void *ctx) {
  mend_token_cancel(((waiting *)ctx)->token, MEND_STR("why"));
  return NULL;
}

Test(token, waits_that_do_not_wait) {
  mend_test_allocator memory;
  mend_clock *const virtual_clock = new_clock(&memory);
  mend_clock *const clocks[] = {mend_clock_real(), virtual_clock, virtual_clock};
  for (int i = 0; i < 3; i++) {
    if (i == 2) mend_clock_advance(virtual_clock, MEND_NEVER); /* to its end */
    mend_token *token = new_token(clocks[i]);
    cr_assert_eq(mend_token_wait(token, 0), MEND_OK);
    cr_assert_eq(mend_token_wait(token, 0), MEND_OK);
    mend_token_cancel(token, MEND_STR("why"));
    static const uint64_t times[] = {0, 1, HOUR_NS, MEND_NEVER - 1, MEND_NEVER};
    for (size_t t = 0; t < sizeof times / sizeof *times; t++)
      cr_assert_eq(mend_token_wait(token, times[t]), MEND_ECANCELLED);
    mend_token_release(token);
  }

  /* real time: a millisecond passes; an hour, and forever, are cut short */
  mend_token *token = new_token(NULL);
  const uint64_t start_ns = mend_clock_now(mend_clock_real()).mono_ns;
  cr_assert_eq(mend_token_wait(token, 1000000), MEND_OK);
  cr_assert(mend_clock_now(mend_clock_real()).mono_ns - start_ns >= 1000000);
  mend_token_release(token);
  static const uint64_t long_times[] = {HOUR_NS, MEND_NEVER - 1, MEND_NEVER};
  for (size_t i = 0; i < sizeof long_times / sizeof *long_times; i++) {
    for (int clock = 0; clock < 2; clock++) {
      waiting self = {.clock = clocks[clock], .token = new_token(clocks[clock])};
      pthread_t thread;
      cr_assert_eq(pthread_create(&thread, NULL, cancel_here, &self), 0);
      cr_assert_eq(mend_token_wait(self.token, long_times[i]), MEND_ECANCELLED);
      pthread_join(thread, NULL);
      mend_token_release(self.token);
    }
  }
  mend_clock_release(virtual_clock);
  cr_assert_eq(atomic_load(&memory.blocks), 0u);
}

/* ---- Out of memory ---- */

Test(token, out_of_memory) {
  mend_test_allocator memory, clock_memory;
  mend_test_allocator_init(&memory);
  mend_clock *clock = new_clock(&clock_memory);
  mend_token *token = NULL;
  mend_test_allocator_arm(&memory, 1, false);
  cr_assert_eq(mend_token_new(&memory.base, clock, &token), MEND_ENOMEM);
  cr_assert_null(token);
  cr_assert_eq(mend_token_new(&memory.base, clock, &token), MEND_OK);

  told all = {.token = token};
  listener listeners[2] = {{.all = &all, .letter = 'a', .id = 77}, {.all = &all, .letter = 'b'}};
  mend_test_allocator_arm(&memory, 1, false);
  cr_assert_eq(mend_token_on_cancel(token, hear, &listeners[0], &listeners[0].id), MEND_ENOMEM);
  cr_assert_eq(listeners[0].id, 77u);
  cr_assert_eq(mend_token_on_cancel(token, hear, &listeners[1], &listeners[1].id), MEND_OK);

  mend_test_allocator_arm(&clock_memory, 1, false);
  cr_assert_eq(mend_token_wait(token, HOUR_NS), MEND_ENOMEM);
  cr_assert_eq(mend_token_wait(token, 0), MEND_OK);
  mend_test_allocator_arm(&memory, 1, true);
  mend_token_cancel(token, MEND_STR("needs no memory"));
  cr_assert_str_eq(all.log, "b");
  cr_assert(text_is(mend_token_reason(token), "needs no memory"));
  mend_token_release(token);
  mend_clock_release(clock);
  cr_assert_eq(atomic_load(&memory.blocks), 0u);
  cr_assert_eq(atomic_load(&clock_memory.blocks), 0u);
}

/* ---- A thousand schedules ---- */

enum { SCHEDULES = 1000, ACTORS = 3, STEPS = 6 };

/* A function that was added: it may be called once, and not after it was forgotten. */
typedef struct entry {
  uint64_t id;
  atomic_uint calls;
  atomic_bool forgotten;
  bool is_forgotten; /* by its actor */
} entry;

typedef struct schedule {
  mend_token *token;
  mend_clock *clock;
  atomic_uint ready, working, faults;
} schedule;

typedef struct actor {
  schedule *shared;
  uint64_t random;
  bool cancels;
  entry entries[STEPS];
  unsigned count;
} actor;

static uint32_t draw(actor *self, uint32_t below) {
  self->random = self->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(self->random >> 33) % below;
}

static void note_call(void *ctx) {
  entry *self = ctx;
  atomic_fetch_add(&self->calls, atomic_load(&self->forgotten) ? 100 : 1);
}

static void add_entry(actor *self) {
  entry *added = &self->entries[self->count];
  if (mend_token_on_cancel(self->shared->token, note_call, added, &added->id) == MEND_OK) self->count++;
}

static void forget_entry(actor *self) {
  if (self->count == 0) return;
  entry *forgotten = &self->entries[draw(self, self->count)];
  mend_token_forget(self->shared->token, forgotten->id);
  atomic_store(&forgotten->forgotten, true);
  forgotten->is_forgotten = true;
}

static void wait_a_while(actor *self) {
  static const uint64_t times[] = {0, 1, 1000, MEND_SECOND_NS};
  const mend_status status = mend_token_wait(self->shared->token, times[draw(self, 4)]);
  if (status != MEND_OK && status != MEND_ECANCELLED) atomic_fetch_add(&self->shared->faults, 1);
}

static void look(actor *self) {
  mend_token *token = mend_token_retain(self->shared->token);
  const bool cancelled = mend_token_is_cancelled(token);
  int fd;
  if (cancelled && !text_is(mend_token_reason(token), "why")) atomic_fetch_add(&self->shared->faults, 1);
  if (mend_token_fd(token, &fd) != MEND_OK || (cancelled && !is_readable(fd))) {
    atomic_fetch_add(&self->shared->faults, 1);
  }
  mend_token_release(token);
}

static void *act_out(void *ctx) {
  actor *self = ctx;
  const uint32_t cancel_at = draw(self, STEPS);
  atomic_fetch_add(&self->shared->ready, 1);
  while (atomic_load(&self->shared->ready) < ACTORS)
    sched_yield();
  for (uint32_t step = 0; step < STEPS; step++) {
    if (self->cancels && step == cancel_at) mend_token_cancel(self->shared->token, MEND_STR("why"));
    switch (draw(self, 5)) {
    case 0:
    case 1: add_entry(self); break;
    case 2: forget_entry(self); break;
    case 3: wait_a_while(self); break;
    default: look(self);
    }
  }
  atomic_fetch_sub(&self->shared->working, 1);
  return NULL;
}

static unsigned count_faults(actor *self) {
  unsigned faults = 0;
  for (unsigned i = 0; i < self->count; i++) {
    const unsigned calls = atomic_load(&self->entries[i].calls);
    if (self->entries[i].is_forgotten ? calls > 1 : calls != 1) faults++;
  }
  return faults;
}

static void run_schedule(uint64_t seed, mend_clock *clock) {
  schedule shared = {.clock = clock, .token = new_token(clock), .working = ACTORS};
  actor actors[ACTORS];
  pthread_t threads[ACTORS];
  for (unsigned i = 0; i < ACTORS; i++) {
    /* one of them cancels, or all do, or the end */
    actors[i] = (actor){.shared = &shared, .random = seed * ACTORS + i, .cancels = seed % 5 == i || seed % 5 == 3};
    draw(&actors[i], 1);
    cr_assert_eq(pthread_create(&threads[i], NULL, act_out, &actors[i]), 0);
  }
  while (atomic_load(&shared.working) > 0) {
    cr_assert_eq(mend_clock_advance(clock, MEND_SECOND_NS), MEND_OK);
    sched_yield();
  }
  for (unsigned i = 0; i < ACTORS; i++)
    pthread_join(threads[i], NULL);
  mend_token_cancel(shared.token, MEND_STR("why"));
  unsigned faults = atomic_load(&shared.faults);
  for (unsigned i = 0; i < ACTORS; i++)
    faults += count_faults(&actors[i]);
  cr_assert_eq(faults, 0u, "seed %u", (unsigned)seed);
  mend_token_release(shared.token);
}

Test(token, a_thousand_schedules) {
  const size_t open_files = mend_test_open_files(), threads_before = threads_now();
  mend_test_allocator memory;
  mend_clock *clock = new_clock(&memory);
  for (uint64_t seed = 0; seed < SCHEDULES; seed++)
    run_schedule(seed, clock);
  mend_clock_release(clock);
  cr_assert_eq(atomic_load(&memory.blocks), 0u);
  cr_assert_eq(mend_test_open_files(), open_files);
  cr_assert(mend_test_threads_are(threads_before));
}
