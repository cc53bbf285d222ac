/* Chains over time and under load, all of it in virtual time: the outage minute, many requests that fail together,
 * and a hundred streams with faults at random. */
#include "fallback/troupe.h"

#include <stdlib.h>

/* ---- The outage minute ---- */

/* The first model is dead until a time; both take a while to answer. */
typedef struct worker {
  world *w;
  mend_model *model;
  uint64_t dead_until_ns;
  double takes_s;
  unsigned asked;
} worker;

typedef struct work {
  worker *self;
  mend_exchange *exchange;
  mend_timer *timer;
} work;

static uint64_t now_ns(const world *w) { return mend_clock_now(w->clock).mono_ns; }

static void end_work(work *job) {
  mend_timer_cancel(&job->timer);
  free(job);
}

static void finish_work(void *ctx) {
  work *job = ctx;
  mend_exchange *exchange = job->exchange;
  const bool is_dead = now_ns(job->self->w) < job->self->dead_until_ns;
  end_work(job);
  actor_answers(exchange, act_of(is_dead ? '5' : 'o'));
}

static mend_status begin_work(void *ctx, mend_exchange *exchange, mend_error *error) {
  (void)error;
  worker *self = ctx;
  work *job = calloc(1, sizeof *job);
  *job = (work){self, exchange, NULL};
  self->asked++;
  mend_exchange_keep(exchange, job);
  return mend_loop_after(self->w->loop, (uint64_t)(self->takes_s * 1e9), finish_work, job, &job->timer);
}

static void cancel_work(void *ctx, mend_exchange *exchange) {
  (void)ctx;
  end_work(mend_exchange_kept(exchange));
}

static const mend_model_vtable working = {.size = sizeof working, .begin = begin_work, .cancel = cancel_work};

static void worker_open(worker *self, world *w, const char *provider, double takes_s) {
  *self = (worker){.w = w, .takes_s = takes_s};
  cr_assert_eq(mend_model_new(w->loop, &w->memory.base, &working, self, provider, "m", &self->model, NULL), MEND_OK);
}

typedef struct outage {
  troupe t;
  worker primary, backup;
  unsigned at_primary, slow, failed;
  double back_s; /* when the primary answered again */
} outage;

enum { OUTAGE_S = 60, SECONDS = 100 };

/* One request a second; what it costs and who answered. */
static void ask_each_second(outage *o) {
  const mend_model_request request = world_request(&o->t.w);
  for (int second = 0; second < SECONDS; second++) {
    answer a;
    const unsigned before = o->primary.asked;
    mend_exchange_release(send_to(&o->t, &request, &a));
    advance(&o->t, 1);
    cr_assert(a.over && a.ends == 1, "second %d", second);
    if (a.status != MEND_OK) o->failed++;
    if (second < OUTAGE_S && o->primary.asked > before) o->at_primary++;
    if (second < OUTAGE_S && a.reply.duration_ms > 60) o->slow++;
    if (o->back_s < 0 && mend_str_equal(a.reply.target, MEND_STR("one:m"))) o->back_s = second;
    mend_reply_clear(&a.reply);
  }
}

Test(chain_storm, outage_minute) {
  outage o = {.back_s = -1};
  world_open(&o.t.w);
  worker_open(&o.primary, &o.t.w, "one", 0.05);
  worker_open(&o.backup, &o.t.w, "two", 0.05);
  o.primary.dead_until_ns = now_ns(&o.t.w) + OUTAGE_S * MEND_SECOND_NS;
  mend_model *const models[] = {o.primary.model, o.backup.model};
  const mend_fallback_options options = options_of(&o.t, MEND_FALLBACK_RESILIENT);
  cr_assert_eq(mend_fallback_of(models, 2, &options, &o.t.chain, NULL), MEND_OK);
  ask_each_second(&o);
  cr_assert_eq(o.failed, 0u);
  cr_assert(o.at_primary <= 5, "%u requests reached the dead primary", o.at_primary); /* 5, 10, 20, 30 s apart */
  cr_assert_eq(o.slow, o.at_primary, "only those that tried it were slower");
  cr_assert(o.back_s >= OUTAGE_S && o.back_s <= OUTAGE_S + 30, "back after %g s", o.back_s);
  mend_model_release(o.primary.model);
  mend_model_release(o.backup.model);
  mend_model_release(o.t.chain);
  world_close(&o.t.w);
}

/* ---- A hundred that fail together ---- */

enum { MANY = 100 };

