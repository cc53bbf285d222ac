#include "core/memory.h"
#include "fallback/chain_internal.h"

static mend__walk *walk_new(mend__chain *chain, mend_exchange *outer) {
  mend__walk *walk = mend__alloc_zero(chain->allocator, sizeof *walk);
  if (walk == NULL) return NULL;
  walk->chain = chain;
  walk->outer = outer;
  walk->only_keys_failed = true;
  mend__ledger_init(&walk->ledger, chain->allocator);
  walk->tried = mend__alloc_zero(chain->allocator, chain->lane_count * sizeof *walk->tried);
  if (walk->tried != NULL) return walk;
  mend__walk_free(walk);
  return NULL;
}

/* ---- Moves. Whether to ask again; else it waits, or has ended and is gone ---- */

/* Counts from 1, with those of a chain in a chain. */
static uint32_t next_number(const mend__walk *walk) { return walk->outer->attempt + walk->outer->budget.attempts; }

static void tell_retry(const mend__walk *walk, const mend__ending *e, double delay_ms) {
  mend__publish_retry(walk->outer, mend__walk_target(walk)->name, e->class.name, next_number(walk), delay_ms);
}

static bool go_again(mend__walk *walk, const mend__ending *e) {
  tell_retry(walk, e, 0);
  return true;
}

static bool go_on(mend__walk *walk, mend__ending *e) {
  const mend__target *from = mend__walk_target(walk);
  if (!mend__walk_enter_next(walk, e)) {
    mend__walk_exhaust(walk, e);
    return false;
  }
  const mend__target *to = mend__walk_target(walk);
  if (to == from) return go_again(walk, e);
  mend__publish_fallback(walk->outer, from->name, to->name, e->class.name, e->failure.message);
  return true;
}

static void on_wait(void *ctx);

static bool wait(mend__walk *walk, mend__ending *e) {
  const double seconds = e->failure.retry_after_s;
  const uint64_t ns = (uint64_t)(seconds * (double)MEND_SECOND_NS);
  if (mend_loop_after(walk->chain->loop, ns, on_wait, walk, &walk->wait) != MEND_OK) return go_on(walk, e);
  tell_retry(walk, e, seconds * 1e3);
  return false;
}

static bool move(mend__walk *walk, const mend_failure *failure, const mend_failure_signal *signal, mend_reply *reply) {
  mend__ending e;
  mend__walk_classify(walk, failure, signal, reply, &e);
  switch (mend__walk_decide(walk, &e)) {
  case MEND__MOVE_AGAIN: return go_again(walk, &e);
  case MEND__MOVE_WAIT: return wait(walk, &e);
  case MEND__MOVE_ON: return go_on(walk, &e);
  case MEND__MOVE_END: break;
  }
  mend__walk_propagate(walk, &e);
  return false;
}

/* ---- Sending ---- */

/* Another target may be cheaper. */
static bool refuse_cost(mend__walk *walk) {
  char sentence[MEND__BUDGET_SENTENCE_MAX];
  mend_failure failure = MEND_FAILURE_INIT;
  mend_failure_signal signal = MEND_FAILURE_SIGNAL_INIT;
  mend__budget_sentence(&walk->outer->budget, sentence);
  failure.message = mend_str_from(sentence);
  signal.transport = "cost_limit";
  walk->attempt_ns = mend__exchange_now_ns(walk->outer);
  return move(walk, &failure, &signal, NULL);
}

/* What is left of the request's limits is the attempt's. Of the clocks the total one cannot run out before the
 * caller's own, which began earlier. */
static mend_model_request request_of(const mend__walk *walk) {
  const mend_exchange *outer = walk->outer;
  mend_model_request asked = outer->asked;
  asked.clocks = outer->request->given.clocks;
  mend__parameters_drop(&asked, walk->dropped);
  if (asked.max_attempts > 0) asked.max_attempts -= outer->budget.attempts;
  if (asked.max_cost_usd > 0) asked.max_cost_usd = mend__budget_left_usd(&outer->budget);
  return asked;
}

static void on_delta(void *ctx, const mend_delta *delta);
static void on_done(void *ctx, mend_status status, mend_reply *reply, const mend_failure *failure,
                    const mend_failure_signal *signal);

static void send_attempt(mend__walk *walk) {
  const mend__attempt attempt = {.of = walk->outer,
                                 .asked = request_of(walk),
                                 .number = next_number(walk),
                                 .listener = {.delta = on_delta, .done = on_done, .ctx = walk}};
  walk->attempt_ns = mend__exchange_now_ns(walk->outer);
  if (mend__attempt_send(walk->chain->lanes[walk->entry.lane].model, &attempt, &walk->inner) == MEND_OK) return;
  mend__chain_leave(walk->chain, &walk->entry);
  mend__walk_run_out_of_memory(walk);
}

