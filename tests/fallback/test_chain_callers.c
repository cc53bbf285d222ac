/* Chains and callers: those who come late, and those who leave, from wherever they do. */
#include "fallback/troupe.h"

static const char *const names[] = {"a", "b", "c", NULL};

/* ---- A late failure ---- */

static void fail_held(void *ctx) { actor_fails(((actor *)ctx)->held, act_of('5')); }

/* A request that was sent to the first model before the chain had been through all of them, and began anew there.
 * When it fails at last it goes on by itself and moves nobody. */
static void fail_late(mend_fallback_profile profile) {
  static const char *const parts[] = {"h5oo", "5oo", NULL};
  troupe t;
  answer a, b;
  mend_target_state state = {.size = sizeof state};
  troupe_open(&t, profile, NULL, names, parts);
  const mend_model_request request = world_request(&t.w);
  mend_exchange *late = send_to(&t, &request, &a);
  mend_exchange_release(send_to(&t, &request, &b));
  cr_assert_eq(b.status, MEND_EFAILED);
  advance(&t, 6);
  mend_exchange_release(send_to(&t, &request, &b));
  mend_reply_clear(&b.reply);
  cr_assert_eq(mend_loop_post(t.w.loop, fail_held, &t.actors[0]), MEND_OK);
  for (int i = 0; i < 8; i++)
    settle(&t.w);
  cr_assert(a.over && a.status == MEND_OK && mend_str_equal(a.reply.target, MEND_STR("t2:b")));
  cr_assert_eq(mend_fallback_state(t.chain, 0, &state), MEND_OK);
  cr_assert(state.current && state.breaker == MEND_BREAKER_CLOSED && state.failures == 2);
  mend_exchange_release(send_to(&t, &request, &b));
  mend_reply_clear(&b.reply);
  cr_assert_str_eq(t.w.log, "ah a5 b5 ao bo ao");
  mend_reply_clear(&a.reply);
  mend_exchange_release(late);
  troupe_close(&t);
}

Test(chain_callers, a_late_failure_moves_nobody) {
  fail_late(MEND_FALLBACK_SEED);
  fail_late(MEND_FALLBACK_RESILIENT);
}

