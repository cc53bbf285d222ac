/* The hook runner: asks the hooks in order, and weighs what they decide. */
#include "core/options_size.h"
#include "hooks/hooks_internal.h"

#include <inttypes.h>
#include <stdio.h>

typedef mend_status (*hook_function)(void *ctx, const mend_hook_call *call, mend_decision *decision);

/* One round: all hooks are asked about one thing. */
typedef struct asking {
  mend__phase phase;
  const mend_hook_call *call;
  unsigned how;
  mend_decision *active; /* what counts, by the hook of this name */
  mend_str *active_hook;
} asking;

static hook_function function_of(const mend__hook_entry *entry, mend__phase phase) {
  switch (phase) {
  case MEND__PHASE_AFTER: return entry->hook.after;
  case MEND__PHASE_ON_ERROR: return entry->hook.on_error;
  case MEND__PHASE_BEFORE: break;
  }
  return entry->hook.before;
}

static mend_str phase_name(mend__phase phase) {
  switch (phase) {
  case MEND__PHASE_AFTER: return MEND_STR("after");
  case MEND__PHASE_ON_ERROR: return MEND_STR("on_error");
  case MEND__PHASE_BEFORE: break;
  }
  return MEND_STR("before");
}

static mend_str phase_words(mend__phase phase) {
  return phase == MEND__PHASE_ON_ERROR ? MEND_STR("after the failure of") : phase_name(phase);
}

static void publish(const mend_hook_call *call, mend_event *event) {
  if (call->run == NULL) return;
  event->call = call->call;
  event->call_name = call->call_name;
  mend_run_publish(call->run, event); /* a refusal is counted and reported by the bus */
}

static void publish_shadowed(const asking *round, mend_str hook, mend_decision_kind kind, mend_str active_hook) {
  mend_hook_shadowed_event event = MEND_HOOK_SHADOWED_EVENT_INIT;
  event.hook = hook;
  event.decision = mend_str_from(mend_decision_kind_name(kind));
  event.active_hook = active_hook;
  event.tool_name = round->call->tool_name;
  publish(round->call, &event.event);
}

/* A failure's sentence and what is said around it. */
enum { SENTENCE_SIZE = sizeof((mend_error *)NULL)->message + MEND__HOOK_NAME_SIZE + 96 };

static void publish_failed(const asking *round, const mend__hook_entry *entry, const char *failure) {
  mend_hook_failed_event event = MEND_HOOK_FAILED_EVENT_INIT;
  event.hook = mend_str_from(entry->hook.name);
  event.phase = phase_name(round->phase);
  event.error = mend_str_from(failure);
  event.fail_closed = entry->fail_closed;
  event.tool_name = round->call->tool_name;
  publish(round->call, &event.event);
}

static void log_failed(const asking *round, const mend__hook_entry *entry, const char *failure) {
  char sentence[SENTENCE_SIZE];
  if (round->call->run == NULL) return;
  snprintf(sentence, sizeof sentence, "hook %s failed %.*s a call, %s: %s", entry->hook.name,
           MEND_STR_ARG(phase_words(round->phase)),
           entry->fail_closed ? "which is aborted" : "which goes on, for the hook was not added fail_closed", failure);
  mend__bus_log(mend_run_bus(round->call->run), MEND_LOG_WARNING, sentence);
}

static mend_clock *clock_of(const mend_hook_call *call) {
  return call->run != NULL ? mend_bus_clock(mend_run_bus(call->run)) : mend_clock_real();
}

/* Calls the hook. False when it failed, which `failure` then tells; so has one that returns MEND_OK although what it
 * decided last was refused. */
static bool call_hook(const asking *round, const mend__hook_entry *entry, mend_decision *decision,
                      mend_error *failure) {
  const bool limited = entry->limit_ns != MEND_NEVER;
  mend_clock *clock = limited ? clock_of(round->call) : NULL;
  const uint64_t start_ns = limited ? mend_clock_now(clock).mono_ns : 0;
  mend_status status = function_of(entry, round->phase)(entry->ctx, round->call, decision);
  if (status == MEND_OK) status = decision->refusal->status;
  if (status != MEND_OK) {
    mend_error_set(failure, status, "%s: %s", mend_status_name(status), mend_error_sentence(decision->refusal, status));
    return false;
  }
  const uint64_t took_ns = limited ? mend_clock_now(clock).mono_ns - start_ns : 0;
  if (took_ns > entry->limit_ns) {
    mend_error_set(failure, MEND_EFAILED, "returned after %" PRIu64 " us, its time limit is %" PRIu64 " us",
                   took_ns / 1000, entry->limit_ns / 1000);
    return false;
  }
  return true;
}

static void fail(const asking *round, const mend__hook_entry *entry, const char *failure, mend_decision *decision) {
  publish_failed(round, entry, failure);
  log_failed(round, entry, failure);
  mend_decision_continue(decision);
  if (!entry->fail_closed) return;
  char reason[SENTENCE_SIZE];
  snprintf(reason, sizeof reason, "hook %s failed: %s", entry->hook.name, failure);
  mend__decision_force_abort(decision, mend_str_from(reason));
}

/* Whether a decision means nothing here and therefore counts as Continue. */
static bool is_ignored(const asking *round, mend_decision_kind kind) {
  if (kind == MEND_DECISION_SKIP) return round->phase != MEND__PHASE_BEFORE;
  return kind == MEND_DECISION_REDIRECT && (round->how & MEND__ASK_IGNORE_REDIRECTS) != 0;
}

