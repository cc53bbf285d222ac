/* Stall in mode evidence: the watchdog, and what it does when a deadline passes. */
#include "watchdogs/evidence_stall.h"
#include "core/options_size.h"
#include "core/seconds.h"

#include <stdio.h>

static mend_status reserve(mend__stall_state *state) {
  if (state->deadlines != NULL) return MEND_OK;
  return mend_deadlines_new(state->watchdog->allocator, (mend_waker){NULL, NULL}, &state->deadlines);
}

static mend_status stall_event(void *ctx, const mend_event *event, mend_emitter *emitter) {
  mend__stall_state *state = ctx;
  const mend_status status = reserve(state);
  return status == MEND_OK ? mend__stall_take(state, event, emitter) : status;
}

/* ---- Time ---- */

/* While the run waits for a person nothing is due; what passes meanwhile is looked at when the wait ends. */
static uint64_t stall_deadline(void *ctx) {
  mend__stall_state *state = ctx;
  return state->deadlines != NULL && !state->is_waiting ? mend_deadlines_next(state->deadlines) : MEND_NEVER;
}

/* Runs that work for it: what they have open is watched by itself, and meanwhile it waits. Returns how much later than
 * its limit it is looked at again: the longer its kin have been silent with something open, the later, so that a jump
 * in time takes few steps; and never at once, however short the limit. */
static uint64_t look_at_kin(mend__stall_state *state, mend__stall_item *item, uint64_t now_ns) {
  enum { SILENT_PART = 16 };
  static const uint64_t SOONEST_NS = MEND_SECOND_NS / 100;
  mend__kin_life life;
  if (item->kind == MEND__STALL_STREAM) return 0;
  const uint64_t call = item->kind == MEND__STALL_CALL ? item->call : 0;
  if (!mend__family_look(&state->watchdog->family, state->run, call, &life)) return 0;
  const uint64_t last_ns = life.is_busy ? now_ns : life.last_ns;
  if (last_ns > item->progress_ns) item->progress_ns = last_ns;
  if (last_ns > item->seen_ns) item->seen_ns = last_ns;
  if (!life.is_busy) return 0;
  const uint64_t part_ns = now_ns > life.last_ns ? (now_ns - life.last_ns) / SILENT_PART : 0;
  return part_ns > SOONEST_NS ? part_ns : SOONEST_NS;
}

static void note_told(mend__stall_item *item, mend__stall_reason reason, uint64_t now_ns) {
  item->told |= (uint8_t)(1u << reason);
  item->told_ns = now_ns;
}

/* What it is armed for may have been moved on since. One that could not be reported stays due. */
static mend_status judge(mend__stall_state *state, mend__stall_item *item, uint64_t due_ns, uint64_t now_ns,
                         mend_emitter *emitter) {
  mend__stall_limit limit;
  mend__stall_settle(state, item);
  const uint64_t later_ns = look_at_kin(state, item, now_ns);
  if (!mend__stall_limit_of(state, item, &limit)) return MEND_OK;
  mend_status status = MEND_OK;
  if (mend__stall_end_of(&limit) < due_ns) {
    status = mend__stall_report(state, item, &limit, now_ns, emitter);
    if (status == MEND_OK) note_told(item, limit.reason, now_ns);
  }
  mend__stall_arm_later(state, item, later_ns);
  return status;
}

/* Those of the earliest deadline only: the watch asks again for the next one. */
static mend_status stall_expire(void *ctx, uint64_t now_ns, mend_emitter *emitter) {
  mend__stall_state *state = ctx;
  const uint64_t due_ns = stall_deadline(state);
  if (due_ns > now_ns) return MEND_OK;
  for (mend_deadline *due; (due = mend_deadlines_expire(state->deadlines, due_ns)) != NULL;) {
    mend__stall_item *item = MEND__CONTAINER(due, mend__stall_item, deadline);
    const mend_status status = judge(state, item, due_ns, now_ns, emitter);
    if (status != MEND_OK) return status;
  }
  return MEND_OK;
}

/* ---- States ---- */

static mend_status stall_open(void *ctx, mend_run *run, void **ret_state) {
  mend__stall_watchdog *watchdog = ctx;
  mend__stall_state *state = mend__alloc_zero(watchdog->allocator, sizeof *state);
  if (state == NULL) return MEND_ENOMEM;
  state->watchdog = watchdog;
  state->run = run;
  state->idle.kind = MEND__STALL_RUN;
  const mend_status status = mend__family_join(&watchdog->family, run, &state->kin);
  if (status != MEND_OK) {
    mend__free(watchdog->allocator, state);
    return status;
  }
  *ret_state = state;
  return MEND_OK;
}

