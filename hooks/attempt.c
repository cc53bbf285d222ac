/* The boundary: what every attempt of every flow passes (docs/internals/boundary.md).
 *
 *   before -> watchdog hooks, hooks -> the tool, or what they decided -> one terminal event -> after, on_error hooks
 *
 * Whatever happens, one path leads from the before to the one function that publishes the terminal event. */
#include "hooks/call_internal.h"

static void redirection_init(mend__redirection *redirection, const mend_allocator *allocator) {
  mend__decision_init(&redirection->decision, allocator);
  mend__buffer_init(&redirection->merged, allocator);
  redirection->wanted = false;
}

static void redirection_free(mend__redirection *redirection) {
  mend__decision_clear(&redirection->decision);
  mend__buffer_free(&redirection->merged);
}

static mend_boundary *boundary_of(const mend__attempt *attempt) { return attempt->passage->boundary; }
static mend_call *call_of(const mend__attempt *attempt) { return attempt->passage->call; }
static mend_result *result_of(const mend__attempt *attempt) { return attempt->passage->result; }

/* ---- Asking ---- */

static mend_hook_call describe(const mend__attempt *attempt) {
  const mend__passage *passage = attempt->passage;
  const mend_result *result = passage->result;
  return (mend_hook_call){.size = sizeof(mend_hook_call),
                          .run = passage->boundary->run,
                          .call = passage->number,
                          .call_name = passage->name,
                          .attempt = passage->call->attempt,
                          .tool_name = attempt->running->tool,
                          .args = attempt->running->args,
                          .state = passage->boundary->state,
                          .result = result->value,
                          .error_type = result->error_type,
                          .error_message = result->error_message,
                          .duration_ms = attempt->duration_ms,
                          .within = passage->within};
}

/* An Abort takes effect here, so that everybody finds the call aborted afterwards. */
static void ask_hooks(mend__attempt *attempt, mend__phase phase, unsigned how) {
  mend_boundary *boundary = boundary_of(attempt);
  if (boundary->hooks == NULL) return;
  const mend_hook_call shown = describe(attempt);
  if (mend__hooks_ask(boundary->hooks, phase, &shown, how, &attempt->decision, &attempt->hook) != MEND_ABORTED) return;
  mend__run_state_abort(boundary->run_state, attempt->passage, mend_decision_reason(&attempt->decision), attempt->hook);
}

static unsigned how_to_ask(const mend__attempt *attempt) {
  return attempt->is_last ? MEND__ASK_IGNORE_REDIRECTS : MEND__ASK_ALL;
}

/* ---- Redirecting ---- */

/* Takes the decision over. An error leaves what is running as it was. */
static mend_status redirect(mend__attempt *attempt, mend__redirection *ret_redirection, mend_error *error) {
  const mend__target *from = attempt->running;
  mend__target *target = &ret_redirection->target;
  mend__decision_move(&ret_redirection->decision, &attempt->decision);
  ret_redirection->hook = attempt->hook;
  const mend_str tool = mend_decision_tool(&ret_redirection->decision);
  const mend_str args = mend_decision_args(&ret_redirection->decision);
  *target = *from;
  if (tool.ptr != NULL && !mend_str_equal(tool, from->tool)) *target = (mend__target){.tool = tool, .args = from->args};
  if (args.ptr != NULL) {
    mend__buffer *merged = &ret_redirection->merged;
    const mend_status status = mend__merge_args(from->args, args, merged, error);
    if (status != MEND_OK) return status;
    target->args = mend__buffer_text(merged);
  }
  const mend_status status = mend__json_read(target->args, boundary_of(attempt)->allocator, &target->args_hash, error);
  ret_redirection->wanted = status == MEND_OK;
  return status;
}

/* Who is to be named in the events and the result of the attempt. */
static void name_redirector(mend__attempt *attempt, const mend__redirection *redirection) {
  attempt->redirected_by = redirection->hook;
  attempt->redirect_reason = mend_decision_reason(&redirection->decision);
}

/* The failure of a call whose tool does not run. */
static void fail(mend__attempt *attempt, mend_str type, mend_str message) {
  mend__passage *passage = attempt->passage;
  mend__passage_clear_result(passage);
  attempt->failed = true;
  passage->result->outcome = MEND_OUTCOME_FAILED;
  passage->result->error_type = type;
  if (mend__result_set(passage->result, boundary_of(attempt)->allocator, &passage->result->error_message, message) !=
      MEND_OK) {
    passage->result->error_message = MEND_STR("out of memory for the reason");
  }
}

