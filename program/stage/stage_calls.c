/* Calls, usage and readings, as the reports are told of them. */
#include "program/base/sums.h"
#include "program/reports/totals.h"
#include "program/stage/stage_internal.h"

/* ---- A call begins ----------------------------------------------------------------------------------------- */

static replay_call describe(const stage *on, const played_run *run, const open_call *call) {
  return (replay_call){.run_id = mend_run_id(run->run),
                       .parent_run_id = mend_run_parent_id(run->run),
                       .id = call->id.len > 0 ? call->id : (mend_str){NULL, 0},
                       .tool = call->tool,
                       .args = call->args,
                       .row = call->row,
                       .start_ns = call->since_ns,
                       .end_row = on->row,
                       .end_ns = on->now_ns,
                       .incident = call->incident};
}

static mend_status tell_unfinished(const stage *on, const played_run *run, const open_call *call) {
  if (!on->settings->reports->want_calls) return MEND_OK;
  replay_call told = describe(on, run, call);
  told.end_row = run->record.last_row;
  told.end_ns = run->record.end_ns;
  return reports_called(on->settings->reports, &told);
}

/* Of calls without an id the last one is known: what ends next is that. */
static mend_status begin_unnamed(stage *on, played_run *run, const mend_tool_before_event *event) {
  mend_status status = MEND_OK;
  on->counts.calls_without_id++;
  if (run->unnamed != NULL) status = tell_unfinished(on, run, run->unnamed);
  open_call_drop(&on->spare_calls, run->unnamed);
  run->unnamed = open_call_new(&on->spare_calls, event, (mend_str){"", 0}, on->settings->content_bytes);
  return run->unnamed != NULL ? status : MEND_ENOMEM;
}

mend_status stage_begin_call(stage *on, played_run *run, const mend_tool_before_event *event) {
  on->counts.calls++;
  run->record.used.calls++;
  if (event->args.ptr == NULL && mend_hash_is_none(event->args_hash)) on->counts.calls_without_args++;
  const followed_pair *pair = played_run_followed(run, event);
  if (pair != NULL) {
    run_record_repeated(&run->record, on->incidents.each[pair->incident - 1]);
    const mend_status told = reports_repeated(on->settings->reports, pair->incident, on->row);
    if (told != MEND_OK) return told;
  }
  char buffer[CALL_ID_SIZE];
  const mend_str id = call_id_of(&event->event, buffer);
  mend_status status;
  open_call *call;
  if (id.len == 0) {
    status = begin_unnamed(on, run, event);
    call = run->unnamed;
  } else {
    status = open_calls_add(&run->calls, &on->spare_calls, event, id, on->settings->content_bytes, &call);
  }
  if (status == MEND_ELIMIT) {
    on->counts.open_calls_dropped++;
    return MEND_OK;
  }
  if (status != MEND_OK) return status;
  call->row = on->row;
  call->since_ns = on->now_ns;
  return MEND_OK;
}

/* ---- A call ends ------------------------------------------------------------------------------------------- */

/* A journal without content has the beginning of the result, which ends with "..." when there was more. */
static replay_answer result_of(const mend_tool_after_event *after) {
  if (after->result.ptr != NULL) return (replay_answer){.value = after->result, .is_json = true};
  const mend_str preview = after->result_preview;
  return (replay_answer){.value = preview, .cut = after->result_len != MEND_NONE && after->result_len != preview.len};
}

/* What it said, and the tool that said it where the event names one. */
static replay_answer answer_of(const mend_event *event, mend_str *ret_tool) {
  if (event->kind == MEND_EVENT_TOOL_AFTER) {
    const mend_tool_after_event *after = (const mend_tool_after_event *)event;
    *ret_tool = after->tool_name;
    return result_of(after);
  }
  *ret_tool = (mend_str){NULL, 0};
  if (event->kind != MEND_EVENT_TOOL_ERROR) return (replay_answer){0};
  const mend_tool_error_event *error = (const mend_tool_error_event *)event;
  *ret_tool = error->tool_name;
  return (replay_answer){.value = error->error_message, .failed = true};
}

/* The call without an id that this ends; NULL when it is another tool's. */
static open_call *take_unnamed(played_run *run, mend_str tool) {
  open_call *call = run->unnamed;
  if (call == NULL || (tool.len > 0 && !mend_str_equal(tool, call->tool))) return NULL;
  run->unnamed = NULL;
  return call;
}

static mend_status tell_stall_ended(const stage *on, played_run *run, const mend_event *event, const open_call *call) {
  const replay_ending ending = {event->kind, on->row, on->now_ns - call->since_ns};
  run_record_stalled(&run->record, ending.open_ns);
  return reports_ended(on->settings->reports, call->incident, &ending);
}

static mend_status tell_called(const stage *on, const played_run *run, const mend_event *event, const open_call *call,
                               replay_answer answer) {
  replay_call told = describe(on, run, call);
  told.finished = true;
  told.how = event->kind;
  told.answer = answer;
  return reports_called(on->settings->reports, &told);
}

