#include "core/memory.h"
#include "fallback/chain_internal.h"

static void walk_free(mend__walk *walk) {
  mend_timer_cancel(&walk->wait);
  mend__ledger_free(&walk->ledger);
  mend__free(walk->chain->allocator, walk->tried);
  mend__free(walk->chain->allocator, walk);
}

static mend__walk *walk_new(mend__chain *chain, mend_exchange *outer) {
  mend__walk *walk = mend__alloc_zero(chain->allocator, sizeof *walk);
  if (walk == NULL) return NULL;
  walk->chain = chain;
  walk->outer = outer;
  walk->only_keys_failed = true;
  walk->budget.limit_usd = outer->asked.max_cost_usd;
  mend__ledger_init(&walk->ledger, chain->allocator);
  walk->tried = mend__alloc_zero(chain->allocator, chain->lane_count * sizeof *walk->tried);
  if (walk->tried != NULL) return walk;
  walk_free(walk);
  return NULL;
}

const mend__target *mend__walk_target(const mend__walk *walk) {
  return &walk->chain->targets[walk->chain->lanes[walk->entry.lane].target];
}

double mend__walk_attempt_ms(const mend__walk *walk) {
  return (double)(mend__exchange_now_ns(walk->outer) - walk->attempt_ns) / 1e6;
}

/* ---- Answers ---- */

void mend__walk_fail(mend__walk *walk, mend_failure *failure, const mend_failure_signal *signal) {
  failure->attempts = mend__ledger_text(&walk->ledger);
  mend__exchange_fail_by(walk->outer, failure, signal);
  walk_free(walk);
}

static void run_out_of_memory(mend__walk *walk) {
  mend_failure failure = MEND_FAILURE_INIT;
  mend_failure_signal signal = MEND_FAILURE_SIGNAL_INIT;
  failure.type = MEND_STR("no_memory");
  signal.transport = "no_memory";
  failure.message = MEND_STR("out of memory");
  mend__walk_fail(walk, &failure, &signal);
}

static mend_status describe(mend__walk *walk, mend_reply *reply) {
  const mend_str target = mend__walk_target(walk)->name;
  mend__ledger_add(&walk->ledger,
                   &(mend__attempt_end){.target = target, .class = "ok", .ms = mend__walk_attempt_ms(walk)});
  const mend_str attempts = mend__ledger_text(&walk->ledger);
  if (attempts.ptr == NULL) return MEND_ENOMEM;
  const mend_status status = mend__reply_set(reply, &reply->attempts, attempts);
  return status == MEND_OK ? mend__reply_set(reply, &reply->target, target) : status;
}

void mend__walk_succeed(mend__walk *walk, mend_reply *reply) {
  const bool recovered = mend__chain_succeed(walk->chain, &walk->entry);
  if (recovered) mend__publish_recovered(walk->outer, mend__walk_target(walk)->name);
  if (describe(walk, reply) != MEND_OK) {
    run_out_of_memory(walk);
    return;
  }
  mend__exchange_finish_with(walk->outer, reply);
  walk_free(walk);
}

/* ---- Attempts ---- */

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
  const bool is_seed = walk->chain->profile == MEND_FALLBACK_SEED;
  if (is_seed || !is_empty(reply)) {
    mend__walk_succeed(walk, reply);
    return;
  }
  mend_failure failure = MEND_FAILURE_INIT;
  mend_failure_signal signal = MEND_FAILURE_SIGNAL_INIT;
  failure.message = MEND_STR("the reply is empty");
  failure.usage = reply->usage;
  signal.transport = "empty_reply";
  signal.any_byte = true;
  mend__walk_decide(walk, &failure, &signal, reply);
}

static void on_end(mend__walk *walk, mend_status status, mend_reply *reply, const mend_failure *failure,
                   const mend_failure_signal *signal) {
  mend__budget_settle(&walk->budget, reply != NULL ? &reply->usage : &failure->usage, &mend__walk_target(walk)->facts);
  if (walk->is_stopped) {
    if (failure != NULL) mend__walk_note_cancelled(walk, failure, signal);
    if (walk->is_left) walk_free(walk);
  } else if (status == MEND_OK) {
    on_reply(walk, reply);
  } else {
    mend__walk_decide(walk, failure, signal, NULL);
  }
}

/* A subscriber to what is published meanwhile may cancel the request: it is stopped afterwards, not in between. */
static void on_done(void *ctx, mend_status status, mend_reply *reply, const mend_failure *failure,
                    const mend_failure_signal *signal) {
  mend__walk *walk = ctx;
  mend_exchange *outer = walk->outer;
  mend_exchange_release(walk->inner);
  walk->inner = NULL;
  outer->inside++;
  on_end(walk, status, reply, failure, signal);
  outer->inside--;
}

/* Another target may be cheaper. */
static void refuse_cost(mend__walk *walk) {
  char sentence[MEND__BUDGET_SENTENCE_MAX];
  mend_failure failure = MEND_FAILURE_INIT;
  mend_failure_signal signal = MEND_FAILURE_SIGNAL_INIT;
  mend__budget_sentence(&walk->budget, sentence);
  failure.message = mend_str_from(sentence);
  signal.transport = "cost_limit";
  walk->attempt_ns = mend__exchange_now_ns(walk->outer);
  mend__walk_decide(walk, &failure, &signal, NULL);
}

/* Of the clocks the total one cannot run out before the caller's own, which began earlier. */
static void ask(mend__walk *walk) {
  const mend__attempt attempt = {.of = walk->outer,
                                 .number = walk->attempts + 1,
                                 .clocks = walk->outer->request->given.clocks,
                                 .listener = {.delta = on_delta, .done = on_done, .ctx = walk}};
  const mend__lane *lane = &walk->chain->lanes[walk->entry.lane];
  if (mend__attempt_send(lane->model, &attempt, &walk->inner) != MEND_OK) {
    mend__chain_leave(walk->chain, &walk->entry);
    run_out_of_memory(walk);
    return;
  }
  mend__parameters_drop(&walk->inner->asked, walk->dropped);
  if (walk->budget.limit_usd > 0) walk->inner->asked.max_cost_usd = mend__budget_left_usd(&walk->budget);
  walk->attempts++;
  walk->attempt_ns = mend__exchange_now_ns(walk->outer);
}

void mend__walk_send(mend__walk *walk) {
  if (mend__budget_allows(&walk->budget, &walk->outer->asked, &mend__walk_target(walk)->facts)) {
    ask(walk);
  } else {
    refuse_cost(walk);
  }
}

/* ---- What the model of a chain does ---- */

mend_status mend__chain_begin(void *ctx, mend_exchange *exchange, mend_error *error) {
  mend__chain *chain = ctx;
  mend__walk *walk = walk_new(chain, exchange);
  if (walk == NULL) return mend_error_set(error, MEND_ENOMEM, "out of memory");
  mend_exchange_keep(exchange, walk);
  const mend__search search = {.tried = walk->tried, .is_first = true, .last_choice = chain->target_count};
  mend__chain_enter(chain, &search, &walk->entry);
  mend__walk_send(walk);
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
  if (!walk->is_left) walk_free(walk);
}