static void fail_redirect(mend__attempt *attempt, mend_status status, const mend_error *error) {
  fail(attempt, status == MEND_ENOMEM ? MEND_STR("MEND_ENOMEM") : MEND_STR("bad_redirect"),
       mend_str_from(error->message));
}

/* A redirect cannot go round a hook that fails closed: it is asked about the call that is to run instead. */
static void ask_again(mend__attempt *attempt) {
  const mend_str redirector = attempt->hook;
  ask_hooks(attempt, MEND__PHASE_BEFORE, MEND__ASK_FAIL_CLOSED_ONLY | MEND__ASK_IGNORE_REDIRECTS);
  if (mend_decision_get_kind(&attempt->decision) == MEND_DECISION_CONTINUE) attempt->hook = redirector;
}

/* A redirect that fails is the tool's failure. */
static void follow_redirect(mend__try *self) {
  mend__attempt *attempt = &self->attempt;
  mend_error error = MEND_ERROR_INIT;
  const mend_status status = redirect(attempt, &self->instead, &error);
  name_redirector(attempt, &self->instead);
  if (status != MEND_OK) {
    fail_redirect(attempt, status, &error);
    return;
  }
  attempt->effective = self->instead.target;
  attempt->redirected = true;
  attempt->running = &attempt->effective;
  ask_again(attempt);
}

/* ---- Running ---- */

static void fail_unknown(mend__attempt *attempt, mend_str tool) {
  mend__buffer sentence;
  mend__buffer_init(&sentence, boundary_of(attempt)->allocator);
  mend__buffer_str(&sentence, MEND_STR("there is no tool called "));
  mend__buffer_json_string(&sentence, tool);
  mend__tools_suggest(boundary_of(attempt)->tools, tool, &sentence);
  fail(attempt, MEND_STR("unknown_tool"),
       sentence.failed ? MEND_STR("there is no such tool") : mend__buffer_text(&sentence));
  mend__buffer_free(&sentence);
}

/* False when its call has still to land; then the try is not ours any more. */
static bool run_tool(mend__attempt *attempt) {
  mend__passage *passage = attempt->passage;
  const mend__target *target = attempt->running;
  passage->call->borrowed =
      (mend__call_texts){passage->name, attempt->asked->tool, target->tool, target->args, passage->note};
  attempt->launched = true;
  const mend__launching run = mend__launch(passage, target);
  if (run == MEND__LAUNCH_UNKNOWN) {
    attempt->launched = false;
    fail_unknown(attempt, target->tool);
  }
  return run != MEND__LAUNCH_AWAITED;
}

/* ---- How an attempt ends: each of these publishes the one terminal event ---- */

/* The call was cancelled before its tool ran. */
static void end_unrun(mend__attempt *attempt) {
  mend__passage_give_up(attempt->passage);
  if (result_of(attempt)->outcome == MEND_OUTCOME_ABORTED) {
    mend__publish_aborted(attempt);
  } else {
    mend__publish_cancelled(attempt, false);
  }
}

static void end_skipped(mend__attempt *attempt) {
  mend__passage *passage = attempt->passage;
  mend_result *result = passage->result;
  const mend_decision *decision = &attempt->decision;
  const mend_str question = mend_decision_question(decision);
  result->outcome = question.ptr != NULL ? MEND_OUTCOME_ESCALATED : MEND_OUTCOME_SKIPPED;
  mend__passage_tell(passage, &result->value, mend_decision_stub(decision));
  mend__passage_tell(passage, &result->reason, mend_decision_reason(decision));
  mend__passage_tell(passage, &result->hook, attempt->hook);
  mend__passage_tell(passage, &result->question, question);
  mend__publish_skipped(attempt, mend_decision_reason(decision), attempt->hook, mend_decision_stub(decision));
}

/* What came too late is no value of the call. */
static void end_cancelled(mend__attempt *attempt, bool late_result) {
  mend__passage_give_up(attempt->passage);
  result_of(attempt)->outcome = MEND_OUTCOME_CANCELLED;
  result_of(attempt)->duration_ms = attempt->duration_ms;
  mend__publish_cancelled(attempt, late_result);
}

static void tell_redirector(mend__attempt *attempt) {
  mend_result *result = result_of(attempt);
  mend__passage_tell(attempt->passage, &result->hook, attempt->redirected_by);
  mend__passage_tell(attempt->passage, &result->reason, attempt->redirect_reason);
}

static void end_failed(mend__attempt *attempt) {
  tell_redirector(attempt);
  result_of(attempt)->outcome = MEND_OUTCOME_FAILED;
  mend__publish_error(attempt);
}

