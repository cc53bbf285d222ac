/* The boundary: what every attempt of every flow passes (docs/internals/boundary.md).
 *
 *   before -> watchdog hooks, hooks -> the tool, or what they decided instead -> one terminal event -> after, on_error hooks
 *
 * Whatever happens, one path leads from the before to the one function that publishes the terminal event. */
#include "hooks/hooks_internal.h"

/* What a hook wants instead: the decision it came from and the arguments merged for it hold what `target` points to. */
typedef struct hook_redirection {
  mend_decision decision;
  mend__buffer merged;
  mend__target target;
  mend_str hook;
  bool wanted;
} hook_redirection;

/* Those of a try. What is to run again may be what ran instead, so both are kept until the end. */
typedef struct hook_wishes {
  hook_redirection instead; /* decided before the tool ran */
  hook_redirection again;   /* decided afterwards: another attempt */
} hook_wishes;

typedef struct attempt_passage {
  mend__attempt attempt;
  const mend__target *running; /* what hooks are shown and the tool is given */
  bool ran;                    /* the tool */
  hook_wishes *wishes;         /* NULL: the last attempt, in which redirects are ignored */
  mend_decision decision;      /* by the hook of this name */
  mend_str hook;
  mend__question question; /* of a decision that escalates; its text is ours */
} attempt_passage;

static void redirection_init(hook_redirection *redirection, const mend_allocator *allocator) {
  mend__decision_init(&redirection->decision, allocator);
  mend__buffer_init(&redirection->merged, allocator);
  redirection->wanted = false;
}

static void redirection_free(hook_redirection *redirection) {
  mend__decision_clear(&redirection->decision);
  mend__buffer_free(&redirection->merged);
}

static mend_call *call_of(const attempt_passage *passage) { return passage->attempt.call; }
static mend_result *result_of(const attempt_passage *passage) { return call_of(passage)->result; }
static mend_boundary *boundary_of(const attempt_passage *passage) { return call_of(passage)->boundary; }

/* ---- Asking ---- */

static mend_hook_call describe(const attempt_passage *passage) {
  const mend_call *call = call_of(passage);
  const mend_result *result = call->result;
  return (mend_hook_call){.size = sizeof(mend_hook_call),
                          .run = call->boundary->run,
                          .call = call->number,
                          .call_name = call->name,
                          .attempt = call->attempt,
                          .tool_name = passage->running->tool,
                          .args = passage->running->args,
                          .state = call->boundary->state,
                          .result = result->value,
                          .error_type = result->error_type,
                          .error_message = result->error_message,
                          .duration_ms = passage->attempt.duration_ms};
}

/* An Abort takes effect here, so that everybody finds the call aborted afterwards. */
static void ask_hooks(attempt_passage *passage, mend__phase phase, unsigned how) {
  mend_hooks *hooks = boundary_of(passage)->hooks;
  if (hooks == NULL) return;
  const mend_hook_call shown = describe(passage);
  if (mend__hooks_ask(hooks, phase, &shown, how, &passage->decision, &passage->hook) != MEND_ABORTED) return;
  mend__run_state_abort(boundary_of(passage)->run_state, call_of(passage)->frame,
                        mend_decision_reason(&passage->decision), passage->hook);
}

static unsigned how_to_ask(const attempt_passage *passage) {
  return passage->wishes == NULL ? MEND__ASK_IGNORE_REDIRECTS : MEND__ASK_ALL;
}

/* ---- Redirecting ---- */

