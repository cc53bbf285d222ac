#include "core/json_kind.h"
#include "hooks/hooks_internal.h"

const char *mend_decision_kind_name(mend_decision_kind kind) {
  switch (kind) {
  case MEND_DECISION_SKIP: return "skip";
  case MEND_DECISION_REDIRECT: return "redirect";
  case MEND_DECISION_ABORT: return "abort";
  case MEND_DECISION_CONTINUE: break;
  }
  return "continue";
}

/* ---- Life ---- */

void mend__decision_init(mend_decision *decision, const mend_allocator *allocator) {
  *decision = (mend_decision){.allocator = allocator, .kind = MEND_DECISION_CONTINUE};
}

/* What says Continue holds nothing. */
void mend__decision_clear(mend_decision *decision) {
  if (decision->kind == MEND_DECISION_CONTINUE) return;
  mend__free(decision->allocator, decision->memory);
  mend__decision_init(decision, decision->allocator);
}

mend_status mend_decision_new(const mend_allocator *allocator, mend_decision **ret_decision) {
  mend_decision *decision = mend__alloc(allocator, sizeof *decision);
  if (decision == NULL) return MEND_ENOMEM;
  mend__decision_init(decision, allocator);
  *ret_decision = decision;
  return MEND_OK;
}

void mend_decision_free(mend_decision *decision) {
  if (decision == NULL) return;
  mend__decision_clear(decision);
  mend__free(decision->allocator, decision);
}

void mend__decision_move(mend_decision *to, mend_decision *from) {
  mend__decision_clear(to);
  *to = *from;
  mend__decision_init(from, from->allocator);
}

/* ---- Setting ---- */

/* Makes the decision what `next` says, whose texts are borrowed; they may be the decision's own. */
static mend_status set(mend_decision *decision, mend_decision next) {
  const size_t size = mend__room_for(next.reason) + mend__room_for(next.stub) + mend__room_for(next.tool) +
                      mend__room_for(next.args) + mend__room_for(next.question);
  next.allocator = decision->allocator;
  if (size > 0) {
    next.memory = mend__alloc(decision->allocator, size);
    if (next.memory == NULL) return MEND_ENOMEM;
  }
  char *place = next.memory;
  next.reason = mend__keep_text(&place, next.reason);
  next.stub = mend__keep_text(&place, next.stub);
  next.tool = mend__keep_text(&place, next.tool);
  next.args = mend__keep_text(&place, next.args);
  next.question = mend__keep_text(&place, next.question);
  mend__decision_clear(decision);
  *decision = next;
  return MEND_OK;
}

void mend_decision_continue(mend_decision *decision) { mend__decision_clear(decision); }

mend_status mend_decision_skip(mend_decision *decision, mend_str reason, mend_str stub) {
  if (stub.ptr == NULL) stub = MEND_STR("\"\"");
  const mend_status status = mend_json_check(stub, MEND__VALUE_DEPTH, NULL);
  if (status != MEND_OK) return status;
  return set(decision, (mend_decision){.kind = MEND_DECISION_SKIP, .reason = reason, .stub = stub});
}

mend_status mend_decision_redirect(mend_decision *decision, mend_str reason, mend_str tool, mend_str args) {
  if (tool.ptr == NULL && args.ptr == NULL) return MEND_EINVAL;
  if (tool.ptr != NULL && tool.len == 0) return MEND_EINVAL;
  if (args.ptr != NULL) {
    const mend_status status = mend_json_check(args, MEND__VALUE_DEPTH, NULL);
    if (status != MEND_OK) return status;
    if (mend__json_kind(args) != MEND_JSON_OBJECT) return MEND_ESYNTAX;
  }
  return set(decision, (mend_decision){.kind = MEND_DECISION_REDIRECT, .reason = reason, .tool = tool, .args = args});
}

mend_status mend_decision_abort(mend_decision *decision, mend_str reason) {
  return set(decision, (mend_decision){.kind = MEND_DECISION_ABORT, .reason = reason});
}

void mend__decision_force_abort(mend_decision *decision, mend_str reason) {
  if (mend_decision_abort(decision, reason) == MEND_OK) return;
  mend__decision_clear(decision);
  decision->kind = MEND_DECISION_ABORT;
  decision->reason = MEND_STR("aborted, out of memory for the reason");
}

void mend__escalation_write_stub(mend__buffer *json, mend_str question) {
  mend__buffer_str(json, MEND_STR("{\"escalation_question\":"));
  mend__buffer_json_string(json, question);
  mend__buffer_char(json, '}');
}

mend_status mend_decision_escalate(mend_decision *decision, mend_str question) {
  if (question.ptr == NULL) return MEND_EINVAL;
  mend__buffer stub;
  mend__buffer_init(&stub, decision->allocator);
  mend__escalation_write_stub(&stub, question);
  mend_status status = MEND_ENOMEM;
  if (!stub.failed) {
    status = set(decision, (mend_decision){.kind = MEND_DECISION_SKIP,
                                           .reason = MEND__ESCALATION_REASON,
                                           .stub = mend__buffer_text(&stub),
                                           .question = question});
  }
  mend__buffer_free(&stub);
  return status;
}

/* ---- Reading ---- */

mend_decision_kind mend_decision_get_kind(const mend_decision *decision) { return decision->kind; }
mend_str mend_decision_reason(const mend_decision *decision) { return decision->reason; }
mend_str mend_decision_stub(const mend_decision *decision) { return decision->stub; }
mend_str mend_decision_question(const mend_decision *decision) { return decision->question; }
mend_str mend_decision_tool(const mend_decision *decision) { return decision->tool; }
mend_str mend_decision_args(const mend_decision *decision) { return decision->args; }