static void end_succeeded(mend__attempt *attempt) {
  tell_redirector(attempt);
  const bool is_other = attempt->redirected || attempt->is_last;
  result_of(attempt)->outcome = is_other ? MEND_OUTCOME_REDIRECTED : MEND_OUTCOME_OK;
  mend__publish_after(attempt);
}

/* Its tool asks. The question is told already. */
static void end_escalated(mend__attempt *attempt) {
  mend__passage *passage = attempt->passage;
  mend_result *result = passage->result;
  mend__buffer stub;
  mend__buffer_init(&stub, passage->boundary->allocator);
  mend__escalation_write_stub(&stub, result->question);
  if (stub.failed) {
    passage->incomplete = true;
  } else {
    mend__passage_tell(passage, &result->value, mend__buffer_text(&stub));
  }
  mend__buffer_free(&stub);
  result->outcome = MEND_OUTCOME_ESCALATED;
  result->reason = MEND__ESCALATION_REASON;
  mend__publish_skipped(attempt, result->reason, (mend_str)MEND_ABSENT, result->value);
}

static void measure(mend__attempt *attempt) {
  mend_clock *clock = mend_bus_clock(mend_run_bus(boundary_of(attempt)->run));
  attempt->duration_ms = (double)(mend_clock_now(clock).mono_ns - attempt->started_ns) / 1e6;
}

static void end_answered(mend__attempt *attempt, mend__answer *answer) {
  const mend__answer_kind kind = answer->kind;
  attempt->value_hash = answer->value_hash;
  mend__answer_tell(answer, result_of(attempt));
  result_of(attempt)->duration_ms = attempt->duration_ms;
  switch (kind) {
  case MEND__ANSWER_VALUE: end_succeeded(attempt); break;
  case MEND__ANSWER_FAILURE: end_failed(attempt); break;
  case MEND__ANSWER_QUESTION: end_escalated(attempt); break;
  }
}

/* Its call has landed. */
static void end_launched(mend__attempt *attempt) {
  mend_call *call = call_of(attempt);
  mend__call_settle(call);
  mend__answer *answer = mend__call_take_answer(call);
  const bool ran = mend__call_has_run(call);
  if (ran) measure(attempt);
  if (mend__call_is_cancelled(call)) {
    const bool late_result = answer != NULL && answer->kind == MEND__ANSWER_VALUE;
    mend__answer_free(answer);
    if (ran) {
      end_cancelled(attempt, late_result);
    } else {
      end_unrun(attempt);
    }
    return;
  }
  end_answered(attempt, answer);
}

static void end_attempt(mend__attempt *attempt) {
  if (attempt->launched) {
    end_launched(attempt);
  } else if (mend__call_is_cancelled(call_of(attempt))) {
    end_unrun(attempt);
  } else if (attempt->failed) {
    end_failed(attempt);
  } else {
    end_skipped(attempt);
  }
}

/* ---- One attempt ---- */

/* Sets the decision, or the failure when there is no memory for it. */
static void decide(mend__attempt *attempt) {
  mend__decide(boundary_of(attempt)->run_state);
  if (mend__call_is_aborted(call_of(attempt))) return;
  if (mend__take_question(attempt) != MEND_OK) {
    fail(attempt, MEND_STR("MEND_ENOMEM"), mend_str_from(mend_status_message(MEND_ENOMEM)));
    return;
  }
  ask_hooks(attempt, MEND__PHASE_BEFORE, how_to_ask(attempt));
}

/* False when its call has still to land. */
static bool carry_out(mend__try *self) {
  mend__attempt *attempt = &self->attempt;
  mend_call *call = call_of(attempt);
  if (!mend__call_is_cancelled(call) && mend_decision_get_kind(&attempt->decision) == MEND_DECISION_REDIRECT) {
    follow_redirect(self);
  }
  if (mend__call_is_cancelled(call) || attempt->failed) return true;
  return mend_decision_get_kind(&attempt->decision) == MEND_DECISION_SKIP || run_tool(attempt);
}

/* Member by member: this is faster than zeroing all of it first. */
static void init_attempt(mend__attempt *attempt, mend__passage *passage, const mend__target *asked) {
  attempt->passage = passage;
  attempt->asked = asked;
  attempt->running = asked;
  attempt->redirected = false;
  attempt->redirected_by = (mend_str)MEND_ABSENT;
  attempt->redirect_reason = (mend_str)MEND_ABSENT;
  attempt->failed = false;
  attempt->launched = false;
  attempt->duration_ms = 0;
  attempt->hook = (mend_str)MEND_ABSENT;
  mend__decision_init(&attempt->decision, passage->boundary->allocator);
}