/* Takes the decision over. An error leaves what is running as it was. */
static mend_status redirect(attempt_passage *passage, hook_redirection *ret_redirection, mend_error *error) {
  const mend__target *from = passage->running;
  mend__target *target = &ret_redirection->target;
  mend__decision_move(&ret_redirection->decision, &passage->decision);
  ret_redirection->hook = passage->hook;
  const mend_str tool = mend_decision_tool(&ret_redirection->decision);
  const mend_str args = mend_decision_args(&ret_redirection->decision);
  *target = *from;
  if (tool.ptr != NULL && !mend_str_equal(tool, from->tool)) *target = (mend__target){.tool = tool, .args = from->args};
  if (args.ptr != NULL) {
    mend__buffer *merged = &ret_redirection->merged;
    const mend_status status = mend__merge_args(from->args, args, merged, error);
    if (status != MEND_OK) return status;
    target->args = (mend_str){merged->data, merged->len};
  }
  const mend_status status = mend__json_read(target->args, boundary_of(passage)->allocator, &target->args_hash, error);
  ret_redirection->wanted = status == MEND_OK;
  return status;
}

/* Who is to be named in the events and the result of the attempt. */
static void name_redirector(attempt_passage *passage, const hook_redirection *redirection) {
  passage->attempt.redirected_by = redirection->hook;
  passage->attempt.redirect_reason = mend_decision_reason(&redirection->decision);
}

static void fail_redirect(attempt_passage *passage, mend_status status, const mend_error *error) {
  mend_call *call = call_of(passage);
  mend__call_forget_answer(call);
  mend_call_fail(call, status == MEND_ENOMEM ? MEND_STR("MEND_ENOMEM") : MEND_STR("bad_redirect"),
                 mend_str_from(error->message));
}

/* A redirect cannot go round a hook that fails closed: it is asked about the call that is to run instead. */
static void ask_again(attempt_passage *passage) {
  const mend_str redirector = passage->hook;
  ask_hooks(passage, MEND__PHASE_BEFORE, MEND__ASK_FAIL_CLOSED_ONLY | MEND__ASK_IGNORE_REDIRECTS);
  if (mend_decision_get_kind(&passage->decision) == MEND_DECISION_CONTINUE) passage->hook = redirector;
}

/* False when the redirect failed, which then is the tool's failure. */
static bool follow_redirect(attempt_passage *passage) {
  mend_error error = {MEND_OK, 0, 0, ""};
  const mend_status status = redirect(passage, &passage->wishes->instead, &error);
  name_redirector(passage, &passage->wishes->instead);
  if (status != MEND_OK) {
    fail_redirect(passage, status, &error);
    return false;
  }
  passage->attempt.effective = passage->wishes->instead.target;
  passage->attempt.redirected = true;
  passage->running = &passage->attempt.effective;
  ask_again(passage);
  return true;
}

/* ---- Running ---- */

static void answer_for(mend_call *call, mend_status status) {
  if (call->answer != MEND__ANSWER_NONE) return;
  if (call->lost) status = MEND_ENOMEM;
  if (status != MEND_OK) {
    mend_call_fail(call, mend_str_from(mend_status_name(status)), mend_str_from(mend_status_message(status)));
  } else {
    mend_call_succeed(call, MEND_STR("null"));
  }
}

static void fail_unknown(mend_call *call, mend_str tool) {
  mend__buffer sentence;
  mend__buffer_init(&sentence, call->boundary->allocator);
  mend__buffer_str(&sentence, MEND_STR("there is no tool called "));
  mend__buffer_json_string(&sentence, tool);
  const mend_str told = {sentence.data, sentence.len};
  mend_call_fail(call, MEND_STR("unknown_tool"), sentence.failed ? MEND_STR("there is no such tool") : told);
  mend__buffer_free(&sentence);
}

/* The entry keeps a tool that is removed meanwhile, by itself perhaps. */
static void run_tool(attempt_passage *passage) {
  mend_call *call = call_of(passage);
  const mend__target *target = passage->running;
  mend_tools *tools = call->boundary->tools;
  mend__tool_entry *entry = NULL;
  call->effective = target;
  if (target->own != NULL) {
    passage->ran = true;
    answer_for(call, target->own->execute(target->own_ctx, call));
  } else if (tools != NULL && mend__tools_find(tools, target->tool, &entry) == MEND_OK) {
    passage->ran = true;
    answer_for(call, entry->tool.execute(entry->ctx, call));
  } else {
    fail_unknown(call, target->tool);
  }
  mend__tool_entry_release(entry);
}