static void fail_together(mend_fallback_profile profile) {
  troupe t = {.chain = NULL};
  worker first, second, third;
  world_open(&t.w);
  worker_open(&first, &t.w, "one", 1);
  worker_open(&second, &t.w, "two", 1);
  worker_open(&third, &t.w, "three", 1);
  first.dead_until_ns = now_ns(&t.w) + 3 * MEND_SECOND_NS;
  mend_model *const models[] = {first.model, second.model, third.model};
  const mend_fallback_options options = options_of(&t, profile);
  cr_assert_eq(mend_fallback_of(models, 3, &options, &t.chain, NULL), MEND_OK);
  const mend_model_request request = world_request(&t.w);
  static answer answers[MANY];
  for (int i = 0; i < MANY; i++)
    mend_exchange_release(send_to(&t, &request, &answers[i]));
  advance(&t, 3);
  for (int i = 0; i < MANY; i++) {
    cr_assert(answers[i].ends == 1 && answers[i].status == MEND_OK, "%d", i);
    cr_assert(mend_str_equal(answers[i].reply.target, MEND_STR("two:m")), "%d", i);
    mend_reply_clear(&answers[i].reply);
  }
  mend_target_state state = {.size = sizeof state};
  cr_assert_eq(mend_fallback_state(t.chain, 0, &state), MEND_OK);
  cr_assert(state.failures == MANY && state.breaker == MEND_BREAKER_OPEN && !state.current);
  cr_assert(state.cool_down_s > 2 && state.cool_down_s <= 3, "opened once, for 5 s, 2 s ago: %g", state.cool_down_s);
  cr_assert_eq(mend_fallback_state(t.chain, 1, &state), MEND_OK);
  cr_assert(state.failures == 0 && state.current);
  cr_assert_eq(third.asked, 0u);
  mend_model_release(first.model);
  mend_model_release(second.model);
  mend_model_release(third.model);
  mend_model_release(t.chain);
  world_close(&t.w);
}

Test(chain_storm, many_fail_together_and_advance_once) {
  fail_together(MEND_FALLBACK_SEED);
  fail_together(MEND_FALLBACK_RESILIENT);
}

/* ---- A hundred streams ---- */

typedef enum fate {
  FATE_WHOLE,
  FATE_BUSY,
  FATE_CUT,
  FATE_HANGS,
  FATE_ERROR_EVENT,
  FATE_INVALID,
  FATE_EMPTY,
  FATES
} fate;

typedef struct storm {
  troupe t;
  uint64_t random;
  mend_model *models[3];
  const char *names[3];
  unsigned cancelled_streams;
} storm;

typedef struct source {
  storm *s;
  const char *name;
} source;

typedef struct stream {
  source *from;
  mend_exchange *exchange;
  mend_timer *timer;
  fate fate;
  unsigned left; /* pieces */
} stream;

static uint64_t next_random(storm *s) {
  s->random ^= s->random << 13;
  s->random ^= s->random >> 7;
  s->random ^= s->random << 17;
  return s->random;
}

static void flow(void *ctx);

static void end_stream(stream *one) {
  mend_timer_cancel(&one->timer);
  free(one);
}

static void flow_on(stream *one) {
  storm *s = one->from->s;
  mend_timer_cancel(&one->timer);
  const uint64_t delay_ns = next_random(s) % (MEND_SECOND_NS / 2);
  cr_assert_eq(mend_loop_after(s->t.w.loop, delay_ns, flow, one, &one->timer), MEND_OK);
}

static char letter_of(fate ends) {
  static const char letters[FATES] = {
      [FATE_WHOLE] = 'e',       [FATE_BUSY] = '9',    [FATE_CUT] = 'u',  [FATE_HANGS] = 'h',
      [FATE_ERROR_EVENT] = 'j', [FATE_INVALID] = '4', [FATE_EMPTY] = 'e'};
  return letters[ends];
}

static void flow(void *ctx) {
  stream *one = ctx;
  if (one->left == 0) {
    mend_exchange *exchange = one->exchange;
    const char letter = letter_of(one->fate);
    if (letter == 'h') return; /* until a clock ends it */
    end_stream(one);
    actor_answers(exchange, act_of(letter));
    return;
  }
  mend_delta delta = MEND_DELTA_INIT;
  delta.text = mend_str_from(one->from->name);
  one->left--;
  mend_exchange_delta(one->exchange, &delta);
  flow_on(one);
}