/* It goes where others have gone meanwhile; when they have been everywhere, to the next. */
Test(chain_callers, a_late_failure_follows) {
  static const struct {
    const char *parts[ACTORS + 1];
    const char *log;
  } cases[] = {{{"h5", "5o", "o"}, "ah a5 b5 co co"}, {{"h5", "5", "5o"}, "ah a5 b5 c5 b5 co"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    troupe t;
    answer a, b;
    troupe_open(&t, MEND_FALLBACK_SEED, NULL, names, cases[i].parts);
    const mend_model_request request = world_request(&t.w);
    mend_exchange_release(send_to(&t, &request, &a));
    mend_exchange_release(send_to(&t, &request, &b));
    mend_reply_clear(&b.reply);
    cr_assert_eq(mend_loop_post(t.w.loop, fail_held, &t.actors[0]), MEND_OK);
    for (int n = 0; n < 8; n++)
      settle(&t.w);
    cr_assert_str_eq(t.w.log, cases[i].log);
    mend_reply_clear(&a.reply);
    troupe_close(&t);
  }
}

/* ---- Callers who leave ---- */

static void cancel_at_delta(void *ctx, const mend_delta *delta) {
  (void)delta;
  mend_exchange_cancel(*(mend_exchange **)ctx);
}

static void count_end(void *ctx, mend_status status, mend_reply *reply, const mend_failure *failure) {
  (void)ctx, (void)reply, (void)failure;
  cr_assert_eq(status, MEND_ECANCELLED);
}

/* It is cancelled from inside of a delta: the target is told, and nobody is to blame. */
Test(chain_callers, cancelled_in_a_delta) {
  static const char *const parts[] = {"H", "o", NULL};
  troupe t;
  mend_exchange *exchange = NULL;
  mend_target_state state = {.size = sizeof state};
  troupe_open(&t, MEND_FALLBACK_RESILIENT, NULL, names, parts);
  const mend_model_request request = world_request(&t.w);
  const mend_model_listener listener = {
      .size = sizeof listener, .delta = cancel_at_delta, .done = count_end, .ctx = &exchange};
  cr_assert_eq(mend_model_send(t.chain, &request, &listener, &exchange, NULL), MEND_OK);
  for (int i = 0; i < 4; i++)
    settle(&t.w);
  cr_assert_str_eq(t.w.log, "aH a-");
  cr_assert_eq(mend_fallback_state(t.chain, 0, &state), MEND_OK);
  cr_assert(state.failures == 0 && state.breaker == MEND_BREAKER_CLOSED && state.current);
  mend_exchange_release(exchange);
  troupe_close(&t);
}

typedef struct leaver {
  mend_exchange *exchange;
  unsigned left; /* events until it leaves */
} leaver;

static mend_status leave_at_event(void *ctx, const mend_event *event) {
  (void)event;
  leaver *self = ctx;
  if (self->exchange != NULL && self->left-- == 0) mend_exchange_cancel(self->exchange);
  return MEND_OK;
}

static void hold_loop(void *ctx) {
  pthread_mutex_lock(ctx);
  pthread_mutex_unlock(ctx);
}

/* Returns whether there were more events than that. */
static bool leave_at(unsigned nth, mend_fallback_profile profile) {
  static const char *const parts[] = {"2", "5", "ho", NULL};
  troupe t;
  answer a = {.reply = MEND_REPLY_INIT};
  leaver who = {NULL, nth};
  pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
  mend_exchange *exchange;
  troupe_open(&t, profile, NULL, names, parts);
  cr_assert_eq(mend_bus_subscribe(t.w.bus, "*", leave_at_event, &who, NULL, NULL, NULL), MEND_OK);
  const mend_model_request request = world_request(&t.w);
  const mend_model_listener listener = {.size = sizeof listener, .delta = take_delta, .done = take_end, .ctx = &a};
  pthread_mutex_lock(&gate); /* so that it has the exchange before the first event */
  cr_assert_eq(mend_loop_post(t.w.loop, hold_loop, &gate), MEND_OK);
  cr_assert_eq(mend_model_send(t.chain, &request, &listener, &exchange, NULL), MEND_OK);
  who.exchange = exchange;
  pthread_mutex_unlock(&gate);
  for (int i = 0; i < 12; i++)
    settle(&t.w);
  const bool left = a.over;
  cr_assert(!left || (a.status == MEND_ECANCELLED && a.ends == 1), "event %u", nth);
  mend_exchange_cancel(exchange);
  settle(&t.w);
  cr_assert_eq(a.ends, 1u, "event %u", nth);
  mend_exchange_release(exchange);
  troupe_close(&t);
  return left;
}

/* Whoever hears of what happens may cancel the request there and then. */
Test(chain_callers, cancelled_in_an_event) {
  static const unsigned events[] = {[MEND_FALLBACK_SEED] = 5, [MEND_FALLBACK_RESILIENT] = 8};
  for (int profile = MEND_FALLBACK_SEED; profile <= MEND_FALLBACK_RESILIENT; profile++) {
    unsigned nth = 0;
    while (leave_at(nth, (mend_fallback_profile)profile))
      nth++;
    cr_assert(nth >= events[profile], "%u", nth);
  }
}

/* A probe whose caller leaves says nothing; the next request probes. The chain is let go of while a request is under
 * way. */
Test(chain_callers, cancelled_probe_and_released_chain) {
  static const char *const parts[] = {"5ho", "o", NULL};
  troupe t;
  answer a, b;
  troupe_open(&t, MEND_FALLBACK_RESILIENT, NULL, names, parts);
  const mend_model_request request = world_request(&t.w);
  mend_exchange_release(send_to(&t, &request, &a));
  mend_reply_clear(&a.reply);
  advance(&t, 6);
  mend_exchange *probe = send_to(&t, &request, &a);
  mend_exchange_release(send_to(&t, &request, &b));
  mend_reply_clear(&b.reply);
  mend_exchange_cancel(probe);
  mend_exchange_release(probe);
  settle(&t.w);
  cr_assert(a.over && a.status == MEND_ECANCELLED && a.ends == 1);
  cr_assert_str_eq(a.attempts,
                   "[{\"target\":\"t1:a\",\"class\":\"cancelled\",\"action\":\"cancel\",\"error\":\"the request was "
                   "cancelled\",\"ms\":0}]");
  mend_exchange *last = send_to(&t, &request, &b);
  mend_reply_clear(&b.reply);
  mend_exchange_release(last);
  cr_assert_str_eq(t.w.log, "a5 bo ah bo a- ao");
  troupe_close(&t);
}