/* ---- How an attempt ends: each of these publishes the one terminal event ---- */

/* The call was cancelled before its tool ran. */
static void end_unrun(attempt_passage *passage) {
  mend__call_give_up(call_of(passage));
  if (result_of(passage)->outcome == MEND_OUTCOME_ABORTED) {
    mend__publish_aborted(&passage->attempt);
  } else {
    mend__publish_cancelled(&passage->attempt, false);
  }
}

static void end_skipped(attempt_passage *passage) {
  mend_call *call = call_of(passage);
  mend_result *result = call->result;
  const mend_decision *decision = &passage->decision;
  result->outcome = decision->escalates ? MEND_OUTCOME_ESCALATED : MEND_OUTCOME_SKIPPED;
  mend__call_tell(call, &result->value, mend_decision_stub(decision));
  mend__call_tell(call, &result->reason, mend_decision_reason(decision));
  mend__call_tell(call, &result->hook, passage->hook);
  if (decision->escalates) mend__call_tell(call, &result->question, mend__question_text(&passage->question));
  mend__publish_skipped(&passage->attempt, mend_decision_reason(decision), passage->hook, mend_decision_stub(decision));
}

/* What came too late is no value of the call. */
static void end_cancelled(attempt_passage *passage) {
  mend_call *call = call_of(passage);
  const bool late_result = call->answer == MEND__ANSWER_VALUE;
  mend__call_give_up(call);
  call->result->outcome = MEND_OUTCOME_CANCELLED;
  call->result->duration_ms = passage->attempt.duration_ms;
  mend__publish_cancelled(&passage->attempt, late_result);
}

static void measure(attempt_passage *passage) {
  mend_clock *clock = mend_bus_clock(mend_run_bus(boundary_of(passage)->run));
  mend__attempt *attempt = &passage->attempt;
  attempt->duration_ms = (double)(mend_clock_now(clock).mono_ns - attempt->started_ns) / 1e6;
}

static void tell_redirector(attempt_passage *passage) {
  mend_call *call = call_of(passage);
  mend__call_tell(call, &call->result->hook, passage->attempt.redirected_by);
  mend__call_tell(call, &call->result->reason, passage->attempt.redirect_reason);
}

static void end_run(attempt_passage *passage) {
  mend_call *call = call_of(passage);
  mend__attempt *attempt = &passage->attempt;
  if (passage->ran) measure(passage);
  if (mend__call_is_cancelled(call)) {
    end_cancelled(passage);
    return;
  }
  call->result->duration_ms = attempt->duration_ms;
  tell_redirector(passage);
  if (call->answer == MEND__ANSWER_VALUE) {
    const bool other = attempt->redirected || passage->wishes == NULL;
    call->result->outcome = other ? MEND_OUTCOME_REDIRECTED : MEND_OUTCOME_OK;
    mend__publish_after(attempt);
  } else {
    call->result->outcome = MEND_OUTCOME_FAILED;
    mend__publish_error(attempt);
  }
}

/* ---- One attempt ---- */

/* Sets the decision, or the failure when there is no memory for it. */
static void decide(attempt_passage *passage) {
  mend_call *call = call_of(passage);
  mend__decide(call->boundary->run_state);
  if (mend__call_is_aborted(call)) return;
  if (mend__take_question(call, &passage->decision, &passage->question) != MEND_OK) {
    answer_for(call, MEND_ENOMEM);
    return;
  }
  if (passage->decision.escalates) passage->hook = mend_str_from(passage->question.hook);
  ask_hooks(passage, MEND__PHASE_BEFORE, how_to_ask(passage));
}