/* Asks in the lane that it has entered; what is too dear there moves on at once. */
static void ask(mend__walk *walk) {
  mend__budget *budget = &walk->outer->budget;
  while (!mend__budget_allows(budget, &walk->outer->asked, &mend__walk_target(walk)->facts)) {
    if (!refuse_cost(walk)) return;
  }
  send_attempt(walk);
}

/* As of the end of an attempt, a subscriber may cancel the request meanwhile. */
static void on_wait(void *ctx) {
  mend__walk *walk = ctx;
  mend_exchange *outer = walk->outer;
  outer->inside++;
  mend__chain_reenter(walk->chain, &walk->entry);
  ask(walk);
  outer->inside--;
}

/* ---- What an attempt tells ---- */

static void on_delta(void *ctx, const mend_delta *delta) {
  mend__walk *walk = ctx;
  walk->is_committed = true;
  mend__exchange_forward(walk->outer, delta);
}

/* No text, no call, no refusal, and it has not run out of room. */
static bool is_empty(const mend_reply *reply) {
  const bool ended_well = reply->finish == MEND_FINISH_STOP || reply->finish == MEND_FINISH_UNKNOWN;
  return ended_well && reply->text.len == 0 && reply->part_count == 0;
}

static void on_reply(mend__walk *walk, mend_reply *reply) {
  if (!mend__walk_is_resilient(walk) || !is_empty(reply)) {
    mend__walk_succeed(walk, reply);
    return;
  }
  mend_failure failure = MEND_FAILURE_INIT;
  mend_failure_signal signal = MEND_FAILURE_SIGNAL_INIT;
  failure.message = MEND_STR("the reply is empty");
  failure.usage = reply->usage;
  signal.transport = "empty_reply";
  signal.any_byte = true;
  if (move(walk, &failure, &signal, reply)) ask(walk);
}

static void on_end(mend__walk *walk, mend_reply *reply, const mend_failure *failure,
                   const mend_failure_signal *signal) {
  if (walk->is_stopped) {
    if (failure != NULL) mend__walk_note_cancelled(walk, failure, signal);
    if (walk->is_left) mend__walk_free(walk);
  } else if (reply != NULL) {
    on_reply(walk, reply);
  } else if (move(walk, failure, signal, NULL)) {
    ask(walk);
  }
}

static void settle(mend__walk *walk, const mend_usage *usage) {
  mend__budget_settle(&walk->outer->budget, &walk->inner->budget, usage, &mend__walk_target(walk)->facts);
  mend_exchange_release(walk->inner);
  walk->inner = NULL;
}

/* A subscriber to what is published meanwhile may cancel the request: it is stopped afterwards, not in between. */
static void on_done(void *ctx, mend_status status, mend_reply *reply, const mend_failure *failure,
                    const mend_failure_signal *signal) {
  (void)status;
  mend__walk *walk = ctx;
  mend_exchange *outer = walk->outer;
  settle(walk, reply != NULL ? &reply->usage : &failure->usage);
  outer->inside++;
  on_end(walk, reply, failure, signal);
  outer->inside--;
}

/* ---- What the model of a chain does ---- */

mend_status mend__chain_begin(void *ctx, mend_exchange *exchange, mend_error *error) {
  mend__chain *chain = ctx;
  mend__walk *walk = walk_new(chain, exchange);
  if (walk == NULL) return mend_error_set(error, MEND_ENOMEM, "out of memory");
  mend_exchange_keep(exchange, walk);
  const mend__search search = {.tried = walk->tried, .is_first = true, .last_choice = chain->target_count};
  mend__chain_enter(chain, &search, &walk->entry);
  ask(walk);
  return MEND_OK;
}

/* An attempt that is cancelled ends inside of that call, unless it is ending already: whoever hears of its end
 * first, by an event, may cancel the request before the walk hears of it. */
void mend__chain_cancel(void *ctx, mend_exchange *exchange) {
  (void)ctx;
  mend__walk *walk = mend_exchange_kept(exchange);
  walk->is_stopped = true;
  if (walk->inner != NULL) mend_exchange_cancel(walk->inner);
  mend_reply known = MEND_REPLY_INIT;
  known.attempts = mend__ledger_text(&walk->ledger);
  mend__draft_note(exchange->draft, &known); /* without memory for it the failure has none */
  walk->is_left = walk->inner != NULL;
  if (!walk->is_left) mend__walk_free(walk);
}
