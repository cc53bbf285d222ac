/* A call's way through the boundary, as its flow sees it: opening, what is told of it, closing. */
#include "hooks/passage_internal.h"

enum { SHOWN_LEN = 64 }; /* of a tool's name, in a sentence */

/* ---- What is told of it ---- */

void mend__passage_tell(mend__passage *passage, mend_str *field, mend_str text) {
  if (mend__result_set(passage->result, passage->boundary->allocator, field, text) != MEND_OK)
    passage->incomplete = true;
}

void mend__passage_give_up(mend__passage *passage) {
  mend_result *result = passage->result;
  const bool aborted = mend__call_is_aborted(passage->call);
  mend__passage_clear_result(passage);
  result->outcome = aborted ? MEND_OUTCOME_ABORTED : MEND_OUTCOME_CANCELLED;
  mend__passage_tell(passage, &result->reason,
                     aborted ? mend__abort_reason(passage->abort) : mend_token_reason(passage->call->token));
  if (aborted) mend__passage_tell(passage, &result->hook, mend__abort_source(passage->abort));
}

void mend__passage_clear_result(mend__passage *passage) {
  mend_result_clear(passage->result);
  passage->result->call = passage->number;
  passage->result->attempts = passage->call->attempt;
}

/* ---- Opening ---- */

/* A call's own number, or that of its name. Where calls have names, one of them may be the number that comes next. */
static mend_status choose_number(mend__run_state *state, mend__passage *passage) {
  if (passage->name.len > 0) {
    passage->number = mend_call_from_name(passage->name);
    return mend__open_calls_find(&state->open, passage->number) != NULL ? MEND_EEXIST : MEND_OK;
  }
  do {
    passage->number = mend_run_next_call(state->run);
  } while (mend__open_calls_find(&state->open, passage->number) != NULL);
  return MEND_OK;
}

static mend_status open_locked(mend__run_state *state, mend__passage *passage) {
  const mend__abort_frame *marked = mend__frame_marked(state->innermost);
  if (passage->boundary->closed) return MEND_ECLOSED;
  if (marked == NULL && state->open.count >= MEND__OPEN_MAX) return MEND_ELIMIT;
  const mend_status status = choose_number(state, passage);
  if (marked != NULL) {
    passage->abort = mend__abort_retain(marked->abort);
    return MEND_ABORTED;
  }
  if (status != MEND_OK) return status;
  passage->call->number = passage->number;
  passage->frame = state->innermost;
  passage->frame_depth = state->innermost->depth;
  mend__open_calls_add(&state->open, passage);
  passage->boundary->open++;
  return MEND_OK;
}

static mend_status open_passage(mend__passage *passage) {
  mend_run *run = passage->boundary->run;
  mend_status status = mend__call_new(passage->boundary, &passage->call);
  if (status != MEND_OK) return status;
  mend__run_lock(run);
  status = open_locked(passage->boundary->run_state, passage);
  mend__run_unlock(run);
  return status;
}

static void let_go(mend__passage *passage) {
  mend__abort_release(passage->abort);
  if (passage->call != NULL) mend__call_drop(passage->call);
}

/* The run is aborted: nothing but this is published. */
static void refuse_aborted(mend__passage *passage) {
  mend_result *result = passage->result;
  const mend_str reason = mend__abort_reason(passage->abort);
  result->call = passage->number;
  result->outcome = MEND_OUTCOME_ABORTED;
  mend__passage_tell(passage, &result->reason, reason);
  mend__passage_tell(passage, &result->hook, mend__abort_source(passage->abort));
  mend__publish_refused(passage->boundary->run, passage->number, passage->name, passage->asked.tool, reason);
}

static mend_status read_args(mend_str tool, mend_str args, const mend_allocator *allocator, mend_hash *ret_hash,
                             mend_error *error) {
  mend_error found = MEND_ERROR_INIT;
  const mend_status status = mend__json_read(args, allocator, ret_hash, &found);
  if (status != MEND_ESYNTAX) return status;
  const mend_str shown = {tool.ptr, mend__utf8_cut(tool, SHOWN_LEN)};
  return mend_error_set(error, status, "the arguments of %.*s are no JSON (line %u, column %u): %s",
                        MEND_STR_ARG(shown), found.line, found.column, found.message);
}

mend_status mend__target_check(const mend__target *target, mend_error *error) {
  return target->tool.len > 0 ? MEND_OK : mend_error_set(error, MEND_EINVAL, "tool: none, expected a name");
}

static mend_status read_target(const mend__target *given, const mend_allocator *allocator, mend__target *ret_target,
                               mend_error *error) {
  *ret_target = *given;
  const mend_status status = mend__target_check(given, error);
  if (status != MEND_OK) return status;
  if (given->args.ptr == NULL) ret_target->args = MEND_STR("{}");
  return read_args(given->tool, ret_target->args, allocator, &ret_target->args_hash, error);
}