static void carry_out(attempt_passage *passage) {
  mend_call *call = call_of(passage);
  if (!mend__call_is_cancelled(call) && mend_decision_get_kind(&passage->decision) == MEND_DECISION_REDIRECT) {
    follow_redirect(passage);
  }
  if (mend__call_is_cancelled(call)) {
    end_unrun(passage);
  } else if (mend_decision_get_kind(&passage->decision) == MEND_DECISION_SKIP) {
    end_skipped(passage);
  } else {
    if (call->answer == MEND__ANSWER_NONE) run_tool(passage);
    end_run(passage);
  }
}

static void ask_afterwards(attempt_passage *passage, mend__phase phase, unsigned how) {
  mend_call *call = call_of(passage);
  mend__decision_clear(&passage->decision);
  if (!mend__call_is_aborted(call)) ask_hooks(passage, phase, how);
  if (mend__call_is_aborted(call)) {
    mend__call_give_up(call);
  } else if (mend_decision_get_kind(&passage->decision) == MEND_DECISION_REDIRECT) {
    mend_error error = {MEND_OK, 0, 0, ""};
    const mend_status status = redirect(passage, &passage->wishes->again, &error);
    if (status == MEND_OK) return;
    fail_redirect(passage, status, &error);
    call->result->outcome = MEND_OUTCOME_FAILED;
  }
}

/* These hooks change the outcome, not the event. A question must reach the person it is for. */
static void follow_up(attempt_passage *passage) {
  switch (result_of(passage)->outcome) {
  case MEND_OUTCOME_OK:
  case MEND_OUTCOME_REDIRECTED:
  case MEND_OUTCOME_SKIPPED: ask_afterwards(passage, MEND__PHASE_AFTER, how_to_ask(passage)); break;
  case MEND_OUTCOME_ESCALATED: ask_afterwards(passage, MEND__PHASE_AFTER, MEND__ASK_IGNORE_REDIRECTS); break;
  case MEND_OUTCOME_FAILED: ask_afterwards(passage, MEND__PHASE_ON_ERROR, how_to_ask(passage)); break;
  case MEND_OUTCOME_ABORTED:
  case MEND_OUTCOME_CANCELLED: break;
  }
}

/* again: the hook's wish that this attempt follows, the last one; NULL for a first attempt. */
static void pass(mend_call *call, const mend__target *asked, hook_wishes *wishes, const hook_redirection *again) {
  attempt_passage passage;
  passage.attempt = (mend__attempt){.call = call, .asked = asked};
  passage.running = asked;
  passage.ran = false;
  passage.wishes = wishes;
  passage.hook = (mend_str)MEND_ABSENT;
  passage.question.text = NULL;
  if (again != NULL) name_redirector(&passage, again);
  mend__decision_init(&passage.decision, call->boundary->allocator);
  call->attempt++;
  call->asked = asked;
  call->effective = asked;
  mend__call_forget_answer(call);

  call->error = mend__publish_before(&passage.attempt);
  if (call->error == MEND_OK) {
    decide(&passage);
    carry_out(&passage);
    follow_up(&passage);
  } else {
    mend__result_refuse(call->result, call->boundary->allocator, call->error, NULL);
  }
  mend__decision_clear(&passage.decision);
  mend__free(call->boundary->allocator, passage.question.text);
}

void mend__boundary_try(mend_call *call, const mend__target *target) {
  hook_wishes wishes;
  redirection_init(&wishes.instead, call->boundary->allocator);
  redirection_init(&wishes.again, call->boundary->allocator);
  pass(call, target, &wishes, NULL);
  if (wishes.again.wanted) {
    if (mend__call_is_cancelled(call)) {
      mend__call_give_up(call);
    } else {
      pass(call, &wishes.again.target, NULL, &wishes.again);
    }
  }
  redirection_free(&wishes.instead);
  redirection_free(&wishes.again);
}
