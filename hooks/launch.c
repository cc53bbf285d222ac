/* Running a tool. A blocking one runs here. One that is asynchronous or pooled runs apart from its passage: its call
 * lands when it is answered (a pooled one: when its tool has returned) or cancelled, whichever comes first, and who
 * lands it has the passage go on. */
#include "hooks/passage_internal.h"

/* ---- Landing ---- */

/* Whether it was the last one. */
static bool lift_hold(mend__passage *passage) {
  return atomic_fetch_sub_explicit(&passage->holds, 1, memory_order_acq_rel) == 1;
}

void mend__call_land(mend_call *call) {
  if (atomic_exchange_explicit(&call->landed, true, memory_order_acq_rel)) return;
  mend__passage *passage = call->passage;
  if (!lift_hold(passage)) return;
  if (passage->bell != NULL) {
    mend__bell_ring(passage->bell);
  } else {
    mend__try_go_on(passage);
  }
}

/* On its token being cancelled. Its tool, unless it waits for a thread, is told by the token too and may run on. */
static void land_cancelled(void *ctx) {
  mend_call *call = ctx;
  if (call->kind == MEND_TOOL_POOLED && mend__pool_withdraw(mend__tools_pool_find(call->boundary->tools), &call->job)) {
    mend__call_end_run(call); /* in the place of the thread */
    mend__call_drop(call);
  }
  mend__call_close(call);
  mend__call_land(call);
}

void mend__call_settle(mend_call *call) {
  if (call->kind != MEND_TOOL_BLOCKING) mend_token_forget(call->token, call->cancel_id);
}

/* ---- Here ---- */

typedef struct executable {
  const mend_tool *tool;
  void *ctx;
  mend__tool_entry *entry; /* a reference; NULL: the tool is borrowed */
} executable;

static mend__launching run_here(mend_call *call, const executable *what) {
  mend__call_begin_run(call, what->entry);
  call->ran = true;
  mend__call_answer_status(call, what->tool->execute(what->ctx, call));
  atomic_store_explicit(&call->landed, true, memory_order_release);
  mend__call_end_run(call);
  return MEND__LAUNCH_LANDED;
}

/* ---- Apart ---- */

/* The tool does not run. One that was cancelled meanwhile has landed. */
static void refuse(mend_call *call, mend_status status) {
  if (status == MEND_ELIMIT) {
    mend_call_fail(call, MEND_STR("pool_full"), MEND_STR("too many calls wait for a thread of the tools' pool"));
  } else if (status != MEND_ECANCELLED) {
    mend_call_fail(call, mend_str_from(mend_status_name(status)), MEND_STR("no memory or no thread to run the tool"));
  }
  mend__call_end_run(call);
  mend__call_land(call);
}

static void begin_async(mend__passage *passage, const executable *what) {
  mend_call *call = passage->call;
  if (!mend__call_has_landed(call)) {
    call->ran = true;
    const mend_status status = what->tool->execute(what->ctx, call);
    if (status != MEND_OK) mend__call_answer_status(call, status);
  }
  mend__boundary_step_out(passage);
  mend__call_end_run(call);
}

/* No longer running when anybody is told that it has landed, who then finds its boundary drained. */
static void run_pooled(mend__job *job) {
  mend_call *call = MEND__CONTAINER(job, mend_call, job);
  const mend__tool_entry *entry = call->entry;
  mend__boundary_step_in(call);
  mend__call_answer_status(call, entry->tool.execute(entry->ctx, call));
  mend__call_end_run(call);
  mend__call_land(call);
  mend__call_drop(call);
}

/* The passage is let go of before a thread can have the job, so that it goes on there, however soon that is: a `done`
 * that starts the next call is not called below the one before. */
static mend__launching begin_pooled(mend__passage *passage) {
  mend_call *call = passage->call;
  mend__pool *pool = mend__tools_pool_find(call->boundary->tools);
  if (passage->bell == NULL) mend__passage_leave(passage);
  atomic_fetch_add_explicit(&call->references, 1, memory_order_relaxed); /* the thread's, which drops it */
  const bool has_landed = lift_hold(passage);
  const mend_status status = has_landed ? MEND_ECANCELLED : mend__pool_submit(pool, &call->job);
  if (status != MEND_OK) {
    refuse(call, status);
    mend__call_drop(call);
  }
  return has_landed ? MEND__LAUNCH_LANDED : MEND__LAUNCH_AWAITED;
}

/* What must be there before anybody can cancel the call: its texts, and the pool that it is withdrawn from. */
static mend_status make_ready(mend_call *call) {
  if (call->kind == MEND_TOOL_POOLED && mend__tools_pool(call->boundary->tools) == NULL) return MEND_ENOMEM;
  return mend__call_keep_texts(call);
}

static mend__launching run_apart(mend__passage *passage, const executable *what) {
  mend_call *call = passage->call;
  call->passage = passage;
  call->cancel_id = 0;
  call->job = (mend__job){.run = run_pooled, .waiter = passage->helper};
  atomic_store_explicit(&passage->holds, 2, memory_order_relaxed);
  mend__call_begin_run(call, what->entry);
  mend__boundary_enlist(call, what->tool->kind);
  mend_status status = make_ready(call);
  if (status == MEND_OK) status = mend_token_on_cancel(call->token, land_cancelled, call, &call->cancel_id);
  if (status == MEND_OK && call->kind == MEND_TOOL_POOLED) return begin_pooled(passage);
  if (status == MEND_OK) {
    begin_async(passage, what);
  } else {
    refuse(call, status);
  }
  return lift_hold(passage) ? MEND__LAUNCH_LANDED : MEND__LAUNCH_AWAITED;
}

/* ---- Which ---- */

static bool find_tool(const mend__passage *passage, executable *ret_what) {
  const mend__target *target = passage->attempt.running;
  mend__tool_entry *entry = target->own_entry;
  if (target->own != NULL && entry == NULL) {
    *ret_what = (executable){target->own, target->own_ctx, NULL};
    return true;
  }
  if (target->own != NULL) {
    mend__tool_entry_retain(entry);
  } else if (mend__tools_find(passage->boundary->tools, target->tool, &entry) != MEND_OK) {
    return false;
  }
  *ret_what = (executable){&entry->tool, entry->ctx, entry};
  return true;
}

mend__launching mend__launch(mend__passage *passage) {
  executable what;
  if (!find_tool(passage, &what)) return MEND__LAUNCH_UNKNOWN;
  return what.tool->kind == MEND_TOOL_BLOCKING ? run_here(passage->call, &what) : run_apart(passage, &what);
}