static void stall_reset(void *ctx) {
  mend__stall_state *state = ctx;
  mend__stall_free(state);
  if (state->is_busy) mend__kin_set_busy(state->kin, false);
  *state = (mend__stall_state){.watchdog = state->watchdog, .run = state->run, .kin = state->kin};
  state->idle.kind = MEND__STALL_RUN;
}

static void stall_close(void *ctx) {
  mend__stall_state *state = ctx;
  stall_reset(state);
  mend__family_leave(&state->watchdog->family, state->kin);
  mend__free(state->watchdog->allocator, state);
}

static void stall_destroy(void *ctx) {
  mend__stall_watchdog *watchdog = ctx;
  mend__tool_rules_free(&watchdog->tool_timeouts, watchdog->allocator);
  mend__family_free(&watchdog->family);
  mend__free(watchdog->allocator, watchdog);
}

static void stall_describe(void *ctx, char *text, size_t size) {
  const mend__stall_state *state = ctx;
  const size_t armed = state->deadlines != NULL ? mend_deadlines_count(state->deadlines) : 0;
  snprintf(text, size, "open %zu, deadlines %zu%s%s", state->items.count, armed, state->is_waiting ? ", waiting" : "",
           state->is_due ? ", expected to go on" : "");
}

static const mend_watchdog_vtable stall_vtable = {
    .size = sizeof stall_vtable,
    .name = "stall",
    .topics = "tool.before tool.progress tool.after tool.error tool.skipped tool.aborted tool.cancelled model.request "
              "model.delta model.response model.error model.retry user.message agent.start agent.end run.finished "
              "approval.wait approval.granted context.compact clock.rebased",
    .open = stall_open,
    .event = stall_event,
    .deadline = stall_deadline,
    .expire = stall_expire,
    .reset = stall_reset,
    .close = stall_close,
    .destroy = stall_destroy,
    .describe = stall_describe,
};

/* The default of progress_s stands for 20 times the limit of the call, whatever that is. */
static uint64_t progress_limit(const mend_stall_watchdog_options *options) {
  static const mend_stall_watchdog_options defaults = MEND_STALL_WATCHDOG_OPTIONS_INIT;
  const bool is_default = options->progress_s >= defaults.progress_s && options->progress_s <= defaults.progress_s;
  return is_default ? 0 : mend__seconds_to_ns(options->progress_s);
}

static mend_status take_options(mend__stall_watchdog *watchdog, const mend_stall_watchdog_options *options) {
  watchdog->timeout_ns = mend__seconds_to_ns(options->timeout_s);
  watchdog->progress_ns = progress_limit(options);
  watchdog->total_ns = mend__seconds_to_ns(options->total_s);
  watchdog->first_token_ns = mend__seconds_to_ns(options->first_token_s);
  watchdog->stream_idle_ns = mend__seconds_to_ns(options->stream_idle_s);
  watchdog->run_idle_ns = mend__seconds_to_ns(options->run_idle_s);
  return mend__tool_rules_init(&watchdog->tool_timeouts, options->tool_timeout_s, false, watchdog->allocator);
}

static mend_status make(const mend_stall_watchdog_options *options, const mend_allocator *allocator,
                        mend_watchdog **ret_watchdog, mend_error *error) {
  mend__stall_watchdog *watchdog = mend__alloc_zero(allocator, sizeof *watchdog);
  mend_status status = watchdog != NULL ? mend__family_init(&watchdog->family, allocator) : MEND_ENOMEM;
  if (status != MEND_OK) {
    mend__free(allocator, watchdog);
    return mend_error_set(error, status, "watchdog stall: out of memory");
  }
  watchdog->allocator = allocator;
  status = take_options(watchdog, options);
  if (status != MEND_OK) {
    mend_error_set(error, status, "watchdog stall: out of memory");
  } else {
    status = mend__watchdog_new_counting(&stall_vtable, watchdog, &watchdog->counters, allocator, ret_watchdog, error);
  }
  if (status != MEND_OK) stall_destroy(watchdog);
  return status;
}

mend_status mend_evidence_stall_watchdog_new(const mend_stall_watchdog_options *given, const mend_allocator *allocator,
                                             mend_watchdog **ret_watchdog, mend_error *error) {
  mend_options options = MEND_OPTIONS_INIT;
  mend_status status = mend__options_take(&options.stall, given, "mend_stall_watchdog_options", error);
  if (status == MEND_OK) status = mend_options_check(&options, error);
  return status == MEND_OK ? make(&options.stall, allocator, ret_watchdog, error) : status;
}
