/* Loop in mode evidence: its events, and where what it knows of a run begins anew. */
#include "watchdogs/evidence_loop.h"
#include "core/options_size.h"

#include <stdio.h>

/* ---- States ---- */

static mend_status loop_open(void *ctx, mend_run *run, void **ret_state) {
  (void)run;
  mend__loop_watchdog *watchdog = ctx;
  mend__loop_state *state = mend__alloc_zero(watchdog->allocator, sizeof *state);
  if (state == NULL) return MEND_ENOMEM;
  state->watchdog = watchdog;
  state->talk.chanting.allocator = watchdog->allocator;
  *ret_state = state;
  return MEND_OK;
}

static void free_names(mend__loop_state *state) {
  const mend_allocator *allocator = state->watchdog->allocator;
  mend__loop_tool *tools = state->tools.items;
  for (size_t i = 0; i < state->tools.capacity; i++)
    mend__kept_text_free(&tools[i].first.name, allocator);
  for (uint32_t i = 0; i < state->shown_capacity; i++)
    mend__kept_text_free(&state->shown[i].name, allocator);
}

/* What was asked for before has nothing to do with what comes: a person has spoken, or the model has forgotten it. */
static void forget_calls(mend__loop_state *state) {
  const mend_allocator *allocator = state->watchdog->allocator;
  free_names(state);
  mend__loop_window_free(state);
  mend__free(allocator, state->tools.items);
  mend__free(allocator, state->open.items);
  mend__free(allocator, state->shown);
  mend__free(allocator, state->cycle);
  *state = (mend__loop_state){.watchdog = state->watchdog,
                              .turns = state->turns,
                              .turn = state->turn,
                              .has_asked = state->has_asked,
                              .has_clock = state->has_clock,
                              .talk = state->talk};
}

static void loop_reset(void *ctx) {
  mend__loop_state *state = ctx;
  forget_calls(state);
  mend__loop_talk_reset(&state->talk);
  state->turns = state->turn = 0;
  state->has_asked = false;
}

static void loop_close(void *ctx) {
  mend__loop_state *state = ctx;
  const mend_allocator *allocator = state->watchdog->allocator;
  loop_reset(state);
  mend__free(allocator, state);
}

static void loop_destroy(void *ctx) {
  mend__loop_watchdog *watchdog = ctx;
  mend__loop_rules_free(&watchdog->rules, watchdog->allocator);
  mend__free(watchdog->allocator, watchdog);
}

static void loop_describe(void *ctx, char *text, size_t size) {
  const mend__loop_state *state = ctx;
  snprintf(text, size,
           "decisions %llu, different %zu, tools %zu, open %zu, edits %llu, "
           "batch %llu of %u",
           (unsigned long long)state->decisions, state->pairs.count, state->tools.count, state->open.count,
           (unsigned long long)state->edits, (unsigned long long)state->batch.number, state->batch.calls);
}

/* ---- Turns ---- */

static void ask(mend__loop_state *state) {
  state->turn = ++state->turns;
  state->has_asked = true;
}

/* A model whose requests are not told answers nobody knows how often: its turns are unknown. */
static void answer(mend__loop_state *state) {
  if (!state->has_asked) state->turn = 0;
  state->has_asked = false;
}

/* ---- Events ---- */

/* Whether a call ends with it, and of which tool. */
static bool is_ending(const mend_event *event, mend_str *ret_tool) {
  switch (event->kind) {
  case MEND_EVENT_TOOL_AFTER: *ret_tool = ((const mend_tool_after_event *)event)->tool_name; return true;
  case MEND_EVENT_TOOL_ERROR: *ret_tool = ((const mend_tool_error_event *)event)->tool_name; return true;
  case MEND_EVENT_TOOL_SKIPPED: *ret_tool = ((const mend_tool_skipped_event *)event)->tool_name; return true;
  case MEND_EVENT_TOOL_ABORTED: *ret_tool = ((const mend_tool_aborted_event *)event)->tool_name; return true;
  case MEND_EVENT_TOOL_CANCELLED: *ret_tool = ((const mend_tool_cancelled_event *)event)->tool_name; return true;
  default: return false;
  }
}

static mend_status begin_call(mend__loop_state *state, const mend_tool_before_event *before, mend_emitter *emitter) {
  if (before->tool_name.len > 0) return mend__loop_call_begins(state, before, emitter);
  mend__count(&state->watchdog->counters.ignored);
  return MEND_OK;
}

static mend_status take_event(mend__loop_state *state, const mend_event *event, mend_emitter *emitter) {
  switch (event->kind) {
  case MEND_EVENT_TOOL_BEFORE: return begin_call(state, (const mend_tool_before_event *)event, emitter);
  case MEND_EVENT_MODEL_REQUEST: ask(state); break;
  case MEND_EVENT_MODEL_RESPONSE: answer(state); break;
  case MEND_EVENT_MODEL_RETRY: mend__loop_retract_calls(state); break;
  case MEND_EVENT_USER_MESSAGE: forget_calls(state); break;
  case MEND_EVENT_CONTEXT_COMPACT:
    if (!mend__compaction_is_vain((const mend_context_compact_event *)event)) forget_calls(state);
    break;
  default: break;
  }
  return MEND_OK;
}

static mend_status loop_event(void *ctx, const mend_event *event, mend_emitter *emitter) {
  mend__loop_state *state = ctx;
  mend_str tool_name;
  if (is_ending(event, &tool_name)) {
    mend__loop_call_ends(state, event, tool_name);
    return MEND_OK;
  }
  const mend_status status = mend__loop_talk_event(&state->talk, event, emitter);
  const mend_status taken = take_event(state, event, emitter);
  return status != MEND_OK ? status : taken;
}

/* ---- The watchdog ---- */

static const mend_watchdog_vtable evidence_loop_vtable = {
    .size = sizeof evidence_loop_vtable,
    .name = "loop",
    .topics = "tool.before tool.after tool.error tool.skipped tool.aborted tool.cancelled user.message context.compact "
              "model.request model.delta model.response model.error model.retry",
    .open = loop_open,
    .event = loop_event,
    .reset = loop_reset,
    .close = loop_close,
    .destroy = loop_destroy,
    .describe = loop_describe,
};

mend_status mend_evidence_loop_watchdog_new(const mend_loop_watchdog_options *given, const mend_allocator *allocator,
                                            mend_watchdog **ret_watchdog, mend_error *error) {
  mend_options options = MEND_OPTIONS_INIT;
  mend_status status = mend__options_take(&options.loop, given, "mend_loop_watchdog_options", error);
  if (status == MEND_OK) status = mend_options_check(&options, error);
  if (status != MEND_OK) return status;
  mend__loop_watchdog *watchdog = mend__alloc_zero(allocator, sizeof *watchdog);
  if (watchdog == NULL) return mend_error_set(error, MEND_ENOMEM, "watchdog loop: out of memory");
  watchdog->allocator = allocator;
  status = mend__loop_rules_init(&watchdog->rules, &options.loop, allocator);
  if (status != MEND_OK) mend_error_set(error, status, "watchdog loop: out of memory");
  if (status == MEND_OK) {
    status = mend__watchdog_new_counting(&evidence_loop_vtable, watchdog, &watchdog->counters, allocator, ret_watchdog,
                                         error);
  }
  if (status != MEND_OK) loop_destroy(watchdog);
  return status;
}
