#include "bus/room.h"
#include "core/memory.h"
#include "core/text.h"
#include "program/replay/played_run.h"

#include <stdio.h>

/* ---- What was found ---------------------------------------------------------------------------------------- */

/* Remembers what the report wants to be told about later. */
static mend_status follow(stage *on, played_run *run, const mend_detection *detection, open_call *call,
                          uint64_t incident) {
  if (incident == 0) return MEND_OK;
  if (call != NULL && mend_str_equal(detection->detector, MEND_STR("stall"))) call->incident = incident;
  const bool repeats = on->beginning != NULL && mend_str_equal(detection->reason, MEND_STR("repeat"));
  return repeats ? played_run_follow(run, on->beginning, incident) : MEND_OK;
}

static void describe_open(const played_run *run, const open_call *call, bool with_answer, replay_detection *found) {
  const pair_key key = pair_of_open(call);
  found->args_hash = call->args_hash;
  found->args = call->args;
  if (with_answer) found->answer = answers_find(&run->answers, &key);
}

/* The call that completed the evidence has no id, so it is not among the open ones. */
static void describe_beginning(stage *on, const played_run *run, replay_detection *found) {
  const pair_key key = pair_of(on->beginning);
  found->answer = answers_find(&run->answers, &key);
  mend__buffer_clear(&on->excerpt);
  append_excerpt(&on->excerpt, on->beginning->args, on->settings->content_bytes);
  found->args_hash = on->beginning->args_hash;
  if (!on->excerpt.failed) found->args = mend__buffer_text(&on->excerpt);
}

static mend_status tell(stage *on, played_run *run, const mend_detection *detection) {
  const mend_str id = detection->last_call.len > 0 ? detection->last_call : detection->first_call;
  open_call *call = id.len > 0 ? open_calls_find(&run->calls, id) : NULL;
  replay_detection found = {.detection = detection,
                            .row = on->row,
                            .ts_ns = on->now_ns,
                            .start_ns = on->start_ns,
                            .call_id = id.len > 0 ? id : (mend_str){NULL, 0}};
  const bool by_event = detection->cause_seq != 0; /* a deadline has nothing to do with the last answer */
  if (call != NULL) {
    describe_open(run, call, by_event, &found);
  } else if (by_event && id.len > 0) {
    found.answer = answers_find_call(&run->answers, id);
  } else if (by_event && on->beginning != NULL) {
    describe_beginning(on, run, &found);
  }
  if (mend_default_policy(NULL, detection, &found.action) != MEND_OK) found.action = mend_action_none();
  on->counts.detections++;
  uint64_t incident = 0;
  const mend_status status = on->settings->report->detection(on->settings->report, &found, &incident);
  return status == MEND_OK ? follow(on, run, detection, call, incident) : status;
}

/* Told at each announcement; takes all that is new in the run's log, with its own cursor. */
static mend_status on_detection(void *ctx, const mend_event *event) {
  stage *on = ctx;
  played_run *run = mend__strmap_get(&on->runs, mend_run_id(event->run));
  if (run == NULL) return MEND_OK;
  const mend_detection *detection;
  while (on->failure == MEND_OK && mend_watch_next(run->watch, &run->cursor, &detection) == MEND_OK) {
    on->failure = tell(on, run, detection);
    mend_detection_release(detection);
  }
  on->counts.detections_lost += run->cursor.lost;
  run->cursor.lost = 0;
  return MEND_OK;
}

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

static mend_status open_bus(stage *on, mend_error *error) {
  const mend_time start = {on->start_ns, on->start_ns};
  mend_status status = mend_clock_new_virtual(NULL, start, &on->clock);
  mend_bus_options options = MEND_BUS_OPTIONS_INIT;
  options.clock = on->clock;
  options.run_limit = STAGE_RUNS_MAX;
  options.id_seed = 1; /* spans that are not in the recording are the same each time */
  if (status == MEND_OK) status = mend_bus_new(&options, &on->bus, error);
  mend_options watch = *on->settings->watch;
  if (!on->has_clock) watch.stall.enable = false;
  if (status == MEND_OK) status = mend_bus_watch(on->bus, &watch, error);
  if (status == MEND_OK) {
    status = mend_bus_subscribe(on->bus, "healing.detection", on_detection, on, NULL, &on->subscription);
  }
  return status;
}

mend_status stage_open(stage *on, const replay_settings *settings, const char *path, const uint64_t *start_ns,
                       mend_error *error) {
  *on = (stage){.settings = settings, .has_clock = start_ns != NULL};
  if (start_ns != NULL) on->start_ns = on->now_ns = *start_ns;
  name_default_run(on, path);
  mend__strmap_init(&on->runs, NULL);
  mend__buffer_init(&on->text, NULL);
  mend__buffer_init(&on->scratch, NULL);
  mend__buffer_init(&on->excerpt, NULL);
  on->hash_scratch = mend__alloc(NULL, MEND_HASH_SCRATCH);
  const mend_status status = on->hash_scratch != NULL ? open_bus(on, error) : MEND_ENOMEM;
  if (status != MEND_OK) stage_close(on);
  return status;
}

