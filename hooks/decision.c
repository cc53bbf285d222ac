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

static void say_nothing(mend_decision *decision) {
  mend_error *refusal = decision->refusal;
  mend__decision_init(decision, decision->allocator);
  decision->refusal = refusal;
}

/* What says Continue holds nothing. */
void mend__decision_clear(mend_decision *decision) {
  if (decision->kind == MEND_DECISION_CONTINUE) return;
  mend__free(decision->allocator, decision->memory);
  say_nothing(decision);
}

mend_status mend_decision_new(const mend_allocator *allocator, mend_decision **ret_decision) {
  if (ret_decision == NULL) return MEND_EINVAL;
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
  mend_error *refusal = to->refusal;
  mend__decision_clear(to);
  *to = *from;
  to->refusal = refusal;
  say_nothing(from);
}

/* ---- Setting ---- */

static void forget_refusal(mend_decision *decision) {
  if (decision->refusal != NULL) decision->refusal->status = MEND_OK;
}

static mend_status refuse_for_memory(const mend_decision *decision, const char *setter) {
  return mend_error_set(decision->refusal, MEND_ENOMEM, "%s: out of memory", setter);
}

/* Makes the decision what `next` says, whose texts are borrowed; they may be the decision's own. */
static mend_status set(mend_decision *decision, mend_decision next, const char *setter) {
  const size_t size = mend__room_for(next.reason) + mend__room_for(next.stub) + mend__room_for(next.tool) +
                      mend__room_for(next.args) + mend__room_for(next.question);
  next.allocator = decision->allocator;
  next.refusal = decision->refusal;
  if (size > 0) {
    next.memory = mend__alloc(decision->allocator, size);
    if (next.memory == NULL) return refuse_for_memory(decision, setter);
  }
  char *place = next.memory;
  next.reason = mend__keep_text(&place, next.reason);
  next.stub = mend__keep_text(&place, next.stub);
  next.tool = mend__keep_text(&place, next.tool);
  next.args = mend__keep_text(&place, next.args);
  next.question = mend__keep_text(&place, next.question);
  mend__decision_clear(decision);
  *decision = next;
  forget_refusal(decision);
  return MEND_OK;
}

void mend_decision_continue(mend_decision *decision) {
  if (decision == NULL) return;
  mend__decision_clear(decision);
  forget_refusal(decision);
}

mend_status mend_decision_skip(mend_decision *decision, mend_str reason, mend_str stub) {
  if (decision == NULL) return MEND_EINVAL;
  if (stub.ptr == NULL) stub = MEND_STR("\"\"");
  mend_error found;
  const mend_status status = mend_json_check(stub, MEND__VALUE_DEPTH, &found);
  if (status == MEND_OK) {
    return set(decision, (mend_decision){.kind = MEND_DECISION_SKIP, .reason = reason, .stub = stub}, "skip");
  }
  return mend_error_set(decision->refusal, status,
                        "skip: the stub is no JSON: line %u, column %u: %s; mend_decision_skip_text takes plain text",
                        found.line, found.column, found.message);
}

mend_status mend_decision_skip_text(mend_decision *decision, mend_str reason, mend_str text) {
  if (decision == NULL) return MEND_EINVAL;
  mend__buffer stub;
  mend__buffer_init(&stub, decision->allocator);
  mend__buffer_json_string(&stub, text);
  const mend_status status = stub.failed ? refuse_for_memory(decision, "skip")
                                         : mend_decision_skip(decision, reason, mend__buffer_text(&stub));
  mend__buffer_free(&stub);
  return status;
}

static mend_status check_args(mend_str args, mend_error *refusal) {
  mend_error found;
  const mend_status status = mend_json_check(args, MEND__VALUE_DEPTH, &found);
  if (status != MEND_OK) {
    return mend_error_set(refusal, status, "redirect: args are no JSON: line %u, column %u: %s", found.line,
                          found.column, found.message);
  }
  const mend_json_token kind = mend__json_kind(args);
  if (kind == MEND_JSON_OBJECT) return MEND_OK;
  return mend_error_set(refusal, MEND_ESYNTAX, "redirect: args are %s, expected an object", mend__json_kind_name(kind));
}

static mend_status check_redirect(mend_str tool, mend_str args, mend_error *refusal) {
  if (tool.ptr == NULL && args.ptr == NULL) {
    return mend_error_set(refusal, MEND_EINVAL, "redirect: neither tool nor args, expected one of them or both");
  }
  if (tool.ptr != NULL && tool.len == 0) {
    return mend_error_set(refusal, MEND_EINVAL, "redirect: the tool is empty, expected a name, or absent for the same");
  }
  return args.ptr != NULL ? check_args(args, refusal) : MEND_OK;
}

mend_status mend_decision_redirect(mend_decision *decision, mend_str reason, mend_str tool, mend_str args) {
  if (decision == NULL) return MEND_EINVAL;
  const mend_status status = check_redirect(tool, args, decision->refusal);
  if (status != MEND_OK) return status;
  return set(decision, (mend_decision){.kind = MEND_DECISION_REDIRECT, .reason = reason, .tool = tool, .args = args},
             "redirect");
}

mend_status mend_decision_abort(mend_decision *decision, mend_str reason) {
  if (decision == NULL) return MEND_EINVAL;
  return set(decision, (mend_decision){.kind = MEND_DECISION_ABORT, .reason = reason}, "abort");
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
  if (decision == NULL) return MEND_EINVAL;
  if (question.ptr == NULL) {
    return mend_error_set(decision->refusal, MEND_EINVAL, "escalate: the question is absent");
  }
  mend__buffer stub;
  mend__buffer_init(&stub, decision->allocator);
  mend__escalation_write_stub(&stub, question);
  const mend_decision next = {.kind = MEND_DECISION_SKIP,
                              .reason = MEND__ESCALATION_REASON,
                              .stub = mend__buffer_text(&stub),
                              .question = question};
  const mend_status status = stub.failed ? refuse_for_memory(decision, "escalate") : set(decision, next, "escalate");
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