static uint64_t number_within(const mend_call *call, const mend_boundary *boundary) {
  return call != NULL && call->boundary->run == boundary->run ? call->number : MEND_NONE;
}

/* Member by member, as an attempt. */
static void init(mend__passage *passage, mend_boundary *boundary, const mend_call_options *options,
                 mend_result *result) {
  passage->abort = NULL;
  passage->has_thread = true;
  passage->thread = pthread_self();
  passage->call = NULL;
  passage->boundary = boundary;
  passage->number = 0;
  passage->name = options->call_name;
  passage->within = number_within(options->within, boundary);
  passage->note = (mend_str)MEND_ABSENT;
  passage->result = result;
  passage->has_begun = false;
  atomic_init(&passage->started_ns, 0);
  passage->incomplete = false;
  passage->error = MEND_OK;
  atomic_init(&passage->holds, 0);
  passage->bell = NULL;
  passage->helper = NULL;
}

mend_status mend__passage_begin(mend__passage *passage, mend_boundary *boundary, const mend__target *given,
                                const mend_call_options *options, mend_result *result) {
  mend_error error = MEND_ERROR_INIT;
  mend_status status = read_target(given, boundary->allocator, &passage->asked, &error);
  if (status != MEND_OK) return mend__result_refuse(result, boundary->allocator, status, error.message);
  init(passage, boundary, options, result);
  status = open_passage(passage);
  if (status == MEND_OK) return MEND_OK;
  if (status == MEND_ABORTED) {
    refuse_aborted(passage);
  } else {
    const char *sentence = status == MEND_ECLOSED ? "the healing scope of this run was left" : NULL;
    mend__result_refuse(result, boundary->allocator, status, sentence);
  }
  let_go(passage);
  return status;
}

/* ---- Going on ---- */

/* Who walks the open calls under the lock may look at their calls. */
mend_status mend__passage_renew(mend__passage *passage) {
  mend_call *old = passage->call, *call;
  const mend_status status = mend__call_new_again(old, &call);
  if (status != MEND_OK) return status;
  mend__run_lock(passage->boundary->run);
  atomic_init(&call->aborted, mend__call_is_aborted(old));
  passage->call = call;
  mend__run_unlock(passage->boundary->run);
  mend__call_drop(old);
  return MEND_OK;
}

void mend__passage_leave(mend__passage *passage) {
  mend__run_lock(passage->boundary->run);
  passage->has_thread = false;
  mend__run_unlock(passage->boundary->run);
}

void mend__passage_enter(mend__passage *passage) {
  mend__run_lock(passage->boundary->run);
  passage->has_thread = true;
  passage->thread = pthread_self();
  mend__run_unlock(passage->boundary->run);
}

/* ---- Closing ---- */

static mend_status status_of(const mend__passage *passage) {
  if (passage->error != MEND_OK) return passage->error;
  switch (passage->result->outcome) {
  case MEND_OUTCOME_OK:
  case MEND_OUTCOME_SKIPPED:
  case MEND_OUTCOME_ESCALATED:
  case MEND_OUTCOME_REDIRECTED: return passage->incomplete ? MEND_ENOMEM : MEND_OK;
  case MEND_OUTCOME_FAILED: return MEND_EFAILED;
  case MEND_OUTCOME_ABORTED: return MEND_ABORTED;
  case MEND_OUTCOME_CANCELLED: break;
  }
  return mend__call_is_aborted(passage->call) ? MEND_ABORTED : MEND_ECANCELLED;
}

static void close_locked(mend__passage *passage) {
  mend__open_calls_remove(&passage->boundary->run_state->open, passage);
  passage->boundary->open--;
}

mend_status mend__passage_end(mend__passage *passage) {
  mend_boundary *boundary = passage->boundary;
  mend__run_lock(boundary->run);
  close_locked(passage);
  mend_token *drain = mend__boundary_drained(boundary);
  mend__run_unlock(boundary->run);
  mend__boundary_tell_drained(drain);
  const mend_status status = status_of(passage);
  let_go(passage);
  return status;
}

mend_status mend__passage_close(mend__passage *passage) {
  mend_boundary *boundary = passage->boundary;
  mend__run_lock(boundary->run);
  close_locked(passage);
  passage->next_told = boundary->told;
  boundary->told = passage;
  boundary->told_count++;
  mend__run_unlock(boundary->run);
  return status_of(passage);
}

void mend__passage_told(mend__passage *passage) {
  mend_boundary *boundary = passage->boundary;
  mend__run_lock(boundary->run);
  mend__passage **place = &boundary->told;
  while (*place != passage)
    place = &(*place)->next_told;
  *place = passage->next_told;
  boundary->told_count--;
  mend_token *drain = mend__boundary_drained(boundary);
  mend__run_unlock(boundary->run);
  mend__boundary_tell_drained(drain);
  let_go(passage);
}
