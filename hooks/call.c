#include "core/json_hash.h"
#include "hooks/hooks_internal.h"

/* ---- What its tool sees ---- */

mend_run *mend_call_run(const mend_call *call) { return call->boundary->run; }
uint64_t mend_call_number(const mend_call *call) { return call->number; }
mend_str mend_call_tool(const mend_call *call) { return call->effective->tool; }
mend_str mend_call_args(const mend_call *call) { return call->effective->args; }
mend_str mend_call_note(const mend_call *call) { return call->note; }
uint32_t mend_call_attempt(const mend_call *call) { return call->attempt; }
mend_token *mend_call_token(const mend_call *call) { return call->token; }
void *mend_call_state(const mend_call *call) { return call->boundary->state; }

mend_status mend_call_progress(mend_call *call, uint64_t bytes, mend_str note) {
  mend_tool_progress_event event = MEND_TOOL_PROGRESS_EVENT_INIT;
  event.event.call = call->number;
  event.event.call_name = call->name;
  event.tool_name = call->asked->tool;
  event.bytes = bytes;
  event.note = note;
  return mend_run_publish(call->boundary->run, &event.event);
}

/* ---- Its answer ---- */

/* What was hashed by its structure is JSON. */
mend_status mend__json_read(mend_str text, const mend_allocator *allocator, mend_hash *ret_hash, mend_error *error) {
  mend_json_hash_result read;
  mend_status status = mend__json_hash_alloc(text, allocator, &read);
  if (status != MEND_OK) return mend_error_set(error, status, "%s", mend_status_message(status));
  if (read.raw) status = mend_json_check(text, MEND__VALUE_DEPTH, error);
  if (status == MEND_OK) *ret_hash = read.hash;
  return status;
}

void mend__call_tell(mend_call *call, mend_str *field, mend_str text) {
  if (mend__result_set(call->result, call->boundary->allocator, field, text) != MEND_OK) call->incomplete = true;
}

void mend__call_forget_answer(mend_call *call) {
  mend_result *result = call->result;
  mend_result_clear(result);
  result->call = call->number;
  result->attempts = call->attempt;
  call->answer = MEND__ANSWER_NONE;
  call->lost = false;
}

static mend_status keep_value(mend_call *call, mend_str value, mend_hash hash) {
  const mend_status status = mend__result_set(call->result, call->boundary->allocator, &call->result->value, value);
  call->lost = status != MEND_OK;
  if (status != MEND_OK) return status;
  call->answer = MEND__ANSWER_VALUE;
  call->value_hash = hash;
  return MEND_OK;
}

mend_status mend_call_succeed(mend_call *call, mend_str result) {
  if (call->answer != MEND__ANSWER_NONE) return MEND_EEXIST;
  if (result.ptr == NULL) result = MEND_STR("null");
  mend_error error = {MEND_OK, 0, 0, ""};
  mend_hash hash;
  const mend_status status = mend__json_read(result, call->boundary->allocator, &hash, &error);
  if (status == MEND_OK) return keep_value(call, result, hash);
  if (status == MEND_ESYNTAX) {
    mend_call_fail(call, MEND_STR("bad_result"), mend_str_from(error.message));
  } else {
    call->lost = true;
  }
  return status;
}

mend_status mend_call_succeed_text(mend_call *call, mend_str text) {
  if (call->answer != MEND__ANSWER_NONE) return MEND_EEXIST;
  mend__buffer json;
  mend__buffer_init(&json, call->boundary->allocator);
  mend__buffer_json_string(&json, text);
  call->lost = json.failed;
  const mend_status status = json.failed ? MEND_ENOMEM : mend_call_succeed(call, (mend_str){json.data, json.len});
  mend__buffer_free(&json);
  return status;
}

/* A failure is never lost: without memory it is told by a sentence of our own. */
mend_status mend_call_fail(mend_call *call, mend_str type, mend_str message) {
  if (call->answer != MEND__ANSWER_NONE) return MEND_EEXIST;
  const mend_allocator *allocator = call->boundary->allocator;
  mend_result *result = call->result;
  if (type.len == 0) type = MEND_STR("error");
  call->answer = MEND__ANSWER_FAILURE;
  mend_status status = mend__result_set(result, allocator, &result->error_type, type);
  if (status == MEND_OK) status = mend__result_set(result, allocator, &result->error_message, message);
  if (status == MEND_OK) return MEND_OK;
  result->error_type = MEND_STR("MEND_ENOMEM");
  result->error_message = MEND_STR("out of memory for what the tool said");
  return status;
}