void stage_close(stage *on) {
  mend_subscription_close(&on->subscription);
  while (on->oldest != NULL)
    played_run_forget(on, on->oldest);
  mend__strmap_free(&on->runs);
  spare_calls_free(&on->spare_calls);
  mend__buffer_free(&on->text);
  mend__buffer_free(&on->scratch);
  mend__buffer_free(&on->excerpt);
  mend__free(NULL, on->hash_scratch);
  mend_bus_release(on->bus);
  mend_clock_release(on->clock);
}

/* ---- Rows, time, events ------------------------------------------------------------------------------------ */

mend_status stage_begin_row(stage *on, uint64_t number, mend_str text) {
  on->row = number;
  mend__buffer_clear(&on->text);
  return mend__buffer_reserve(&on->text, text.len) ? MEND_OK : MEND_ENOMEM;
}

mend_str stage_text(stage *on, mend_str json_string) {
  if (json_string.len < 2 || json_string.ptr[0] != '"') return (mend_str){NULL, 0};
  const mend_str inside = {json_string.ptr + 1, json_string.len - 2};
  if (memchr(inside.ptr, '\\', inside.len) == NULL) return inside;
  if (!mend__buffer_reserve(&on->text, inside.len)) return (mend_str){NULL, 0};
  char *text = on->text.data + on->text.len;
  const size_t len = mend_json_unescape(inside, text);
  on->text.len += len;
  return (mend_str){text, len};
}

mend_status stage_at(stage *on, uint64_t wall_ns) {
  if (!on->has_clock) {
    on->counts.late_times++;
    return MEND_OK;
  }
  if (wall_ns < on->now_ns) on->counts.backwards++;
  if (wall_ns <= on->now_ns) return MEND_OK;
  on->now_ns = wall_ns;
  return mend_clock_advance_to_wall(on->clock, wall_ns);
}

mend_status stage_doubt(stage *on, const char *problem) {
  return on->settings->report->doubt(on->settings->report, on->row, problem);
}

static mend_status begin_call(stage *on, played_run *run, const mend_tool_before_event *event) {
  report *to = on->settings->report;
  on->counts.calls++;
  if (event->args.ptr == NULL && mend_hash_is_none(event->args_hash)) on->counts.calls_without_args++;
  const followed_pair *pair = played_run_followed(run, event);
  if (pair != NULL) to->repeated(to, pair->incident, on->row);
  char buffer[CALL_ID_SIZE];
  const mend_str id = call_id_of(&event->event, buffer);
  if (id.len == 0) {
    on->counts.calls_without_id++;
    run->unnamed = pair_of(event);
    run->has_unnamed = true;
    return MEND_OK;
  }
  open_call *call;
  const mend_status status =
      open_calls_add(&run->calls, &on->spare_calls, event, id, on->settings->content_bytes, &call);
  if (status == MEND_ELIMIT) {
    on->counts.open_calls_dropped++;
    return MEND_OK;
  }
  if (status != MEND_OK) return status;
  call->row = on->row;
  call->since_ns = on->now_ns;
  return MEND_OK;
}

/* The tool's name may be missing where a call ends; the start knows it. */
static open_call *find_call(played_run *run, const mend_event *event) {
  char buffer[CALL_ID_SIZE];
  const mend_str id = call_id_of(event, buffer);
  return id.len > 0 ? open_calls_find(&run->calls, id) : NULL;
}

/* A journal without content has the beginning of the result, which ends with "..." when there was more. */
static replay_answer answer_of(const mend_tool_after_event *after) {
  if (after->result.ptr != NULL) return (replay_answer){.value = after->result, .is_json = true};
  const mend_str preview = after->result_preview;
  return (replay_answer){.value = preview, .cut = after->result_len != MEND_NONE && after->result_len != preview.len};
}

/* The pair of the call that ended; false when nobody knows the call. */
static bool find_ended_pair(played_run *run, const open_call *call, mend_str id, mend_str tool, pair_key *ret_key) {
  if (call != NULL) {
    *ret_key = pair_of_open(call);
    return true;
  }
  if (id.len > 0 || !run->has_unnamed) return false;
  const mend_hash hash = mend_hash_bytes(tool);
  run->has_unnamed = false;
  *ret_key = run->unnamed;
  return tool.len == 0 || mend_hash_equal(hash, run->unnamed.tool);
}

static mend_status take_answer(stage *on, played_run *run, const mend_event *event, const open_call *call) {
  char buffer[CALL_ID_SIZE];
  replay_answer answer;
  mend_str tool;
  if (event->kind == MEND_EVENT_TOOL_AFTER) {
    const mend_tool_after_event *after = (const mend_tool_after_event *)event;
    answer = answer_of(after);
    tool = after->tool_name;
  } else if (event->kind == MEND_EVENT_TOOL_ERROR) {
    const mend_tool_error_event *error = (const mend_tool_error_event *)event;
    answer = (replay_answer){.value = error->error_message, .failed = true};
    tool = error->tool_name;
  } else {
    return MEND_OK;
  }
  pair_key key;
  answer.id = call_id_of(event, buffer);
  if (!find_ended_pair(run, call, answer.id, tool, &key)) return MEND_OK;
  return answers_keep(&run->answers, &key, answer, on->settings->content_bytes);
}

