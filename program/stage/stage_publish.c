/* What the readers of foreign formats publish. */
#include "bus/room.h"
#include "core/memory.h"
#include "program/base/json_fields.h"
#include "program/base/sums.h"
#include "program/stage/played_run.h"

#include <stdio.h>

/* ---- Runs and state ----------------------------------------------------------------------------------------- */

void *stage_state(stage *on, size_t size, void (*free_inside)(void *state)) {
  if (on->state == NULL) {
    on->state = mend__alloc_zero(NULL, size);
    if (on->state != NULL) on->free_state = free_inside;
  }
  return on->state;
}

mend_status stage_row_run(stage *on, played_run **ret_run, mend_error *error) {
  mend_run_options options = MEND_RUN_OPTIONS_INIT;
  char id[sizeof on->default_run + 24];
  snprintf(id, sizeof id, "%s:%llu", on->default_run, (unsigned long long)on->row);
  options.id = mend_str_from(id);
  return stage_run(on, &options, ret_run, error);
}

/* ---- Calls ------------------------------------------------------------------------------------------------- */

static void name_call(mend_event *event, mend_str id) {
  if (id.len == 0) return;
  event->call_name = id;
  event->call = mend_call_from_name(id);
}

bool stage_is_open(const played_run *run, mend_str id) { return open_calls_find(&run->calls, id) != NULL; }

mend_str stage_arguments(const played_run *run, mend_str id) {
  const open_call *call = open_calls_find(&run->calls, id);
  return call != NULL ? call->args : (mend_str){NULL, 0};
}

/* The tool's name is missing where a call goes on or ends; the start knows it. */
static mend_str tool_of(const played_run *run, const mend_event *event) {
  const open_call *call = open_calls_of(&run->calls, event);
  return call != NULL ? call->tool : (mend_str){NULL, 0};
}

mend_status stage_call(stage *on, played_run *run, mend_str id, mend_str tool, mend_str arguments) {
  mend_tool_before_event before = MEND_TOOL_BEFORE_EVENT_INIT;
  name_call(&before.event, id);
  before.tool_name = tool;
  before.args = arguments.ptr != NULL ? arguments : MEND_STR("{}");
  before.args_hash = mend_json_hash(before.args, on->hash_scratch, MEND_HASH_SCRATCH).hash;
  return stage_publish(on, run, &before.event);
}

mend_status stage_progress(stage *on, played_run *run, mend_str id, uint64_t bytes) {
  mend_tool_progress_event progress = MEND_TOOL_PROGRESS_EVENT_INIT;
  name_call(&progress.event, id);
  progress.tool_name = tool_of(run, &progress.event);
  progress.bytes = bytes;
  return stage_publish(on, run, &progress.event);
}

/* Tools of MCP answer with blocks: of a single one that is a text, the text is what they say. */
static mend_str sole_text(mend_str result) {
  static const char *const types[] = {"text", "output_text", "input_text", NULL};
  json_field block[] = {JSON_FIELD("type"), JSON_FIELD("text")}, other = JSON_FIELD("type");
  mend__json_items elements = mend__json_items_of(result);
  mend_str element;
  if (!json_items_next_fields(&elements, block, 2, &element)) return result;
  const bool is_text = json_string_is_any_of(block[0].value, types) && mend__json_is_string(block[1].value);
  return is_text && !json_items_next_fields(&elements, &other, 1, &element) ? block[1].value : result;
}

mend_status stage_result(stage *on, played_run *run, mend_str id, mend_str result) {
  mend_tool_after_event after = MEND_TOOL_AFTER_EVENT_INIT;
  name_call(&after.event, id);
  after.tool_name = tool_of(run, &after.event);
  after.result = sole_text(result);
  return stage_publish(on, run, &after.event);
}

mend_status stage_error(stage *on, played_run *run, mend_str id, mend_str message) {
  mend_tool_error_event failed = MEND_TOOL_ERROR_EVENT_INIT;
  name_call(&failed.event, id);
  failed.tool_name = tool_of(run, &failed.event);
  failed.error_message = message;
  return stage_publish(on, run, &failed.event);
}

mend_status stage_cancelled(stage *on, played_run *run, mend_str id, mend_str reason) {
  mend_tool_cancelled_event cancelled = MEND_TOOL_CANCELLED_EVENT_INIT;
  name_call(&cancelled.event, id);
  cancelled.tool_name = tool_of(run, &cancelled.event);
  cancelled.reason = reason;
  return stage_publish(on, run, &cancelled.event);
}

mend_status stage_skipped(stage *on, played_run *run, mend_str id, mend_str reason) {
  mend_tool_skipped_event skipped = MEND_TOOL_SKIPPED_EVENT_INIT;
  name_call(&skipped.event, id);
  skipped.tool_name = tool_of(run, &skipped.event);
  skipped.reason = reason;
  return stage_publish(on, run, &skipped.event);
}