/* ---- Opening and closing ---- */

static void append(mend__run_state *state, mend_call *call) {
  call->previous = state->last;
  *(state->last != NULL ? &state->last->next : &state->first) = call;
  state->last = call;
  state->open++;
  if (call->name.len > 0) state->open_named++;
  call->boundary->open++;
}

static void take_out(mend__run_state *state, mend_call *call) {
  *(call->previous != NULL ? &call->previous->next : &state->first) = call->next;
  *(call->next != NULL ? &call->next->previous : &state->last) = call->previous;
  state->open--;
  if (call->name.len > 0) state->open_named--;
  call->boundary->open--;
}

static mend_call *find_open(const mend__run_state *state, uint64_t number) {
  mend_call *call = state->first;
  while (call != NULL && call->number != number)
    call = call->next;
  return call;
}

static bool is_open(const mend__run_state *state, uint64_t number) { return find_open(state, number) != NULL; }

/* A call's own number, or that of its name. Where calls have names, one of them may be the number that comes next. */
static mend_status choose_number(mend__run_state *state, mend_call *call) {
  if (call->name.len > 0) {
    call->number = mend_call_from_name(call->name);
    return is_open(state, call->number) ? MEND_EEXIST : MEND_OK;
  }
  do {
    call->number = mend_run_next_call(state->run);
  } while (state->open_named > 0 && is_open(state, call->number));
  return MEND_OK;
}

static mend_status open_locked(mend__run_state *state, mend_call *call) {
  const mend__abort_frame *marked = mend__frame_marked(state->innermost);
  if (call->boundary->closed) return MEND_ECLOSED;
  if (marked == NULL && state->open >= MEND__OPEN_MAX) return MEND_ELIMIT;
  const mend_status status = choose_number(state, call);
  if (marked != NULL) {
    call->abort = mend__abort_retain(marked->abort);
    return MEND_ABORTED;
  }
  if (status != MEND_OK) return status;
  call->frame = state->innermost;
  call->frame_depth = state->innermost->depth;
  append(state, call);
  return MEND_OK;
}

static mend_status open_call(mend_call *call) {
  mend_boundary *boundary = call->boundary;
  mend_status status = mend_token_new(boundary->allocator, mend_bus_clock(mend_run_bus(boundary->run)), &call->token);
  if (status != MEND_OK) return status;
  mend__run_lock(boundary->run);
  status = open_locked(boundary->run_state, call);
  mend__run_unlock(boundary->run);
  return status;
}

bool mend__boundary_is_drained(const mend_boundary *boundary) {
  const mend_call *call = boundary->run_state->first;
  while (call != NULL && (call->boundary != boundary || pthread_equal(call->thread, boundary->drainer)))
    call = call->next;
  return call == NULL;
}

static void close_call(mend_call *call) {
  mend_boundary *boundary = call->boundary;
  mend_token *drain = NULL;
  mend__run_lock(boundary->run);
  take_out(boundary->run_state, call);
  if (boundary->drain != NULL && mend__boundary_is_drained(boundary)) drain = mend_token_retain(boundary->drain);
  mend__run_unlock(boundary->run);
  if (drain == NULL) return;
  mend_token_cancel(drain, MEND_STR("drained"));
  mend_token_release(drain);
}

static void let_go(mend_call *call) {
  mend_token_release(call->token);
  mend__abort_release(call->abort);
  mend_boundary_release(call->boundary);
}

mend_status mend__flow_begin(const mend_boundary *boundary, mend_result *result, mend_result *ret_own) {
  if (result == NULL || result->size < sizeof *result) return MEND_EINVAL;
  *ret_own = (mend_result)MEND_RESULT_INIT;
  if (boundary != NULL) return MEND_OK;
  mend_result_clear(result);
  return mend__result_refuse(result, NULL, MEND_EINVAL,
                             "boundary: NULL, expected one; a healing runner has none outside of a scope");
}