static bool ends_call(mend_event_kind kind) {
  return kind == MEND_EVENT_TOOL_AFTER || kind == MEND_EVENT_TOOL_ERROR || kind == MEND_EVENT_TOOL_SKIPPED ||
         kind == MEND_EVENT_TOOL_ABORTED || kind == MEND_EVENT_TOOL_CANCELLED;
}

static mend_status end_call(stage *on, played_run *run, const mend_event *event, open_call *call) {
  on->counts.results++;
  if (call == NULL) on->counts.results_without_call++;
  const mend_status status = take_answer(on, run, event, call);
  if (call != NULL && call->incident != 0) {
    const replay_ending ending = {event->kind, on->row, on->now_ns - call->since_ns};
    on->settings->report->ended(on->settings->report, call->incident, &ending);
  }
  if (call != NULL) open_calls_remove(&run->calls, &on->spare_calls, call);
  return status;
}

mend_status stage_publish(stage *on, played_run *run, mend_event *event) {
  mend_status status = MEND_OK;
  on->beginning = event->kind == MEND_EVENT_TOOL_BEFORE ? (const mend_tool_before_event *)event : NULL;
  if (on->beginning != NULL) status = begin_call(on, run, on->beginning);
  if (event->kind == MEND_EVENT_CONFIDENCE && !on->settings->watch->regression.enable) on->counts.readings_unused++;
  if (status == MEND_OK) status = mend__run_publish_in_span(run->run, event);
  on->beginning = NULL;
  if (status == MEND_OK && ends_call(event->kind)) status = end_call(on, run, event, find_call(run, event));
  return status != MEND_OK ? status : on->failure;
}

mend_status stage_publish_custom(stage *on, played_run *run, mend_str topic, mend_str payload, mend_error *error) {
  const mend_status status = mend_run_emit_text(run->run, topic, payload, error);
  return status != MEND_OK ? status : on->failure;
}

/* ---- What foreign formats publish -------------------------------------------------------------------------- */

static void name_call(mend_event *event, mend_str id) {
  if (id.len == 0) return;
  event->call_name = id;
  event->call = mend_call_from_name(id);
}

mend_status stage_call(stage *on, played_run *run, mend_str id, mend_str tool, mend_str arguments) {
  mend_tool_before_event before = MEND_TOOL_BEFORE_EVENT_INIT;
  name_call(&before.event, id);
  before.tool_name = tool;
  before.args = arguments.ptr != NULL ? arguments : MEND_STR("{}");
  before.args_hash = mend_json_hash(before.args, on->hash_scratch, MEND_HASH_SCRATCH).hash;
  return stage_publish(on, run, &before.event);
}

static mend_str tool_of(played_run *run, const mend_event *event) {
  const open_call *call = find_call(run, event);
  return call != NULL ? call->tool : (mend_str){NULL, 0};
}

mend_status stage_result(stage *on, played_run *run, mend_str id, mend_str result) {
  mend_tool_after_event after = MEND_TOOL_AFTER_EVENT_INIT;
  name_call(&after.event, id);
  after.tool_name = tool_of(run, &after.event);
  after.result = result;
  return stage_publish(on, run, &after.event);
}

mend_status stage_error(stage *on, played_run *run, mend_str id, mend_str message) {
  mend_tool_error_event failed = MEND_TOOL_ERROR_EVENT_INIT;
  name_call(&failed.event, id);
  failed.tool_name = tool_of(run, &failed.event);
  failed.error_message = message;
  return stage_publish(on, run, &failed.event);
}

mend_status stage_user_message(stage *on, played_run *run, mend_str text) {
  mend_user_message_event message = MEND_USER_MESSAGE_EVENT_INIT;
  message.text = text;
  return stage_publish(on, run, &message.event);
}

/* ---- The end ----------------------------------------------------------------------------------------------- */

static void describe(const played_run *run, const open_call *call, replay_open_call *ret_open) {
  *ret_open = (replay_open_call){.row = call->row, .since_ns = call->since_ns, .incident = call->incident};
  snprintf(ret_open->id, sizeof ret_open->id, "%.*s", MEND_STR_ARG(call->id));
  snprintf(ret_open->tool, sizeof ret_open->tool, "%.*s", MEND_STR_ARG(call->tool));
  snprintf(ret_open->run, sizeof ret_open->run, "%.*s", MEND_STR_ARG(mend_run_id(run->run)));
}

void stage_list_unfinished(stage *on, replay_summary *summary) {
  for (const played_run *run = on->oldest; run != NULL; run = run->newer) {
    summary->counts.unfinished += open_calls_count(&run->calls);
    for (const open_call *call = run->calls.first; call != NULL; call = call->next) {
      if (summary->open_count == REPLAY_OPEN_CALLS_SHOWN) break;
      describe(run, call, &summary->open[summary->open_count++]);
    }
  }
}
