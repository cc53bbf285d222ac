#include "core/memory.h"
#include "fallback/chain_internal.h"

void mend__walk_free(mend__walk *walk) {
  mend_timer_cancel(&walk->wait);
  mend__ledger_free(&walk->ledger);
  mend__free(walk->chain->allocator, walk->tried);
  mend__free(walk->chain->allocator, walk);
}

/* ---- A failure ---- */

static void fail(mend__walk *walk, mend_failure *failure, const mend_failure_signal *signal) {
  failure->attempts = mend__ledger_text(&walk->ledger);
  mend__exchange_fail_by(walk->outer, failure, signal);
  mend__walk_free(walk);
}

void mend__walk_run_out_of_memory(mend__walk *walk) {
  mend_failure failure = MEND_FAILURE_INIT;
  mend_failure_signal signal = MEND_FAILURE_SIGNAL_INIT;
  failure.type = MEND_STR("no_memory");
  signal.transport = "no_memory";
  failure.message = MEND_STR("out of memory");
  fail(walk, &failure, &signal);
}

void mend__walk_propagate(mend__walk *walk, mend__ending *e) {
  if (mend__walk_is_resilient(walk) && e->class.report_status != 0) e->failure.http_status = e->class.report_status;
  fail(walk, &e->failure, e->signal);
}

/* ---- A reply ---- */

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
    mend__walk_run_out_of_memory(walk);
    return;
  }
  mend__exchange_finish_with(walk->outer, reply);
  mend__walk_free(walk);
}

/* ---- Nobody is left to ask ---- */

/* The request's fault, and that of no target: the caller is told what the last one said. */
static bool is_requests_fault(const mend__ending *e) {
  return !e->class.counts && e->class.seed_action == MEND_ACTION_PROPAGATE;
}

/* Of several attempts what each was, and what the last one said. Without memory only that. */
static void propagate_all(mend__walk *walk, mend__ending *e) {
  mend__buffer message;
  mend__buffer_init(&message, walk->chain->allocator);
  if (walk->ledger.count > 1) {
    mend__buffer_printf(&message, "no model answered (%.*s); the last: %.*s",
                        MEND_STR_ARG(mend__ledger_words(&walk->ledger)), MEND_STR_ARG(e->failure.message));
    if (!message.failed) e->failure.message = (mend_str){message.data, message.len};
  }
  mend__walk_propagate(walk, e);
  mend__buffer_free(&message);
}

void mend__walk_exhaust(mend__walk *walk, mend__ending *e) {
  if (e->reply != NULL) {
    mend__walk_succeed(walk, e->reply);
  } else if (is_requests_fault(e)) {
    mend__walk_propagate(walk, e);
  } else {
    mend__publish_exhausted(walk->outer, walk->chain, walk->tried, e->class.name, e->failure.message);
    if (mend__walk_is_resilient(walk) && walk->only_keys_failed)
      e->failure.type = MEND_STR("upstream_credentials_exhausted");
    propagate_all(walk, e);
  }
}