mend_status stage_aborted(stage *on, played_run *run, mend_str id, mend_str reason) {
  mend_tool_aborted_event aborted = MEND_TOOL_ABORTED_EVENT_INIT;
  name_call(&aborted.event, id);
  aborted.tool_name = tool_of(run, &aborted.event);
  aborted.reason = reason;
  return stage_publish(on, run, &aborted.event);
}

mend_status stage_cancel_open(stage *on, played_run *run, mend_str reason) {
  mend_status status = MEND_OK;
  while (status == MEND_OK && run->calls.first != NULL)
    status = stage_cancelled(on, run, run->calls.first->id, reason);
  return status;
}

mend_status stage_reading(stage *on, played_run *run, mend_str id, mend_str source, double confidence) {
  mend_confidence_event reading = MEND_CONFIDENCE_EVENT_INIT;
  name_call(&reading.event, id);
  reading.tool_name = tool_of(run, &reading.event);
  reading.confidence = confidence;
  reading.source = source;
  return stage_publish(on, run, &reading.event);
}

/* ---- People and models ------------------------------------------------------------------------------------- */

mend_status stage_user_message(stage *on, played_run *run, mend_str text) {
  mend_user_message_event message = MEND_USER_MESSAGE_EVENT_INIT;
  message.text = text;
  return stage_publish(on, run, &message.event);
}

mend_status stage_wait(stage *on, played_run *run, mend_str id) {
  mend_approval_wait_event wait = MEND_APPROVAL_WAIT_EVENT_INIT;
  name_call(&wait.event, id);
  wait.tool_name = tool_of(run, &wait.event);
  return stage_publish(on, run, &wait.event);
}

mend_status stage_go_on(stage *on, played_run *run) {
  mend_approval_granted_event granted = MEND_APPROVAL_GRANTED_EVENT_INIT;
  return stage_publish(on, run, &granted.event);
}

mend_status stage_agent_end(stage *on, played_run *run) {
  mend_agent_end_event end = MEND_AGENT_END_EVENT_INIT;
  return stage_publish(on, run, &end.event);
}

mend_status stage_model_text(stage *on, played_run *run, mend_str model, mend_str text) {
  if (text.len == 0) return MEND_OK;
  mend_model_response_event response = MEND_MODEL_RESPONSE_EVENT_INIT;
  response.model = model;
  response.text = text;
  return stage_publish(on, run, &response.event);
}

mend_status stage_model_error(stage *on, played_run *run, mend_str model, mend_str type, mend_str message,
                              uint64_t http_status) {
  mend_model_error_event failed = MEND_MODEL_ERROR_EVENT_INIT;
  failed.model = model;
  failed.error_type = type;
  failed.error = message;
  if (http_status > 0) failed.http_status = http_status;
  return stage_publish(on, run, &failed.event);
}

mend_status stage_compact(stage *on, played_run *run, uint64_t before_tokens, uint64_t after_tokens) {
  mend_context_compact_event compact = MEND_CONTEXT_COMPACT_EVENT_INIT;
  compact.before = before_tokens;
  compact.after = after_tokens;
  return stage_publish(on, run, &compact.event);
}

/* ---- Usage ------------------------------------------------------------------------------------------------- */

mend_status stage_usage(stage *on, played_run *run, const stage_tokens *used) {
  if (used->input == 0 && used->output == 0 && !(used->cost_usd > 0)) return MEND_OK;
  mend_model_usage_event usage = MEND_MODEL_USAGE_EVENT_INIT;
  usage.model = used->model;
  if (used->input > 0) usage.input_tokens = used->input;
  if (used->output > 0) usage.output_tokens = used->output;
  if (used->input > 0 || used->output > 0) usage.tokens = sum_of(used->input, used->output);
  if (used->cost_usd > 0) usage.cost_usd = used->cost_usd;
  return stage_publish(on, run, &usage.event);
}

static uint64_t more_than(uint64_t total, uint64_t before) { return total > before ? total - before : 0; }

static uint64_t greater(uint64_t a, uint64_t b) { return a > b ? a : b; }

mend_status stage_usage_so_far(stage *on, played_run *run, mend_str of, const stage_tokens *total) {
  if (of.len == 0) return stage_usage(on, run, total);
  const mend_hash hash = mend_hash_bytes(of);
  stage_tokens *before = &run->used;
  if (!mend_hash_equal(hash, run->used_of)) *before = (stage_tokens){.cost_usd = 0};
  run->used_of = hash;
  const double cost = total->cost_usd - before->cost_usd;
  const stage_tokens used = {total->model, more_than(total->input, before->input),
                             more_than(total->output, before->output), cost > 0 ? cost : 0};
  before->input = greater(total->input, before->input);
  before->output = greater(total->output, before->output);
  if (cost > 0) before->cost_usd = total->cost_usd;
  return stage_usage(on, run, &used);
}
