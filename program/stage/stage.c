#include "bus/room.h"
#include "core/memory.h"
#include "core/seconds.h"
#include "core/text.h"
#include "program/base/plain.h"
#include "program/stage/stage_internal.h"
#include "program/stage/stage_later.h"
#include "program/stage/subagents.h"

#include <stdio.h>

/* ---- Opening and closing ----------------------------------------------------------------------------------- */

/* The file's base name, at most 200 bytes of it; "run" where that is no id. */
static void name_default_run(stage *on, const char *path) {
  const char *slash = strrchr(path, '/');
  mend_str name = mend_str_from(slash != NULL ? slash + 1 : path);
  name.len = mend__utf8_cut(name, 200);
  mend_str checked = name;
  bool usable = name.len > 0 && strcmp(path, "-") != 0;
  while (usable && checked.len > 0) {
    const mend__prefix character = mend__utf8_prefix(checked.ptr, checked.len);
    usable = character.whole;
    checked = (mend_str){checked.ptr + character.len, checked.len - character.len};
  }
  if (!usable) name = MEND_STR("run");
  snprintf(on->default_run, sizeof on->default_run, "%.*s", MEND_STR_ARG(name));
}

/* The options, as a recording that does not tell what calls put out while they run needs them; `limits` is what they
 * point to. */
static mend_status wait_longer(const stage *on, mend_options *watch, mend__buffer *limits) {
  if (on->patience_ns == 0) return MEND_OK;
  watch->stall.timeout_s = on->settings->silent_timeout_s;
  if (watch->stall.total_s <= watch->stall.timeout_s) return MEND_OK;
  const mend_status status = subagents_write_limits(&watch->stall, limits);
  watch->stall.tool_timeout_s = mend__buffer_text(limits);
  return status;
}

static mend_status watch_bus(const stage *on, mend_error *error) {
  mend__buffer limits;
  mend__buffer_init(&limits, NULL);
  mend_options watch = *on->settings->watch;
  if (!on->has_clock) watch.stall.enable = false;
  mend_status status = wait_longer(on, &watch, &limits);
  if (status == MEND_OK) status = mend_bus_watch(on->bus, &watch, error);
  mend__buffer_free(&limits);
  return status;
}

static mend_status open_bus(stage *on, mend_error *error) {
  const uint64_t start_ns = on->waiting ? 0 : on->start_ns;
  const mend_time start = {start_ns, start_ns};
  mend_status status = mend_clock_new_virtual(NULL, start, &on->clock);
  mend_bus_options options = MEND_BUS_OPTIONS_INIT;
  metered_init(&on->memory);
  options.allocator = &on->memory.allocator;
  options.clock = on->clock;
  options.id_seed = 1; /* spans that are not in the recording are the same each time */
  if (status == MEND_OK) status = mend_bus_new(&options, &on->bus, error);
  if (status == MEND_OK) status = watch_bus(on, error);
  if (status == MEND_OK) {
    status = mend_bus_subscribe(on->bus, "healing.detection", stage_hear_detection, on, NULL, &on->subscription, NULL);
  }
  if (status == MEND_OK && on->settings->attach != NULL) {
    status = on->settings->attach(on->settings->attach_ctx, on);
  }
  return status;
}

mend_status stage_open(stage *on, const replay_settings *settings, const char *path, const stage_start *start,
                       mend_error *error) {
  *on = (stage){.settings = settings, .has_clock = start != NULL};
  on->any_order = on->waiting = start != NULL && start->any_order;
  if (start != NULL) {
    on->tells_progress = start->tells_progress;
    on->start_ns = on->now_ns = start->wall_ns;
    const double given_s = settings->watch->stall.timeout_s;
    if (!start->tells_progress && settings->silent_timeout_s > given_s) on->patience_ns = mend__seconds_to_ns(given_s);
  }
  name_default_run(on, path);
  mend__strmap_init(&on->runs, NULL);
  incident_numbers_init(&on->incidents);
  mend__buffer_init(&on->scratch, NULL);
  mend__buffer_init(&on->excerpt, NULL);
  on->hash_scratch = mend__alloc(NULL, MEND_HASH_SCRATCH);
  const mend_status status = on->hash_scratch != NULL ? open_bus(on, error) : MEND_ENOMEM;
  if (status != MEND_OK) stage_close(on);
  return status;
}

void stage_close(stage *on) {
  mend_subscription_close(&on->subscription);
  stage_later_free(on);
  while (on->oldest != NULL)
    played_run_free(on, on->oldest);
  mend__strmap_free(&on->runs);
  incident_numbers_free(&on->incidents);
  spare_calls_free(&on->spare_calls);
  row_texts_free(&on->texts);
  mend__buffer_free(&on->scratch);
  mend__buffer_free(&on->excerpt);
  mend__free(NULL, on->hash_scratch);
  if (on->free_state != NULL) on->free_state(on->state);
  mend__free(NULL, on->state);
  mend_bus_release(on->bus);
  mend_clock_release(on->clock);
}

/* ---- Rows, time, events ------------------------------------------------------------------------------------ */

