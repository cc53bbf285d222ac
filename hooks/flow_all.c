/* Fan-out: several calls at once. A blocking tool runs on this thread; one that runs apart must not wait for it to be
 * free, so its call goes on where it lands. */
#include "core/options_size.h"
#include "hooks/passage_internal.h"
#include "hooks/until.h"

#include <stdalign.h>

typedef enum batch_turn { TURN_NONE, TURN_FIRST, TURN_SECOND } batch_turn;

typedef struct batch batch;

typedef struct batch_member {
  mend__passage passage; /* must be first */
  mend__call_request request;
  mend_status status;
  mend_result result;
  batch *all;
  batch_turn turn;
} batch_member;

struct batch {
  mend_boundary *boundary;
  batch_member *members;
  size_t count;
  mend__bell over;    /* rung once by each member, as the last that it does */
  mend__bell *helper; /* that one, when this thread is a pool's; else NULL */
  mend_token *until;  /* NULL: nothing ends them */
  uint64_t until_id;
};

/* ---- One of them ---- */

static void end_member(batch_member *member, mend_status status) {
  mend__call_request_end(&member->request);
  member->status = status;
  mend__bell_ring(&member->all->over);
}

static void finish(mend__passage *passage) { end_member((batch_member *)(void *)passage, mend__passage_end(passage)); }

static void begin(batch_member *member) {
  mend__passage *passage = &member->passage;
  const mend__call_request *request = &member->request;
  mend_token *until = member->all->until;
  const mend_status status =
      mend__passage_begin(passage, member->all->boundary, &request->target, &request->options, &member->result);
  if (status != MEND_OK) {
    end_member(member, status);
    return;
  }
  passage->helper = member->all->helper;
  if (until != NULL && mend_token_is_cancelled(until))
    mend_token_cancel(passage->call->token, mend_token_reason(until));
  mend__try_apart(passage, finish);
}

/* A redirect may make it another one. */
static bool is_blocking(const mend__target *target, mend_tools *tools) {
  if (target->own != NULL) return target->own->kind == MEND_TOOL_BLOCKING;
  mend__tool_entry *entry;
  if (mend__tools_find(tools, target->tool, &entry) != MEND_OK) return true;
  const bool blocks = entry->tool.kind == MEND_TOOL_BLOCKING;
  mend__tool_entry_release(entry);
  return blocks;
}

static void prepare(batch_member *member, batch *all, const mend_batch_call *call) {
  mend_boundary *boundary = all->boundary;
  mend_error error = MEND_ERROR_INIT;
  member->all = all;
  member->result = (mend_result)MEND_RESULT_INIT;
  const mend_status status =
      mend__call_request_take(&member->request, boundary, call->tool, call->args, call->options, &error);
  if (status == MEND_OK) {
    member->turn = is_blocking(&member->request.target, boundary->tools) ? TURN_SECOND : TURN_FIRST;
  } else {
    member->turn = TURN_NONE;
    mend__result_refuse(&member->result, boundary->allocator, status, error.message);
    end_member(member, status);
  }
}

/* ---- All of them ---- */

static void take_turn(batch *all, batch_turn turn) {
  for (size_t i = 0; i < all->count; i++) {
    if (all->members[i].turn == turn) begin(&all->members[i]);
  }
}

static bool is_one_of(const void *ctx, const mend__passage *passage) {
  const batch *all = ctx;
  const uintptr_t first = (uintptr_t)all->members, place = (uintptr_t)passage;
  return place >= first && place < first + all->count * sizeof *all->members;
}

/* Those that are open; others look at the token when they begin. */
static void cancel_open(void *ctx) {
  const batch *all = ctx;
  mend__open_calls_cancel(all->boundary->run_state, is_one_of, all, mend_token_reason(all->until));
}

/* Before the first of them is open. */
static mend_status listen(batch *all) {
  return all->until != NULL ? mend_token_on_cancel(all->until, cancel_open, all, &all->until_id) : MEND_OK;
}

/* Between elements is what their header says. */
static mend_batch_call *call_at(mend_batch_call *calls, size_t index) {
  return (mend_batch_call *)(void *)((char *)calls + index * calls->size);
}

static void run(batch *all, mend_batch_call *calls) {
  for (size_t i = 0; i < all->count; i++)
    prepare(&all->members[i], all, call_at(calls, i));
  take_turn(all, TURN_FIRST);
  take_turn(all, TURN_SECOND);
  mend__bell_await(&all->over, all->count, all->boundary->tools);
  if (all->until != NULL) mend_token_forget(all->until, all->until_id);
}

