/* A call that nobody waits for: its flow is on the heap, and goes on wherever its call lands. */
#include "hooks/passage_internal.h"

typedef struct started_call {
  mend__passage passage; /* must be first */
  mend__call_request request;
  mend_result result;
  mend_call_done done;
  void *ctx;
  const mend_allocator *allocator;
  char texts[];
} started_call;

/* ---- Its own copies: the caller's may be gone when it goes on ---- */

static started_call *started_new(const mend__call_request *request, const mend_allocator *allocator) {
  const mend_str tool = request->target.tool, args = request->target.args, name = request->options.call_name;
  if (args.len > SIZE_MAX / 4 || tool.len > SIZE_MAX / 4 || name.len > SIZE_MAX / 4) return NULL;
  started_call *call = mend__alloc(allocator, sizeof *call + tool.len + args.len + name.len + 3);
  if (call == NULL) return NULL;
  char *place = call->texts;
  call->request = *request;
  call->request.target.tool = mend__keep_text(&place, tool);
  call->request.target.args = mend__keep_text(&place, args);
  call->request.options.call_name = mend__keep_text(&place, name);
  if (request->target.own != NULL) call->request.target.own = &call->request.own;
  call->result = (mend_result)MEND_RESULT_INIT;
  call->allocator = allocator;
  return call;
}

/* ---- Its end ---- */

static void tell(started_call *call, mend_status status) {
  mend__call_request_end(&call->request);
  call->done(call->ctx, status, &call->result);
}

static void started_free(started_call *call) {
  mend_result_clear(&call->result);
  mend__free(call->allocator, call);
}

/* Leaving the scope waits for `done` too, for what it touches may be the scope's. */
static void finish(mend__passage *passage) {
  started_call *call = (started_call *)(void *)passage;
  tell(call, mend__passage_close(passage));
  mend__passage_told(passage);
  started_free(call);
}

/* ---- The flow ---- */

/* It went no further. */
static void refuse(const mend_boundary *boundary, mend_status status, const char *sentence, mend_call_done done,
                   void *ctx) {
  mend_result result = MEND_RESULT_INIT;
  mend__result_refuse(&result, boundary->allocator, status, sentence);
  done(ctx, status, &result);
  mend_result_clear(&result);
}

static void start(started_call *call, mend_boundary *boundary, uint64_t *ret_call) {
  mend__passage *passage = &call->passage;
  const mend__call_request *request = &call->request;
  const mend_status status = mend__passage_begin(passage, boundary, &request->target, &request->options, &call->result);
  if (ret_call != NULL) *ret_call = status == MEND_OK ? passage->number : call->result.call;
  if (status != MEND_OK) {
    tell(call, status);
    started_free(call);
    return;
  }
  mend__try_apart(passage, finish);
}

mend_status mend_boundary_start(mend_boundary *boundary, mend_str tool, mend_str args, const mend_call_options *options,
                                mend_call_done done, void *ctx, uint64_t *ret_call) {
  if (boundary == NULL || done == NULL) return MEND_EINVAL;
  mend__call_request request;
  mend_error error = MEND_ERROR_INIT;
  const mend_status status = mend__call_request_take(&request, boundary, tool, args, options, &error);
  started_call *call = status == MEND_OK ? started_new(&request, boundary->allocator) : NULL;
  if (call != NULL) {
    call->done = done;
    call->ctx = ctx;
    start(call, boundary, ret_call);
  } else {
    if (ret_call != NULL) *ret_call = 0;
    mend__call_request_end(&request);
    refuse(boundary, status != MEND_OK ? status : MEND_ENOMEM, error.message, done, ctx);
  }
  return MEND_OK;
}
