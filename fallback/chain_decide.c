#include "fallback/chain_internal.h"
#include "fallback/classification_internal.h"

/* What became of an attempt. */
typedef struct ending {
  mend_failure failure;
  const mend_failure_signal *signal;
  mend_failure_class class;
  mend_reply *reply; /* empty */
  char instead[MEND__INSTEAD_MAX];
} ending;

/* What happens next. */
typedef enum move {
  MOVE_END,   /* it is the caller's to see */
  MOVE_AGAIN, /* the same lane */
  MOVE_WAIT,  /* the same lane when the wait it asked for is over */
  MOVE_ON     /* another lane */
} move;

/* ---- Which row it is ---- */

/* Models of others say of a failure what they know: a row's name, what happened to the transport, or nothing. */
static void classify_by_name(const mend__walk *walk, ending *e) {
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
static void let_judge(const mend__walk *walk, ending *e) {
  const mend_failure_class row = e->class;
  if (walk->chain->judge == NULL) return;
  walk->chain->judge(walk->chain->judge_ctx, e->signal, &e->class);
  e->class.name = row.name;
  if (e->class.scope == NULL) e->class.scope = row.scope;
  e->class.cool_down_s = from_0_to(MEND__COOL_DOWN_MAX_S, e->class.cool_down_s);
  e->class.cool_down_max_s = from_0_to(MEND__COOL_DOWN_MAX_S, e->class.cool_down_max_s);
  e->class.wait_s = from_0_to(MEND__COOL_DOWN_MAX_S, e->class.wait_s);
}

static void classify(const mend__walk *walk, const mend_failure *failure, const mend_failure_signal *signal,
                     ending *e) {
  *e = (ending){.failure = *failure, .signal = signal, .class = MEND_FAILURE_CLASS_INIT};
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

static bool is_resilient(const mend__walk *walk) { return walk->chain->profile == MEND_FALLBACK_RESILIENT; }

/* After content nobody else is asked, whatever the table says. */
static mend_failure_action action_of(const mend__walk *walk, const ending *e) {
  const mend_failure_action action = is_resilient(walk) ? e->class.action : e->class.seed_action;
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

/* What failed by its key may work with the next one; else it is the whole target. */
static void give_up(mend__walk *walk, const ending *e) {
  const mend__target *target = mend__walk_target(walk);
  const bool only_key = e->class.counts && strncmp(e->class.scope, "key", 3) == 0;
  for (size_t i = 0; i < target->lane_count; i++)
    walk->tried[target->first_lane + i] |= !only_key || target->first_lane + i == walk->entry.lane;
}

static bool may_attempt(const mend__walk *walk) {
  const uint32_t limit = walk->outer->asked.max_attempts;
  return limit == 0 || walk->attempts < limit;
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

static bool can_repair(mend__walk *walk, const ending *e) {
  if (e->class.remedy != MEND_REMEDY_DROP_PARAMETER || walk->has_repaired) return false;
  walk->dropped = mend__parameters_named(&walk->outer->asked, e->failure.body);
  walk->has_repaired = true;
  return walk->dropped != 0;
}

/* A short wait is better than a failure, but not than somebody who answers now. */
static bool can_wait(mend__walk *walk, const ending *e) {
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

static move choose(mend__walk *walk, const ending *e) {
  const mend_failure_action action = action_of(walk, e);
  if (action == MEND_ACTION_PROPAGATE || action == MEND_ACTION_CANCEL) return MOVE_END;
  if (!is_resilient(walk) || !may_attempt(walk)) return MOVE_ON;
  if (e->class.remedy == MEND_REMEDY_LARGER_WINDOW && !has_larger_window(walk)) return MOVE_END;
  if (can_retry(walk, action) || can_repair(walk, e)) return MOVE_AGAIN;
  return can_wait(walk, e) ? MOVE_WAIT : MOVE_ON;
}

/* ---- Verdicts ---- */

static void alert(const mend__walk *walk, const ending *e) {
  if (walk->chain->log == NULL) return;
  mend__buffer text;
  mend__buffer_init(&text, walk->chain->allocator);
  mend__buffer_printf(&text, "%.*s: %s: %.*s", MEND_STR_ARG(mend__walk_target(walk)->name), e->class.name,
                      MEND_STR_ARG(e->failure.message));
  if (!text.failed) walk->chain->log(walk->chain->log_ctx, MEND_LOG_WARNING, text.data);
  mend__buffer_free(&text);
}

/* A provider that finds fault with the request is alive. */
static bool is_alive(const ending *e) { return e->failure.http_status >= 200 && e->failure.http_status < 500; }

static void judge(mend__walk *walk, const ending *e) {
  mend__chain *chain = walk->chain;
  if (e->class.counts) {
    const bool stopped_working = mend__chain_fail(chain, &walk->entry, &e->class, e->failure.retry_after_s);
    if (stopped_working && e->class.alerts) alert(walk, e);
    if (!is_resilient(walk) && action_of(walk, e) == MEND_ACTION_FAIL_OVER) mend__chain_advance(chain, &walk->entry);
  } else if (e->class.action != MEND_ACTION_CANCEL && is_alive(e)) {
    const bool recovered = mend__chain_succeed(chain, &walk->entry);
    if (recovered) mend__publish_recovered(walk->outer, mend__walk_target(walk)->name);
  } else {
    mend__chain_leave(chain, &walk->entry);
  }
}

static void note(mend__walk *walk, const ending *e, mend_failure_action action) {
  const mend__attempt_end attempt = {.target = mend__walk_target(walk)->name,
                                     .class = e->class.name,
                                     .action = action,
                                     .failure = &e->failure,
                                     .ms = mend__walk_attempt_ms(walk)};
  mend__ledger_add(&walk->ledger, &attempt);
  walk->only_keys_failed = walk->only_keys_failed && e->class.remedy == MEND_REMEDY_NEXT_KEY;
}

/* ---- Ends ---- */

static void propagate(mend__walk *walk, ending *e) {
  if (is_resilient(walk) && e->class.report_status != 0) e->failure.http_status = e->class.report_status;
  mend__walk_fail(walk, &e->failure, e->signal);
}

/* The request's fault, and that of no target: the caller is told what the last one said. */
static bool is_requests_fault(const ending *e) {
  return !e->class.counts && e->class.seed_action == MEND_ACTION_PROPAGATE;
}

/* Of several attempts what each was, and what the last one said. Without memory only that. */
static void propagate_all(mend__walk *walk, ending *e) {
  mend__buffer message;
  mend__buffer_init(&message, walk->chain->allocator);
  if (walk->ledger.count > 1) {
    mend__buffer_printf(&message, "no model answered (%.*s); the last: %.*s",
                        MEND_STR_ARG(mend__ledger_words(&walk->ledger)), MEND_STR_ARG(e->failure.message));
    if (!message.failed) e->failure.message = (mend_str){message.data, message.len};
  }
  propagate(walk, e);
  mend__buffer_free(&message);
}

static void exhaust(mend__walk *walk, ending *e) {
  if (e->reply != NULL) {
    mend__walk_succeed(walk, e->reply);
  } else if (is_requests_fault(e)) {
    propagate(walk, e);
  } else {
    mend__publish_exhausted(walk->outer, walk->chain, walk->tried, e->class.name, e->failure.message);
    if (is_resilient(walk) && walk->only_keys_failed) e->failure.type = MEND_STR("upstream_credentials_exhausted");
    propagate_all(walk, e);
  }
}

/* ---- Moves ---- */

static void go_again(mend__walk *walk, const ending *e) {
  mend__publish_retry(walk->outer, mend__walk_target(walk)->name, e->class.name, walk->attempts + 1, 0);
  mend__walk_send(walk);
}

/* As of the end of an attempt, a subscriber may cancel the request meanwhile. */
static void on_wait(void *ctx) {
  mend__walk *walk = ctx;
  mend_exchange *outer = walk->outer;
  outer->inside++;
  mend__chain_reenter(walk->chain, &walk->entry);
  mend__walk_send(walk);
  outer->inside--;
}

static void begin_lane(mend__walk *walk) {
  walk->has_retried = false;
  walk->has_repaired = false;
  walk->dropped = 0;
}

static void go_on(mend__walk *walk, ending *e) {
  const mend__target *from = mend__walk_target(walk);
  give_up(walk, e);
  mend__search search = search_of(walk);
  if (e->class.remedy != MEND_REMEDY_NEXT_KEY) search.last_choice = search.from - 1;
  if (!may_attempt(walk) || !mend__chain_enter(walk->chain, &search, &walk->entry)) {
    exhaust(walk, e);
    return;
  }
  const mend__target *to = mend__walk_target(walk);
  begin_lane(walk);
  if (to == from) {
    go_again(walk, e);
    return;
  }
  mend__publish_fallback(walk->outer, from->name, to->name, e->class.name, e->failure.message);
  mend__walk_send(walk);
}

static void wait(mend__walk *walk, ending *e) {
  const double seconds = e->failure.retry_after_s;
  const uint64_t ns = (uint64_t)(seconds * (double)MEND_SECOND_NS);
  if (mend_loop_after(walk->chain->loop, ns, on_wait, walk, &walk->wait) != MEND_OK) {
    go_on(walk, e);
    return;
  }
  mend__publish_retry(walk->outer, mend__walk_target(walk)->name, e->class.name, walk->attempts + 1, seconds * 1e3);
}

static mend_failure_action action_for(move next, const ending *e) {
  switch (next) {
  case MOVE_AGAIN:
  case MOVE_WAIT: return MEND_ACTION_RETRY;
  case MOVE_ON: return MEND_ACTION_FAIL_OVER;
  default: return e->class.action == MEND_ACTION_CANCEL ? MEND_ACTION_CANCEL : MEND_ACTION_PROPAGATE;
  }
}

/* An attempt that is made again has no verdict yet. */
void mend__walk_decide(mend__walk *walk, const mend_failure *failure, const mend_failure_signal *signal,
                       mend_reply *reply) {
  ending e;
  classify(walk, failure, signal, &e);
  e.reply = reply;
  const move next = choose(walk, &e);
  note(walk, &e, action_for(next, &e));
  if (next != MOVE_AGAIN) judge(walk, &e);
  switch (next) {
  case MOVE_AGAIN: go_again(walk, &e); break;
  case MOVE_WAIT: wait(walk, &e); break;
  case MOVE_ON: go_on(walk, &e); break;
  case MOVE_END: propagate(walk, &e); break;
  }
}

void mend__walk_note_cancelled(mend__walk *walk, const mend_failure *failure, const mend_failure_signal *signal) {
  ending e;
  classify(walk, failure, signal, &e);
  note(walk, &e, MEND_ACTION_CANCEL);
  mend__chain_leave(walk->chain, &walk->entry);
}