static mend_status end_known(stage *on, played_run *run, const mend_event *event, const open_call *call,
                             replay_answer answer) {
  mend_status status = MEND_OK;
  const pair_key key = pair_of_open(call);
  const bool says = event->kind == MEND_EVENT_TOOL_AFTER || event->kind == MEND_EVENT_TOOL_ERROR;
  if (says) status = answers_keep(&run->answers, &key, answer, on->settings->content_bytes);
  if (status == MEND_OK && call->incident != 0) status = tell_stall_ended(on, run, event, call);
  if (says && on->patience_ns > 0 && call->incident == 0)
    on->counts.slow_calls += on->now_ns - call->since_ns > on->patience_ns;
  if (status != MEND_OK || !on->settings->reports->want_calls) return status;
  return tell_called(on, run, event, call, says ? answers_find(&run->answers, &key) : (replay_answer){0});
}

mend_status stage_end_call(stage *on, played_run *run, const mend_event *event) {
  char buffer[CALL_ID_SIZE];
  mend_str tool;
  replay_answer answer = answer_of(event, &tool);
  answer.id = call_id_of(event, buffer);
  open_call *named = answer.id.len > 0 ? open_calls_find(&run->calls, answer.id) : NULL;
  on->counts.results++;
  run->record.results++;
  if (named == NULL) on->counts.results_without_call++;
  open_call *call = answer.id.len > 0 ? named : take_unnamed(run, tool);
  const mend_status status = call != NULL ? end_known(on, run, event, call, answer) : MEND_OK;
  if (named != NULL) open_calls_remove(&run->calls, &on->spare_calls, named);
  if (named == NULL) open_call_drop(&on->spare_calls, call);
  return status;
}

/* ---- Usage and readings ------------------------------------------------------------------------------------ */

static uint64_t known(uint64_t amount) { return amount != MEND_NONE ? amount : 0; }

/* What was told, else what it costs by the table of prices. */
static double cost_of(const mend_model_table *models, const mend_model_usage_event *event) {
  mend_model_facts facts = MEND_MODEL_FACTS_INIT;
  if (event->cost_usd > 0) return event->cost_usd;
  if (models == NULL || mend_model_table_find(models, event->model, &facts) != MEND_OK) return 0;
  const mend_usage tokens = {event->input_tokens, event->output_tokens, MEND_NONE, MEND_NONE};
  const double cost = mend_model_cost_usd(&facts, &tokens);
  return cost > 0 ? cost : 0;
}

mend_status stage_note_usage(stage *on, played_run *run, mend_model_usage_event *event) {
  const double cost = cost_of(on->settings->models, event);
  on->counts.priced += cost > 0 && !(event->cost_usd > 0);
  if (cost > 0) event->cost_usd = cost;
  replay_usage usage = {.run_id = mend_run_id(run->run),
                        .model = event->model,
                        .tokens = known(event->tokens),
                        .input_tokens = known(event->input_tokens),
                        .output_tokens = known(event->output_tokens),
                        .cost_usd = cost,
                        .row = on->row,
                        .ts_ns = on->now_ns};
  if (usage.tokens == 0) usage.tokens = sum_of(usage.input_tokens, usage.output_tokens);
  run->record.used.tokens = sum_of(run->record.used.tokens, usage.tokens);
  run->record.used.cost_usd += usage.cost_usd;
  return on->settings->reports->want_usage ? reports_usage(on->settings->reports, &usage) : MEND_OK;
}

mend_status stage_note_reading(stage *on, const played_run *run, const mend_confidence_event *event) {
  if (!on->settings->watch->regression.enable) on->counts.readings_unused++;
  if (!on->settings->reports->want_readings) return MEND_OK;
  char buffer[CALL_ID_SIZE];
  const replay_reading reading = {.run_id = mend_run_id(run->run),
                                  .call_id = call_id_of(&event->event, buffer),
                                  .tool = event->tool_name,
                                  .source = event->source,
                                  .confidence = event->confidence,
                                  .row = on->row,
                                  .ts_ns = on->now_ns};
  return reports_reading(on->settings->reports, &reading);
}

/* ---- The end of a run -------------------------------------------------------------------------------------- */

static mend_status tell_open_calls(const stage *on, const played_run *run) {
  mend_status status = MEND_OK;
  for (const open_call *call = run->calls.first; call != NULL && status == MEND_OK; call = call->next)
    status = tell_unfinished(on, run, call);
  if (run->unnamed != NULL && status == MEND_OK) status = tell_unfinished(on, run, run->unnamed);
  return status;
}

static void describe_last_open(const played_run *run, replay_run *whole) {
  const open_call *last = run->calls.last;
  if (last == NULL) return;
  whole->open_tool = last->tool;
  whole->open_row = last->row;
  whole->open_ns = last->since_ns;
}

mend_status stage_tell_end(stage *on, played_run *run) {
  const mend_status status = tell_open_calls(on, run);
  if (status != MEND_OK) return status;
  replay_run whole = {.id = mend_run_id(run->run),
                      .parent_id = mend_run_parent_id(run->run),
                      .agent = mend_run_agent(run->run),
                      .unfinished = open_calls_count(&run->calls)};
  describe_last_open(run, &whole);
  run_record_describe(&run->record, &whole);
  on->used = replay_use_sum(on->used, whole.used);
  on->saved = replay_use_sum(on->saved, whole.saved);
  on->counts.runs_open += whole.unfinished > 0;
  on->counts.unfinished += whole.unfinished;
  on->counts.runs_stopped += whole.stop.row != 0;
  if (whole.detections > 0) replay_worst_consider(&on->worst, on->name, &whole);
  return reports_run_ended(on->settings->reports, &whole);
}
