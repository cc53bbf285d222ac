/* How an attempt ends: one of these, each of which publishes the one terminal event. */
#include "hooks/passage_internal.h"

/* ---- Its tool did not run ---- */

/* The call was cancelled before. */
static void end_unrun(mend__passage *passage) {
  mend__passage_give_up(passage);
  if (passage->result->outcome == MEND_OUTCOME_ABORTED) {
    mend__publish_aborted(passage);
  } else {
    mend__publish_cancelled(passage, false);
  }
}

static void end_skipped(mend__passage *passage) {
  mend_result *result = passage->result;
  const mend__attempt *attempt = &passage->attempt;
  const mend_decision *decision = &attempt->decision;
  const mend_str question = mend_decision_question(decision);
  result->outcome = question.ptr != NULL ? MEND_OUTCOME_ESCALATED : MEND_OUTCOME_SKIPPED;
  mend__passage_tell(passage, &result->value, mend_decision_stub(decision));
  mend__passage_tell(passage, &result->reason, mend_decision_reason(decision));
  mend__passage_tell(passage, &result->hook, attempt->hook);
  mend__passage_tell(passage, &result->question, question);
  mend__publish_skipped(passage, mend_decision_reason(decision), attempt->hook, mend_decision_stub(decision));
}

/* ---- It failed, or its tool answered ---- */

static void tell_redirector(mend__passage *passage) {
  mend__passage_tell(passage, &passage->result->hook, passage->attempt.redirected_by);
  mend__passage_tell(passage, &passage->result->reason, passage->attempt.redirect_reason);
}

static void end_failed(mend__passage *passage) {
  tell_redirector(passage);
  passage->result->outcome = MEND_OUTCOME_FAILED;
  mend__publish_error(passage);
}

static void end_succeeded(mend__passage *passage) {
  const bool is_other = passage->attempt.redirected || passage->attempt.is_last;
  tell_redirector(passage);
  passage->result->outcome = is_other ? MEND_OUTCOME_REDIRECTED : MEND_OUTCOME_OK;
  mend__publish_after(passage);
}

/* Its tool asks, or passes on what a hook of another call asks: both are told already. */
static void end_escalated(mend__passage *passage) {
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
  mend__publish_skipped(passage, result->reason, result->hook, result->value);
}

static void end_answered(mend__passage *passage, mend__answer *answer) {
  const mend__answer_kind kind = answer->kind;
  passage->attempt.value_hash = answer->value_hash;
  mend__answer_tell(answer, passage->result);
  passage->result->duration_ms = passage->attempt.duration_ms;
  switch (kind) {
  case MEND__ANSWER_VALUE: end_succeeded(passage); break;
  case MEND__ANSWER_FAILURE: end_failed(passage); break;
  case MEND__ANSWER_QUESTION: end_escalated(passage); break;
  }
}

/* ---- Its tool was launched ---- */

static void measure(mend__passage *passage) {
  mend_clock *clock = mend_bus_clock(mend_run_bus(passage->boundary->run));
  const uint64_t took_ns = mend_clock_now(clock).mono_ns - passage->attempt.started_ns;
  passage->attempt.duration_ms = (double)took_ns / 1e6;
}

/* What came too late is no value of the call. */
static void end_cancelled(mend__passage *passage, bool late_result) {
  mend__passage_give_up(passage);
  passage->result->outcome = MEND_OUTCOME_CANCELLED;
  passage->result->duration_ms = passage->attempt.duration_ms;
  mend__publish_cancelled(passage, late_result);
}

/* Its call has landed. */
static void end_launched(mend__passage *passage) {
  mend_call *call = passage->call;
  mend__call_settle(call);
  mend__answer *answer = mend__call_take_answer(call);
  const bool ran = mend__call_has_run(call);
  if (ran) measure(passage);
  if (!mend__call_is_cancelled(call)) {
    end_answered(passage, answer);
    return;
  }
  const bool late_result = answer != NULL && answer->kind == MEND__ANSWER_VALUE;
  mend__answer_free(answer);
  if (ran) {
    end_cancelled(passage, late_result);
  } else {
    end_unrun(passage);
  }
}

/* ---- Which ---- */

void mend__attempt_end(mend__passage *passage) {
  if (passage->attempt.launched) {
    end_launched(passage);
  } else if (mend__call_is_cancelled(passage->call)) {
    end_unrun(passage);
  } else if (passage->attempt.failed) {
    end_failed(passage);
  } else {
    end_skipped(passage);
  }
}
