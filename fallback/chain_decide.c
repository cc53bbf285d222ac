#include "fallback/chain_internal.h"
#include "fallback/classification_internal.h"

/* ---- Which row it is ---- */

/* Models of others say of a failure what they know: a row's name, what happened to the transport, or nothing. */
static void classify_by_name(const mend__walk *walk, mend__ending *e) {
  mend__classify_name(walk->chain->table, e->failure.type, &e->class);
  if (mend_str_equal(mend_str_from(e->class.name), e->failure.type)) return;
  mend_failure_signal signal = *e->signal;
  char transport[64] = "";
  if (e->failure.type.len < sizeof transport) memcpy(transport, e->failure.type.ptr, e->failure.type.len);
  signal.transport = transport;
  mend_classify(walk->chain->table, &signal, &e->class);
}

static double from_0_to(double limit, double value) { return value > 0 ? (value < limit ? value : limit) : 0; }

/* What somebody else has made of a row is kept within what a table may say. */
static void let_judge(const mend__walk *walk, mend__ending *e) {
  const mend_failure_class row = e->class;
  if (walk->chain->judge == NULL) return;
  walk->chain->judge(walk->chain->judge_ctx, e->signal, &e->class);
  e->class.name = row.name;
  if (e->class.scope == NULL) e->class.scope = row.scope;
  e->class.cool_down_s = from_0_to(MEND__COOL_DOWN_MAX_S, e->class.cool_down_s);
  e->class.cool_down_max_s = from_0_to(MEND__COOL_DOWN_MAX_S, e->class.cool_down_max_s);
  e->class.wait_s = from_0_to(MEND__COOL_DOWN_MAX_S, e->class.wait_s);
}

void mend__walk_classify(const mend__walk *walk, const mend_failure *failure, const mend_failure_signal *signal,
                         mend_reply *reply, mend__ending *e) {
  *e = (mend__ending){.failure = *failure, .signal = signal, .class = MEND_FAILURE_CLASS_INIT, .reply = reply};
  const bool says_nothing = signal->transport == NULL && signal->http_status == 0 && signal->body.len == 0;
  if (says_nothing && failure->type.len > 0) {
    classify_by_name(walk, e);
  } else {
    mend_classify(walk->chain->table, signal, &e->class);
  }
  let_judge(walk, e);
  e->failure.type = mend_str_from(e->class.name);
  if (e->class.hides_body) mend__failure_hide(&e->failure, e->class.name, e->instead);
}

/* After content nobody else is asked, whatever the table says. */
static mend_failure_action action_of(const mend__walk *walk, const mend__ending *e) {
  const mend_failure_action action = mend__walk_is_resilient(walk) ? e->class.action : e->class.seed_action;
  return walk->is_committed && action != MEND_ACTION_CANCEL ? MEND_ACTION_PROPAGATE : action;
}

/* ---- What happens next ---- */

static mend__search search_of(const mend__walk *walk) {
  const size_t target = walk->chain->lanes[walk->entry.lane].target;
  return (mend__search){.tried = walk->tried,
                        .above_window = walk->above_window,
                        .last_choice = walk->chain->target_count,
                        .from = target + 1};
}

static bool may_attempt(const mend__walk *walk) {
  const uint32_t limit = walk->outer->asked.max_attempts;
  return limit == 0 || walk->outer->budget.attempts < limit;
}

static double seconds_left(const mend__walk *walk) {
  const mend__clocks *clocks = &walk->outer->clocks;
  if (clocks->total_ns == MEND_NEVER) return MEND_CAST(double, INT64_MAX);
  const double spent_ns = (double)(mend__exchange_now_ns(walk->outer) - clocks->begun_ns);
  return ((double)clocks->total_ns - spent_ns) / (double)MEND_SECOND_NS;
}

static bool can_retry(mend__walk *walk, mend_failure_action action) {
  if (action != MEND_ACTION_RETRY || walk->has_retried) return false;
  walk->has_retried = true;
  return true;
}

static bool can_repair(mend__walk *walk, const mend__ending *e) {
  if (e->class.remedy != MEND_REMEDY_DROP_PARAMETER || walk->has_repaired) return false;
  walk->dropped = mend__parameters_named(&walk->outer->asked, e->failure.body);
  walk->has_repaired = true;
  return walk->dropped != 0;
}

/* A short wait is better than a failure, but not than somebody who answers now. */
static bool can_wait(mend__walk *walk, const mend__ending *e) {
  const double wait_s = e->failure.retry_after_s;
  if (walk->has_waited || !(wait_s <= e->class.wait_s) || wait_s >= seconds_left(walk)) return false;
  walk->tried[walk->entry.lane] = true;
  const mend__search search = search_of(walk);
  walk->has_waited = !mend__chain_has_other(walk->chain, &search);
  return walk->has_waited;
}

static bool has_larger_window(mend__walk *walk) {
  const uint64_t window = mend__walk_target(walk)->facts.context_tokens;
  if (window > walk->above_window) walk->above_window = window;
  return window != 0;
}