/* What one call's result held may be another one's input, so none is replaced before all are over. */
static void tell(batch *all, mend_batch_call *calls) {
  for (size_t i = 0; i < all->count; i++) {
    mend_batch_call *call = call_at(calls, i);
    mend__result_move(&call->result, &all->members[i].result);
    call->status = all->members[i].status;
  }
}

/* ---- The flow ---- */

static bool are_calls(mend_batch_call *calls, size_t count) {
  if (calls == NULL || calls->size < sizeof *calls || calls->size > MEND__STRUCT_SIZE_MAX) return false;
  if (calls->size % alignof(mend_batch_call) != 0) return false;
  for (size_t i = 0; i < count; i++) {
    const mend_batch_call *call = call_at(calls, i);
    if (call->size != calls->size || call->result.size < sizeof call->result) return false;
  }
  return true;
}

/* There may be no result to tell it by. */
static mend_status refuse_calls(const mend_boundary *boundary, const mend_batch_call *calls) {
  const char *sentence =
      calls == NULL
          ? "calls were refused: their array is NULL"
          : "calls were refused: a mend_batch_call or its result has a wrong size, start from MEND_BATCH_CALL_INIT";
  if (boundary != NULL) mend__bus_log(mend_run_bus(boundary->run), MEND_LOG_ERROR, sentence);
  return MEND_EINVAL;
}

/* A tool of the caller's is taken and let go of, as by a call that has ended without it. */
static void drop_own(const mend_boundary *boundary, const mend_batch_call *call) {
  mend__call_request request;
  if (mend__call_request_take(&request, boundary, call->tool, call->args, call->options, NULL) != MEND_OK) return;
  mend__call_request_end(&request);
}

static mend_status refuse_all(const mend_boundary *boundary, mend_batch_call *calls, size_t count, mend_status status) {
  for (size_t i = 0; boundary != NULL && i < count; i++)
    drop_own(boundary, call_at(calls, i));
  for (size_t i = 0; i < count; i++) {
    mend_batch_call *call = call_at(calls, i);
    mend_result own;
    call->status = mend__flow_begin(boundary, &call->result, &own);
    if (boundary == NULL) continue;
    mend_result_clear(&call->result);
    call->status = mend__result_refuse(&call->result, boundary->allocator, status, NULL);
  }
  return status;
}

/* An abort first, for it is what ended the others. */
static mend_status status_of(mend_batch_call *calls, size_t count) {
  mend_status first = MEND_OK;
  for (size_t i = 0; i < count; i++) {
    const mend_status status = call_at(calls, i)->status;
    if (status == MEND_ABORTED) return status;
    if (first == MEND_OK) first = status;
  }
  return first;
}

mend_status mend_boundary_call_all(mend_boundary *boundary, mend_batch_call *calls, size_t count) {
  return mend__boundary_call_all_until(boundary, calls, count, NULL);
}

mend_status mend__boundary_call_all_until(mend_boundary *boundary, mend_batch_call *calls, size_t count,
                                          mend_token *until) {
  if (count == 0) return boundary != NULL ? MEND_OK : MEND_EINVAL;
  if (!are_calls(calls, count)) return refuse_calls(boundary, calls);
  if (boundary == NULL) return refuse_all(NULL, calls, count, MEND_EINVAL);
  if (count > SIZE_MAX / sizeof(batch_member)) return refuse_all(boundary, calls, count, MEND_ENOMEM);
  const mend_allocator *allocator = boundary->allocator;
  batch all = {.boundary = boundary, .count = count, .over = MEND__BELL_INIT, .until = until};
  all.members = mend__alloc(allocator, count * sizeof *all.members);
  if (all.members == NULL || listen(&all) != MEND_OK) {
    mend__free(allocator, all.members);
    return refuse_all(boundary, calls, count, MEND_ENOMEM);
  }
  mend_boundary_retain(boundary); /* a hook or a tool may drop what was the last reference */
  if (mend__pool_is_worker()) all.helper = &all.over;
  run(&all, calls);
  tell(&all, calls);
  mend__bell_end(&all.over);
  mend__free(allocator, all.members);
  mend_boundary_release(boundary);
  return status_of(calls, count);
}