/* A call for it, and its before: or neither. */
static mend_status open_attempt(mend__attempt *attempt) {
  mend__passage *passage = attempt->passage;
  const mend_status status = passage->has_begun ? mend__passage_renew(passage) : MEND_OK;
  if (passage->has_begun) mend_result_clear(passage->result);
  passage->has_begun = true;
  passage->result->call = passage->number;
  passage->result->attempts = passage->call->attempt;
  return status == MEND_OK ? mend__publish_before(attempt) : status;
}

/* again: the hook's wish that it follows, and then it is the last one; NULL for a first attempt. False when its call
 * has still to land: then nothing here is ours any more. */
static bool begin_attempt(mend__try *self, mend__passage *passage, const mend__target *asked,
                          const mend__redirection *again) {
  mend__attempt *attempt = &self->attempt;
  init_attempt(attempt, passage, asked);
  attempt->is_last = again != NULL;
  if (again != NULL) name_redirector(attempt, again);
  passage->error = open_attempt(attempt);
  if (passage->error != MEND_OK) return true;
  decide(attempt);
  return carry_out(self);
}

static void ask_afterwards(mend__try *self, mend__phase phase, unsigned how) {
  mend__attempt *attempt = &self->attempt;
  mend_call *call = call_of(attempt);
  mend__decision_clear(&attempt->decision);
  if (!mend__call_is_aborted(call)) ask_hooks(attempt, phase, how);
  if (mend__call_is_aborted(call)) {
    mend__passage_give_up(attempt->passage);
  } else if (mend_decision_get_kind(&attempt->decision) == MEND_DECISION_REDIRECT) {
    mend_error error = MEND_ERROR_INIT;
    const mend_status status = redirect(attempt, &self->again, &error);
    if (status != MEND_OK) fail_redirect(attempt, status, &error);
  }
}

/* These hooks change the outcome, not the event. A question must reach the person it is for. */
static void follow_up(mend__try *self) {
  const mend__attempt *attempt = &self->attempt;
  switch (result_of(attempt)->outcome) {
  case MEND_OUTCOME_OK:
  case MEND_OUTCOME_REDIRECTED:
  case MEND_OUTCOME_SKIPPED: ask_afterwards(self, MEND__PHASE_AFTER, how_to_ask(attempt)); break;
  case MEND_OUTCOME_ESCALATED: ask_afterwards(self, MEND__PHASE_AFTER, MEND__ASK_IGNORE_REDIRECTS); break;
  case MEND_OUTCOME_FAILED: ask_afterwards(self, MEND__PHASE_ON_ERROR, how_to_ask(attempt)); break;
  case MEND_OUTCOME_ABORTED:
  case MEND_OUTCOME_CANCELLED: break;
  }
}

static void finish_attempt(mend__try *self) {
  mend__attempt *attempt = &self->attempt;
  mend__passage *passage = attempt->passage;
  if (passage->error == MEND_OK) {
    end_attempt(attempt);
    follow_up(self);
  } else {
    mend__result_refuse(passage->result, passage->boundary->allocator, passage->error, NULL);
  }
  mend__decision_clear(&attempt->decision);
}

/* ---- A try ---- */

bool mend__try_resume(mend__try *self) {
  mend__passage *passage = self->attempt.passage;
  finish_attempt(self);
  if (!self->again.wanted || self->attempt.is_last) return true;
  if (mend__call_is_cancelled(passage->call)) {
    mend__passage_give_up(passage);
    return true;
  }
  if (!begin_attempt(self, passage, &self->again.target, &self->again)) return false;
  finish_attempt(self);
  return true;
}

bool mend__try_begin(mend__try *self, mend__passage *passage, const mend__target *target) {
  redirection_init(&self->instead, passage->boundary->allocator);
  redirection_init(&self->again, passage->boundary->allocator);
  return begin_attempt(self, passage, target, NULL) && mend__try_resume(self);
}

void mend__try_end(mend__try *self) {
  redirection_free(&self->instead);
  redirection_free(&self->again);
}

void mend__boundary_try(mend__passage *passage, const mend__target *target) {
  mend__try self;
  mend__bell bell = MEND__BELL_INIT;
  passage->bell = &bell;
  bool is_over = mend__try_begin(&self, passage, target);
  const bool waits = !is_over;
  while (!is_over) {
    mend__bell_await(&bell, 1);
    is_over = mend__try_resume(&self);
  }
  if (waits) mend__bell_end(&bell);
  mend__try_end(&self);
}