/* Of equally strong ones the first counts. */
static int strength_of(const mend_decision *decision) {
  switch (decision->kind) {
  case MEND_DECISION_ABORT: return 3;
  case MEND_DECISION_SKIP: return decision->question.ptr != NULL ? 2 : 1;
  case MEND_DECISION_REDIRECT: return 1;
  case MEND_DECISION_CONTINUE: break;
  }
  return 0;
}

/* An earlier decision does not count any more; beside an Abort nobody asks for it. */
static void take_over(const asking *round, mend_str hook, mend_decision *decision) {
  const mend_decision_kind earlier = round->active->kind;
  const mend_str earlier_hook = *round->active_hook;
  mend__decision_move(round->active, decision);
  *round->active_hook = hook;
  if (earlier != MEND_DECISION_CONTINUE && round->active->kind != MEND_DECISION_ABORT) {
    publish_shadowed(round, earlier_hook, earlier, hook);
  }
}

/* What a hook decided becomes the active decision, or is published as one that does not count. */
static void weigh(const asking *round, const mend__hook_entry *entry, mend_decision *decision) {
  const mend_decision_kind kind = decision->kind;
  const mend_str hook = mend_str_from(entry->hook.name);
  if (kind == MEND_DECISION_CONTINUE) return;
  if (is_ignored(round, kind)) {
    publish_shadowed(round, hook, kind, (mend_str)MEND_ABSENT);
  } else if (strength_of(decision) > strength_of(round->active)) {
    take_over(round, hook, decision);
  } else {
    publish_shadowed(round, hook, kind, *round->active_hook);
  }
}

static void ask_hook(const asking *round, const mend__hook_entry *entry) {
  mend_decision decision;
  mend_error refusal, failure; /* not cleared, which would cost more than the rest */
  mend__decision_init(&decision, round->active->allocator);
  refusal.status = MEND_OK;
  decision.refusal = &refusal;
  if (!call_hook(round, entry, &decision, &failure)) fail(round, entry, failure.message, &decision);
  weigh(round, entry, &decision);
  mend__decision_clear(&decision);
}

static bool is_asked(const asking *round, const mend__hook_entry *entry) {
  if ((round->how & MEND__ASK_FAIL_CLOSED_ONLY) != 0 && !entry->fail_closed) return false;
  return function_of(entry, round->phase) != NULL;
}

static bool is_aborted(const asking *round) { return round->active->kind == MEND_DECISION_ABORT; }

mend_status mend__hooks_ask(mend_hooks *hooks, mend__phase phase, const mend_hook_call *call, unsigned how,
                            mend_decision *decision, mend_str *ret_hook) {
  const asking round = {phase, call, how, decision, ret_hook};
  size_t left = mend__hooks_count(hooks);
  mend_hooks_retain(hooks); /* a hook may drop what was the last reference */
  for (mend__hook_entry *entry = mend__hooks_first(hooks); left > 0 && !is_aborted(&round);
       left--, entry = mend__hooks_next(entry)) {
    if (is_asked(&round, entry)) ask_hook(&round, entry);
  }
  mend_hooks_release(hooks);
  return is_aborted(&round) ? MEND_ABORTED : MEND_OK;
}

/* ---- Foreign runners ---- */

/* Completes what a runner that counts neither calls nor attempts left out. */
static mend_status take_call(mend_hook_call *call, const mend_hook_call *given) {
  if (given == NULL) return MEND_EINVAL;
  const mend_status status = mend__options_take(call, given, "mend_hook_call", NULL);
  if (status != MEND_OK) return status;
  if (call->call == 0) call->call = mend_call_from_name(call->call_name);
  if (call->attempt == 0) call->attempt = 1;
  if (call->within == 0) call->within = MEND_NONE;
  return MEND_OK;
}

static mend_status ask_from_outside(mend_hooks *hooks, mend__phase phase, const mend_hook_call *given,
                                    mend_decision *decision, mend_str *ret_hook) {
  mend_hook_call call = {.size = sizeof call};
  mend_str hook = MEND_ABSENT;
  if (hooks == NULL || decision == NULL) return MEND_EINVAL;
  mend_status status = take_call(&call, given);
  if (status != MEND_OK) return status;
  mend_decision_continue(decision);
  status = mend__hooks_ask(hooks, phase, &call, MEND__ASK_ALL, decision, &hook);
  if (ret_hook != NULL) *ret_hook = hook;
  return status;
}

mend_status mend_hooks_before(mend_hooks *hooks, const mend_hook_call *call, mend_decision *decision,
                              mend_str *ret_hook) {
  return ask_from_outside(hooks, MEND__PHASE_BEFORE, call, decision, ret_hook);
}

mend_status mend_hooks_after(mend_hooks *hooks, const mend_hook_call *call, mend_decision *decision,
                             mend_str *ret_hook) {
  return ask_from_outside(hooks, MEND__PHASE_AFTER, call, decision, ret_hook);
}

mend_status mend_hooks_on_error(mend_hooks *hooks, const mend_hook_call *call, mend_decision *decision,
                                mend_str *ret_hook) {
  return ask_from_outside(hooks, MEND__PHASE_ON_ERROR, call, decision, ret_hook);
}