mend_status stage_begin_row(stage *on, uint64_t number, mend_str text) {
  on->row = number;
  return row_texts_restart(&on->texts, text.len);
}

mend_status stage_at(stage *on, uint64_t wall_ns) {
  if (!on->has_clock) {
    on->counts.late_times++;
    return MEND_OK;
  }
  const mend_status status = stage_later_play(on, wall_ns);
  return status == MEND_OK ? stage_advance(on, wall_ns) : status;
}

mend_status stage_advance(stage *on, uint64_t wall_ns) {
  if (on->waiting) {
    on->waiting = false;
    on->start_ns = on->now_ns = wall_ns;
    return mend_clock_advance_to_wall(on->clock, wall_ns);
  }
  if (wall_ns < on->now_ns) on->counts.backwards++;
  if (wall_ns <= on->now_ns) return MEND_OK;
  on->now_ns = wall_ns;
  return mend_clock_advance_to_wall(on->clock, wall_ns);
}

mend_status stage_tick(const stage *on) {
  return on->settings->tick != NULL && on->has_clock ? on->settings->tick(on->settings->attach_ctx, on) : MEND_OK;
}

mend_status stage_doubt(stage *on, const char *problem) {
  return reports_doubt(on->settings->reports, on->row, problem);
}

static bool ends_call(mend_event_kind kind) {
  return kind == MEND_EVENT_TOOL_AFTER || kind == MEND_EVENT_TOOL_ERROR || kind == MEND_EVENT_TOOL_SKIPPED ||
         kind == MEND_EVENT_TOOL_ABORTED || kind == MEND_EVENT_TOOL_CANCELLED;
}

static void note_event(stage *on, played_run *run) {
  on->published++;
  run->record.last_row = on->row;
  run->record.end_ns = on->now_ns;
}

/* A person speaks: while nothing was at work, the run waited for that. */
static void note_absence(const stage *on, played_run *run) {
  if (open_calls_count(&run->calls) == 0) run->record.away_ns += on->now_ns - run->record.end_ns;
}

/* What is noted of an event before it is published. */
static mend_status note(stage *on, played_run *run, mend_event *event) {
  if (event->kind == MEND_EVENT_USER_MESSAGE) note_absence(on, run);
  note_event(on, run);
  switch (event->kind) {
  case MEND_EVENT_TOOL_BEFORE: return stage_begin_call(on, run, on->beginning);
  case MEND_EVENT_MODEL_USAGE: return stage_note_usage(on, run, (mend_model_usage_event *)event);
  case MEND_EVENT_CONFIDENCE: return stage_note_reading(on, run, (const mend_confidence_event *)event);
  default: return MEND_OK;
  }
}

mend_status stage_publish(stage *on, played_run *run, mend_event *event) {
  on->beginning = event->kind == MEND_EVENT_TOOL_BEFORE ? (const mend_tool_before_event *)event : NULL;
  mend_status status = note(on, run, event);
  if (status == MEND_OK) status = mend__run_publish_in_span(run->run, event);
  on->beginning = NULL;
  if (status == MEND_OK && ends_call(event->kind)) status = stage_end_call(on, run, event);
  return status != MEND_OK ? status : on->failure;
}

mend_status stage_publish_custom(stage *on, played_run *run, mend_str topic, mend_str payload, mend_error *error) {
  note_event(on, run);
  const mend_status status = mend_run_emit_text(run->run, topic, payload, error);
  return status != MEND_OK ? status : on->failure;
}

/* ---- The end ----------------------------------------------------------------------------------------------- */

mend_status stage_finish(stage *on) { return stage_later_play(on, UINT64_MAX); }

static void describe(const played_run *run, const open_call *call, replay_open_call *ret_open) {
  *ret_open = (replay_open_call){.row = call->row, .since_ns = call->since_ns, .incident = call->incident};
  plain_keep(ret_open->id, sizeof ret_open->id, call->id);
  plain_keep(ret_open->tool, sizeof ret_open->tool, call->tool);
  plain_keep(ret_open->run, sizeof ret_open->run, mend_run_id(run->run));
}

static void list_open(const played_run *run, replay_summary *summary) {
  if (run->calls.last != NULL) describe(run, run->calls.last, &summary->last_open);
  for (const open_call *call = run->calls.first; call != NULL; call = call->next) {
    if (summary->open_count == REPLAY_OPEN_CALLS_SHOWN) return;
    describe(run, call, &summary->open[summary->open_count++]);
  }
}

mend_status stage_sum_up(stage *on, replay_summary *ret_summary) {
  *ret_summary = (replay_summary){.start_ns = on->start_ns, .end_ns = on->now_ns};
  mend_status status = MEND_OK;
  for (played_run *run = on->oldest; run != NULL && status == MEND_OK; run = run->newer) {
    list_open(run, ret_summary);
    status = stage_tell_end(on, run);
  }
  ret_summary->counts = on->counts;
  ret_summary->used = on->used;
  ret_summary->saved = on->saved;
  ret_summary->worst = on->worst;
  ret_summary->by_detector = on->by_detector;
  ret_summary->by_reason = on->by_reason;
  ret_summary->recorded = on->recorded;
  ret_summary->unknown = on->unknown;
  return status;
}
