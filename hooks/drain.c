/* The end of a scope: no more calls of a boundary, and none left open. */
#include "hooks/passage_internal.h"
#include "hooks/scope.h"

/* ---- Tools that run apart from their passages ---- */

void mend__boundary_enlist(mend_call *call, mend_tool_kind kind) {
  mend_boundary *boundary = call->boundary;
  mend__run_lock(boundary->run);
  call->kind = kind;
  call->is_running = true;
  call->has_thread = kind == MEND_TOOL_ASYNC;
  call->thread = pthread_self();
  call->previous = NULL;
  call->next = boundary->running;
  if (call->next != NULL) call->next->previous = call;
  boundary->running = call;
  boundary->running_count++;
  mend__run_unlock(boundary->run);
}

void mend__boundary_step_in(mend_call *call) {
  mend__run_lock(call->boundary->run);
  call->has_thread = true;
  call->thread = pthread_self();
  mend__run_unlock(call->boundary->run);
}

void mend__boundary_step_out(mend__passage *passage) {
  mend__run_lock(passage->boundary->run);
  passage->call->has_thread = false;
  passage->has_thread = passage->bell != NULL;
  mend__run_unlock(passage->boundary->run);
}

static void take_out(mend_boundary *boundary, mend_call *call) {
  call->is_running = false;
  *(call->previous != NULL ? &call->previous->next : &boundary->running) = call->next;
  if (call->next != NULL) call->next->previous = call->previous;
  boundary->running_count--;
}

void mend__boundary_delist(mend_call *call) {
  mend_boundary *boundary = call->boundary;
  mend_token *drain = NULL;
  mend__run_lock(boundary->run);
  if (call->is_running) {
    take_out(boundary, call);
    drain = mend__boundary_drained(boundary);
  }
  mend__run_unlock(boundary->run);
  mend__boundary_tell_drained(drain);
}

/* ---- Closing ---- */

void mend__boundary_close(mend_boundary *boundary) {
  mend__run_lock(boundary->run);
  boundary->closed = true;
  mend__run_unlock(boundary->run);
}

/* ---- Waiting ---- */

static bool is_drained(const mend_boundary *boundary) {
  return boundary->open == boundary->own_open && boundary->running_count == boundary->own_running &&
         boundary->told_count == boundary->own_told;
}

mend_token *mend__boundary_drained(const mend_boundary *boundary) {
  return boundary->drain != NULL && is_drained(boundary) ? mend_token_retain(boundary->drain) : NULL;
}

void mend__boundary_tell_drained(mend_token *drain) {
  if (drain == NULL) return;
  mend_token_cancel(drain, MEND_STR("drained"));
  mend_token_release(drain);
}

static size_t count_own_told(const mend_boundary *boundary) {
  size_t own = 0;
  for (const mend__passage *each = boundary->told; each != NULL; each = each->next_told) {
    if (pthread_equal(each->thread, pthread_self())) own++;
  }
  return own;
}

/* What only this thread can end. */
static void count_own(mend_boundary *boundary) {
  boundary->own_open = 0;
  boundary->own_running = 0;
  boundary->own_told = count_own_told(boundary);
  const mend__open_calls *open = &boundary->run_state->open;
  const mend__open_link *link = &open->ends;
  for (const mend__passage *each; (each = mend__open_calls_next(open, link)) != NULL; link = &each->open) {
    if (each->boundary == boundary && each->has_thread && pthread_equal(each->thread, pthread_self()))
      boundary->own_open++;
  }
  for (const mend_call *each = boundary->running; each != NULL; each = each->next) {
    if (each->has_thread && pthread_equal(each->thread, pthread_self())) boundary->own_running++;
  }
}

/* Sets what the end of the last of the others cancels; false when there are none. */
static bool await(mend_boundary *boundary, mend_token *drain) {
  mend__run_lock(boundary->run);
  count_own(boundary);
  const bool waits = !is_drained(boundary);
  if (waits) boundary->drain = drain;
  mend__run_unlock(boundary->run);
  return waits;
}

static void stop_waiting(mend_boundary *boundary) {
  mend__run_lock(boundary->run);
  boundary->drain = NULL;
  mend__run_unlock(boundary->run);
}

static uint64_t since(mend_clock *clock, uint64_t start_ns) { return mend_clock_now(clock).mono_ns - start_ns; }

/* A virtual clock may move or stand still meanwhile: looked at every so often, and the grace passes in real time at
 * last. */
static void wait_beside_virtual_clock(mend_token *drain, mend_clock *clock, uint64_t grace_ns) {
  static const uint64_t slice_ns = 5000000;
  mend_clock *real = mend_clock_real();
  const uint64_t start_ns = mend_clock_now(clock).mono_ns, real_start_ns = mend_clock_now(real).mono_ns;
  mend_status status = MEND_OK;
  for (uint64_t real_ns = 0; status == MEND_OK && real_ns < grace_ns && since(clock, start_ns) < grace_ns;) {
    const uint64_t left_ns = grace_ns - real_ns;
    status = mend_token_wait(drain, left_ns < slice_ns ? left_ns : slice_ns);
    real_ns = since(real, real_start_ns);
  }
}

/* Without memory for something to wait on it does not wait. */
static void wait_for_others(mend_boundary *boundary, mend_clock *clock, uint64_t grace_ns) {
  const bool is_virtual = mend_clock_is_virtual(clock);
  mend_token *drain;
  if (mend_token_new(boundary->allocator, is_virtual ? NULL : clock, &drain) != MEND_OK) return;
  if (await(boundary, drain)) {
    if (is_virtual) {
      wait_beside_virtual_clock(drain, clock, grace_ns);
    } else {
      mend_token_wait(drain, grace_ns);
    }
    stop_waiting(boundary);
  }
  mend_token_release(drain);
}

/* Open calls, those whose end is being told, and tools that run on after theirs: a call whose tool runs apart counts
 * once. */
static size_t count_left(mend_boundary *boundary) {
  mend__run_lock(boundary->run);
  const mend__open_calls *open = &boundary->run_state->open;
  const mend__open_link *link = &open->ends;
  size_t left = boundary->running_count + boundary->told_count - count_own_told(boundary);
  for (const mend__passage *each; (each = mend__open_calls_next(open, link)) != NULL; link = &each->open) {
    if (each->boundary == boundary && !each->call->is_running) left++;
  }
  mend__run_unlock(boundary->run);
  return left;
}

static bool is_of(const void *ctx, const mend__passage *passage) { return passage->boundary == ctx; }

size_t mend__boundary_drain(mend_boundary *boundary, mend_str reason, uint64_t grace_ns) {
  mend__open_calls_cancel(boundary->run_state, is_of, boundary, reason);
  wait_for_others(boundary, mend_bus_clock(mend_run_bus(boundary->run)), grace_ns);
  return count_left(boundary);
}

void mend__boundary_settle(mend_boundary *boundary) { mend__decide(boundary->run_state); }

void mend__boundary_end_policies(mend_boundary *boundary) { mend__deciders_end(boundary->run_state, boundary); }
