/* The boundary: what every attempt of every flow passes (docs/internals/boundary.md).
 *
 *   before -> watchdog hooks, hooks -> the tool, or what they decided -> one terminal event -> after, on_error hooks
 *
 * Whatever happens, one path leads from the before to mend__attempt_end, which publishes the terminal event. */
#include "hooks/passage_internal.h"

/* ---- Asking ---- */

static mend_hook_call describe(const mend__passage *passage) {
  const mend__attempt *attempt = &passage->attempt;
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
static void ask_hooks(mend__passage *passage, mend__phase phase, unsigned how) {
  mend_boundary *boundary = passage->boundary;
  mend__attempt *attempt = &passage->attempt;
  if (boundary->hooks == NULL) return;
  const mend_hook_call shown = describe(passage);
  if (mend__hooks_ask(boundary->hooks, phase, &shown, how, &attempt->decision, &attempt->hook) != MEND_ABORTED) return;
  mend__run_state_abort(boundary->run_state, passage, mend_decision_reason(&attempt->decision), attempt->hook);
}

static unsigned how_to_ask(const mend__passage *passage) {
  return passage->attempt.is_last ? MEND__ASK_IGNORE_REDIRECTS : MEND__ASK_ALL;
}

static bool has_decided(const mend__passage *passage, mend_decision_kind kind) {
  return mend_decision_get_kind(&passage->attempt.decision) == kind;
}

/* ---- Failing before there is a tool to run ---- */

static void fail(mend__passage *passage, mend_str type, mend_str message) {
  mend_result *result = passage->result;
  mend__passage_clear_result(passage);
  passage->attempt.failed = true;
  result->outcome = MEND_OUTCOME_FAILED;
  result->error_type = type;
  if (mend__result_set(result, passage->boundary->allocator, &result->error_message, message) != MEND_OK) {
    result->error_message = MEND_STR("out of memory for the reason");
  }
}

static void fail_redirect(mend__passage *passage, mend_status status, const mend_error *error) {
  fail(passage, status == MEND_ENOMEM ? MEND_STR("MEND_ENOMEM") : MEND_STR("bad_redirect"),
       mend_str_from(error->message));
}

static void fail_unknown(mend__passage *passage, mend_str tool) {
  mend__buffer sentence;
  mend__buffer_init(&sentence, passage->boundary->allocator);
  mend__buffer_str(&sentence, MEND_STR("there is no tool called "));
  mend__buffer_json_string(&sentence, tool);
  mend__tools_suggest(passage->boundary->tools, tool, &sentence);
  fail(passage, MEND_STR("unknown_tool"),
       sentence.failed ? MEND_STR("there is no such tool") : mend__buffer_text(&sentence));
  mend__buffer_free(&sentence);
}

/* ---- Redirecting ---- */

/* Takes the decision over. An error leaves what is running as it was. */
static mend_status redirect(mend__passage *passage, mend__redirection *ret_redirection, mend_error *error) {
  mend__attempt *attempt = &passage->attempt;
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
  const mend_status status = mend__json_read(target->args, passage->boundary->allocator, &target->args_hash, error);
  ret_redirection->wanted = status == MEND_OK;
  return status;
}

/* Who is to be named in the events and the result of the attempt. */
static void name_redirector(mend__attempt *attempt, const mend__redirection *redirection) {
  attempt->redirected_by = redirection->hook;
  attempt->redirect_reason = mend_decision_reason(&redirection->decision);
}

/* A redirect cannot go round a hook that fails closed: it is asked about the call that is to run instead. */
static void ask_again(mend__passage *passage) {
  const mend_str redirector = passage->attempt.hook;
  ask_hooks(passage, MEND__PHASE_BEFORE, MEND__ASK_FAIL_CLOSED_ONLY | MEND__ASK_IGNORE_REDIRECTS);
  if (has_decided(passage, MEND_DECISION_CONTINUE)) passage->attempt.hook = redirector;
}

/* A redirect that fails is the tool's failure. */
static void follow_redirect(mend__passage *passage) {
  mend__attempt *attempt = &passage->attempt;
  mend_error error = MEND_ERROR_INIT;
  const mend_status status = redirect(passage, &passage->instead, &error);
  name_redirector(attempt, &passage->instead);
  if (status != MEND_OK) {
    fail_redirect(passage, status, &error);
    return;
  }
  attempt->effective = passage->instead.target;
  attempt->redirected = true;
  attempt->running = &attempt->effective;
  ask_again(passage);
}

/* ---- From the before to the tool ---- */

/* Member by member: this is faster than zeroing all of it first. */
static void init_attempt(mend__passage *passage, const mend__redirection *again) {
  mend__attempt *attempt = &passage->attempt;
  attempt->asked = again != NULL ? &again->target : &passage->asked;
  attempt->running = attempt->asked;
  attempt->redirected = false;
  attempt->redirected_by = (mend_str)MEND_ABSENT;
  attempt->redirect_reason = (mend_str)MEND_ABSENT;
  attempt->is_last = again != NULL;
  attempt->failed = false;
  attempt->launched = false;
  attempt->duration_ms = 0;
  attempt->hook = (mend_str)MEND_ABSENT;
  mend__decision_init(&attempt->decision, passage->boundary->allocator);
  if (again != NULL) name_redirector(attempt, again);
}

/* A call for it, and its before: or neither. */
static mend_status open_attempt(mend__passage *passage) {
  const mend_status status = passage->has_begun ? mend__passage_renew(passage) : MEND_OK;
  if (passage->has_begun) mend_result_clear(passage->result);
  passage->has_begun = true;
  passage->result->call = passage->number;
  passage->result->attempts = passage->call->attempt;
  return status == MEND_OK ? mend__publish_before(passage) : status;
}

/* Sets the decision, or the failure when there is no memory for it. */
static void decide(mend__passage *passage) {
  mend__decide(passage->boundary->run_state);
  if (mend__call_is_aborted(passage->call)) return;
  if (mend__question_take(passage) != MEND_OK) {
    fail(passage, MEND_STR("MEND_ENOMEM"), mend_str_from(mend_status_message(MEND_ENOMEM)));
    return;
  }
  ask_hooks(passage, MEND__PHASE_BEFORE, how_to_ask(passage));
}

/* False when its call has still to land. */
static bool run_tool(mend__passage *passage) {
  mend__attempt *attempt = &passage->attempt;
  const mend__target *target = attempt->running;
  passage->call->borrowed =
      (mend__call_texts){passage->name, attempt->asked->tool, target->tool, target->args, passage->note};
  attempt->launched = true;
  const mend__launching run = mend__launch(passage);
  if (run == MEND__LAUNCH_UNKNOWN) {
    attempt->launched = false;
    fail_unknown(passage, target->tool);
  }
  return run != MEND__LAUNCH_AWAITED;
}

/* Likewise. */
static bool carry_out(mend__passage *passage) {
  const mend_call *call = passage->call;
  if (!mend__call_is_cancelled(call) && has_decided(passage, MEND_DECISION_REDIRECT)) follow_redirect(passage);
  if (mend__call_is_cancelled(call) || passage->attempt.failed) return true;
  return has_decided(passage, MEND_DECISION_SKIP) || run_tool(passage);
}

bool mend__attempt_begin(mend__passage *passage, const mend__redirection *again) {
  init_attempt(passage, again);
  passage->error = open_attempt(passage);
  if (passage->error != MEND_OK) return true;
  decide(passage);
  return carry_out(passage);
}

/* ---- From the terminal event to the end ---- */

static void ask_afterwards(mend__passage *passage, mend__phase phase, unsigned how) {
  const mend_call *call = passage->call;
  mend__decision_clear(&passage->attempt.decision);
  if (!mend__call_is_aborted(call)) ask_hooks(passage, phase, how);
  if (mend__call_is_aborted(call)) {
    mend__passage_give_up(passage);
  } else if (has_decided(passage, MEND_DECISION_REDIRECT)) {
    mend_error error = MEND_ERROR_INIT;
    const mend_status status = redirect(passage, &passage->again, &error);
    if (status != MEND_OK) fail_redirect(passage, status, &error);
  }
}

/* These hooks change the outcome, not the event. A question must reach the person it is for. */
static void follow_up(mend__passage *passage) {
  switch (passage->result->outcome) {
  case MEND_OUTCOME_OK:
  case MEND_OUTCOME_REDIRECTED:
  case MEND_OUTCOME_SKIPPED: ask_afterwards(passage, MEND__PHASE_AFTER, how_to_ask(passage)); break;
  case MEND_OUTCOME_ESCALATED: ask_afterwards(passage, MEND__PHASE_AFTER, MEND__ASK_IGNORE_REDIRECTS); break;
  case MEND_OUTCOME_FAILED: ask_afterwards(passage, MEND__PHASE_ON_ERROR, how_to_ask(passage)); break;
  case MEND_OUTCOME_ABORTED:
  case MEND_OUTCOME_CANCELLED: break;
  }
}

void mend__attempt_finish(mend__passage *passage) {
  if (passage->error == MEND_OK) {
    mend__attempt_end(passage);
    follow_up(passage);
  } else {
    mend__result_refuse(passage->result, passage->boundary->allocator, passage->error, NULL);
  }
  mend__decision_clear(&passage->attempt.decision);
}