static mend__move choose(mend__walk *walk, const mend__ending *e) {
  const mend_failure_action action = action_of(walk, e);
  if (action == MEND_ACTION_PROPAGATE || action == MEND_ACTION_CANCEL) return MEND__MOVE_END;
  if (!mend__walk_is_resilient(walk) || !may_attempt(walk)) return MEND__MOVE_ON;
  if (e->class.remedy == MEND_REMEDY_LARGER_WINDOW && !has_larger_window(walk)) return MEND__MOVE_END;
  if (can_retry(walk, action) || can_repair(walk, e)) return MEND__MOVE_AGAIN;
  return can_wait(walk, e) ? MEND__MOVE_WAIT : MEND__MOVE_ON;
}

/* ---- Verdicts ---- */

static void alert(const mend__walk *walk, const mend__ending *e) {
  if (walk->chain->log == NULL) return;
  mend__buffer text;
  mend__buffer_init(&text, walk->chain->allocator);
  mend__buffer_printf(&text, "%.*s: %s: %.*s", MEND_STR_ARG(mend__walk_target(walk)->name), e->class.name,
                      MEND_STR_ARG(e->failure.message));
  if (!text.failed) walk->chain->log(walk->chain->log_ctx, MEND_LOG_WARNING, text.data);
  mend__buffer_free(&text);
}

/* A provider that finds fault with the request is alive. */
static bool is_alive(const mend__ending *e) { return e->failure.http_status >= 200 && e->failure.http_status < 500; }

static void judge(mend__walk *walk, const mend__ending *e) {
  mend__chain *chain = walk->chain;
  if (e->class.counts) {
    const bool stopped_working = mend__chain_fail(chain, &walk->entry, &e->class, e->failure.retry_after_s);
    if (stopped_working && e->class.alerts) alert(walk, e);
    if (!mend__walk_is_resilient(walk) && action_of(walk, e) == MEND_ACTION_FAIL_OVER)
      mend__chain_advance(chain, &walk->entry);
  } else if (e->class.action != MEND_ACTION_CANCEL && is_alive(e)) {
    const bool recovered = mend__chain_succeed(chain, &walk->entry);
    if (recovered) mend__publish_recovered(walk->outer, mend__walk_target(walk)->name);
  } else {
    mend__chain_leave(chain, &walk->entry);
  }
}

static void note(mend__walk *walk, const mend__ending *e, mend_failure_action action) {
  const mend__attempt_end attempt = {.target = mend__walk_target(walk)->name,
                                     .class = e->class.name,
                                     .action = action,
                                     .failure = &e->failure,
                                     .ms = mend__walk_attempt_ms(walk)};
  mend__ledger_add(&walk->ledger, &attempt);
  walk->only_keys_failed = walk->only_keys_failed && e->class.remedy == MEND_REMEDY_NEXT_KEY;
}

static mend_failure_action action_for(mend__move next, const mend__ending *e) {
  switch (next) {
  case MEND__MOVE_AGAIN:
  case MEND__MOVE_WAIT: return MEND_ACTION_RETRY;
  case MEND__MOVE_ON: return MEND_ACTION_FAIL_OVER;
  default: return e->class.action == MEND_ACTION_CANCEL ? MEND_ACTION_CANCEL : MEND_ACTION_PROPAGATE;
  }
}

/* An attempt that is made again has no verdict yet. */
mend__move mend__walk_decide(mend__walk *walk, const mend__ending *e) {
  const mend__move next = choose(walk, e);
  note(walk, e, action_for(next, e));
  if (next != MEND__MOVE_AGAIN) judge(walk, e);
  return next;
}

void mend__walk_note_cancelled(mend__walk *walk, const mend_failure *failure, const mend_failure_signal *signal) {
  mend__ending e;
  mend__walk_classify(walk, failure, signal, NULL, &e);
  note(walk, &e, MEND_ACTION_CANCEL);
  mend__chain_leave(walk->chain, &walk->entry);
}

/* ---- Another lane ---- */

/* What failed by its key may work with the next one; else it is the whole target. */
static void give_up(mend__walk *walk, const mend__ending *e) {
  const mend__target *target = mend__walk_target(walk);
  const bool only_key = e->class.counts && strncmp(e->class.scope, "key", 3) == 0;
  for (size_t i = 0; i < target->lane_count; i++)
    walk->tried[target->first_lane + i] |= !only_key || target->first_lane + i == walk->entry.lane;
}

bool mend__walk_enter_next(mend__walk *walk, const mend__ending *e) {
  give_up(walk, e);
  mend__search search = search_of(walk);
  if (e->class.remedy != MEND_REMEDY_NEXT_KEY) search.last_choice = search.from - 1;
  if (!may_attempt(walk) || !mend__chain_enter(walk->chain, &search, &walk->entry)) return false;
  walk->has_retried = false;
  walk->has_repaired = false;
  walk->dropped = 0;
  return true;
}