static mend_status begin_stream(void *ctx, mend_exchange *exchange, mend_error *error) {
  (void)error;
  source *self = ctx;
  stream *one = calloc(1, sizeof *one);
  const uint64_t dice = next_random(self->s);
  *one = (stream){.from = self, .exchange = exchange, .fate = (fate)(dice % FATES)};
  one->left = one->fate == FATE_EMPTY ? 0 : (unsigned)(dice >> 8) % 6;
  if (one->fate == FATE_WHOLE) one->left++;
  mend_exchange_keep(exchange, one);
  flow_on(one);
  return MEND_OK;
}

static void cancel_stream(void *ctx, mend_exchange *exchange) {
  source *self = ctx;
  self->s->cancelled_streams++;
  end_stream(mend_exchange_kept(exchange));
}

static const mend_model_vtable streaming = {.size = sizeof streaming, .begin = begin_stream, .cancel = cancel_stream};

/* All that came is of one target, and when there is a reply it is of the one that is named in it. */
static void check_answer(const answer *a, int number) {
  cr_assert(a->over && a->ends == 1, "%d: %u ends", number, a->ends);
  for (const char *place = a->text; *place != '\0'; place++)
    cr_assert_eq(*place, a->text[0], "%d: %s", number, a->text);
  if (a->status != MEND_OK) {
    cr_assert_eq(a->after_content, a->text[0] != '\0', "%d: %s after \"%s\"", number, a->type, a->text);
    return;
  }
  if (a->text[0] != '\0') cr_assert_eq(a->reply.target.ptr[a->reply.target.len - 1], a->text[0], "%d", number);
  cr_assert(mend_str_equal(a->reply.text, mend_str_from(a->text)), "%d: %s", number, a->text);
}

static void open_storm(storm *s, source sources[3], uint64_t seed, mend_fallback_profile profile) {
  static const char *const names[] = {"A", "B", "C"};
  static const char *const providers[] = {"one", "one", "two"};
  *s = (storm){.random = seed};
  world_open(&s->t.w);
  for (int i = 0; i < 3; i++) {
    sources[i] = (source){s, names[i]};
    cr_assert_eq(mend_model_new(s->t.w.loop, &s->t.w.memory.base, &streaming, &sources[i], providers[i], names[i],
                                &s->models[i], NULL),
                 MEND_OK);
  }
  const mend_fallback_options options = options_of(&s->t, profile);
  cr_assert_eq(mend_fallback_of(s->models, 3, &options, &s->t.chain, NULL), MEND_OK);
}

static void close_storm(storm *s) {
  mend_model_release(s->t.chain);
  for (int i = 0; i < 3; i++)
    mend_model_release(s->models[i]);
  world_close(&s->t.w);
}

static unsigned run_storm(uint64_t seed, mend_fallback_profile profile) {
  static storm s;
  static answer answers[MANY];
  source sources[3];
  unsigned succeeded = 0;
  open_storm(&s, sources, seed, profile);
  mend_model_request request = world_request(&s.t.w);
  request.run = NULL;
  request.clocks = (mend_model_clocks){.first_content_s = 5, .idle_s = 5, .total_s = 40};
  const mend_model_listener listener = {.size = sizeof listener, .delta = take_delta, .done = take_end};
  mend_exchange *exchanges[MANY];
  for (int i = 0; i < MANY; i++) {
    mend_model_listener own = listener;
    own.ctx = &answers[i];
    answers[i] = (answer){.reply = MEND_REPLY_INIT};
    cr_assert_eq(mend_model_send(s.t.chain, &request, &own, &exchanges[i], NULL), MEND_OK);
    if (i % 10 == 9) advance(&s.t, 0.3);
    if (i % 25 == 24) mend_exchange_cancel(exchanges[i - 1]); /* callers leave, too */
  }
  advance(&s.t, 60);
  for (int i = 0; i < 4; i++)
    settle(&s.t.w);
  for (int i = 0; i < MANY; i++) {
    check_answer(&answers[i], i);
    if (answers[i].status == MEND_OK) succeeded++;
    mend_reply_clear(&answers[i].reply);
    mend_exchange_release(exchanges[i]);
  }
  close_storm(&s);
  return succeeded;
}

Test(chain_storm, hundred_streams) {
  unsigned succeeded[2] = {0, 0};
  for (uint64_t seed = 1; seed <= 10; seed++) {
    succeeded[0] += run_storm(seed * UINT64_C(0x9e3779b97f4a7c15), MEND_FALLBACK_SEED);
    succeeded[1] += run_storm(seed * UINT64_C(0x9e3779b97f4a7c15), MEND_FALLBACK_RESILIENT);
  }
  cr_assert(succeeded[0] > 100 && succeeded[1] > 100, "%u and %u of 1000", succeeded[0], succeeded[1]);
}