/* Without memory for the sentence the status's own stays. */
mend_status mend__result_refuse(mend_result *result, const mend_allocator *allocator, mend_status status,
                                const char *sentence) {
  result->outcome = MEND_OUTCOME_FAILED;
  result->error_type = mend_str_from(mend_status_name(status));
  result->error_message = mend_str_from(mend_status_message(status));
  if (sentence != NULL && *sentence != '\0') {
    mend__result_set(result, allocator, &result->error_message, mend_str_from(sentence));
  }
  return status;
}

/* The run is aborted: nothing but this is published. */
static void refuse_aborted(mend_call *call, mend_str tool) {
  mend_result *result = call->result;
  const mend_str reason = mend__abort_reason(call->abort);
  result->call = call->number;
  result->outcome = MEND_OUTCOME_ABORTED;
  mend__call_tell(call, &result->reason, reason);
  mend__call_tell(call, &result->hook, mend__abort_source(call->abort));
  mend__publish_refused(call->boundary->run, call->number, call->name, tool, reason);
}

static mend_status read_target(const mend__target *given, const mend_allocator *allocator, mend__target *ret_target,
                               mend_error *error) {
  *ret_target = *given;
  if (given->tool.len == 0) return mend_error_set(error, MEND_EINVAL, "tool: none, expected a name");
  if (given->args.ptr == NULL) ret_target->args = MEND_STR("{}");
  return mend__json_read(ret_target->args, allocator, &ret_target->args_hash, error);
}

mend_status mend__call_begin(mend_call *call, mend_boundary *boundary, const mend__target *given, mend_str call_name,
                             mend_result *result, mend__target *ret_target) {
  mend_error error = {MEND_OK, 0, 0, ""};
  mend_status status = read_target(given, boundary->allocator, ret_target, &error);
  if (status != MEND_OK) return mend__result_refuse(result, boundary->allocator, status, error.message);
  *call = (mend_call){
      .boundary = mend_boundary_retain(boundary), .name = call_name, .result = result, .thread = pthread_self()};
  status = open_call(call);
  if (status == MEND_OK) return MEND_OK;
  if (status == MEND_ABORTED) {
    refuse_aborted(call, given->tool);
  } else {
    const char *sentence = status == MEND_ECLOSED ? "the healing scope of this run was left" : NULL;
    mend__result_refuse(result, boundary->allocator, status, sentence);
  }
  let_go(call);
  return status;
}

mend_status mend_run_cancel_call(mend_run *run, uint64_t number, mend_str reason) {
  mend__run_state *state = mend__run_state_find(run);
  if (state == NULL) return MEND_ENOENT;
  mend__run_lock(run);
  mend_call *call = find_open(state, number);
  mend_token *token = call != NULL ? mend_token_retain(call->token) : NULL;
  mend__run_unlock(run);
  if (token == NULL) return MEND_ENOENT;
  mend_token_cancel(token, reason);
  mend_token_release(token);
  return MEND_OK;
}

/* ---- How it ends ---- */

void mend__call_give_up(mend_call *call) {
  mend_result *result = call->result;
  const bool aborted = mend__call_is_aborted(call);
  mend__call_forget_answer(call);
  result->outcome = aborted ? MEND_OUTCOME_ABORTED : MEND_OUTCOME_CANCELLED;
  mend__call_tell(call, &result->reason, aborted ? mend__abort_reason(call->abort) : mend_token_reason(call->token));
  if (aborted) mend__call_tell(call, &result->hook, mend__abort_source(call->abort));
}

static mend_status status_of(const mend_call *call) {
  if (call->error != MEND_OK) return call->error;
  switch (call->result->outcome) {
  case MEND_OUTCOME_OK:
  case MEND_OUTCOME_SKIPPED:
  case MEND_OUTCOME_ESCALATED:
  case MEND_OUTCOME_REDIRECTED: return call->incomplete ? MEND_ENOMEM : MEND_OK;
  case MEND_OUTCOME_FAILED: return MEND_EFAILED;
  case MEND_OUTCOME_ABORTED: return MEND_ABORTED;
  case MEND_OUTCOME_CANCELLED: break;
  }
  return mend__call_is_aborted(call) ? MEND_ABORTED : MEND_ECANCELLED;
}

mend_status mend__call_end(mend_call *call) {
  close_call(call);
  const mend_status status = status_of(call);
  let_go(call);
  return status;
}
