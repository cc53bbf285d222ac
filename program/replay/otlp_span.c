#include "program/replay/otlp_span.h"

#include "core/memory.h"
#include "mend/json.h"

void otlp_span_free(otlp_span *span) {
  mend__buffer_free(&span->text);
  mend__buffer_free(&span->said);
  mend__free(NULL, span);
}

void otlp_span_key(char key[OTLP_SPAN_KEY_SIZE], const uint8_t trace_id[16], const uint8_t span_id[8]) {
  memcpy(key, trace_id, 16);
  memcpy(key + 16, span_id, 8);
}

static bool take_texts(otlp_span *span, const mend_str texts[OTLP_SPAN_TEXTS]) {
  for (int i = 0; i < OTLP_SPAN_TEXTS; i++) {
    mend__buffer_str(&span->text, texts[i]);
    span->ends[i] = span->text.len;
  }
  return !span->text.failed;
}

otlp_span *otlp_span_new(otlp_work of, const mend_run *run, const uint8_t trace_id[16], const uint8_t span_id[8],
                         mend_str name, mend_str call, mend_str arguments) {
  const mend_str texts[OTLP_SPAN_TEXTS] = {[OTLP_SPAN_NAME] = name,
                                           [OTLP_SPAN_SESSION] = mend_run_session_id(run),
                                           [OTLP_SPAN_RUN] = mend_run_id(run),
                                           [OTLP_SPAN_PARENT_RUN] = mend_run_parent_id(run),
                                           [OTLP_SPAN_PARENT_CALL] = mend_run_parent_call(run),
                                           [OTLP_SPAN_CALL] = call,
                                           [OTLP_SPAN_ARGUMENTS] = arguments};
  otlp_span *span = mend__alloc_zero(NULL, sizeof *span);
  if (span == NULL) return NULL;
  otlp_span_key(span->key, trace_id, span_id);
  memcpy(span->id, span_id, sizeof span->id);
  span->work = of;
  mend__buffer_init(&span->text, NULL);
  mend__buffer_init(&span->said, NULL);
  if (take_texts(span, texts)) return span;
  otlp_span_free(span);
  return NULL;
}

static mend_str text_of(const otlp_span *span, otlp_span_text which) {
  const size_t begin = which > 0 ? span->ends[which - 1] : 0;
  return (mend_str){span->text.data + begin, span->ends[which] - begin};
}

/* By their kinds. */
static const struct {
  const char *operation, *name_attribute;
} words[] = {[OTLP_AGENT_WORK] = {"invoke_agent", "gen_ai.agent.name"},
             [OTLP_TOOL_WORK] = {"execute_tool", "gen_ai.tool.name"},
             [OTLP_MODEL_WORK] = {"chat", "gen_ai.request.model"}};

/* ---- Ends -------------------------------------------------------------------------------------------------- */

static mend_str or_else(mend_str text, const char *other) { return text.len > 0 ? text : mend_str_from(other); }

otlp_span_end otlp_span_end_of(const mend_any_event *any) {
  switch (any->event.kind) {
  case MEND_EVENT_TOOL_AFTER: return (otlp_span_end){.result = any->tool_after.result};
  case MEND_EVENT_TOOL_ERROR:
    return (otlp_span_end){.error_type = or_else(any->tool_error.error_type, "_OTHER"),
                           .message = any->tool_error.error_message};
  case MEND_EVENT_TOOL_SKIPPED:
    return (otlp_span_end){.error_type = MEND_STR("skipped"), .message = any->tool_skipped.reason, .is_no_error = true};
  case MEND_EVENT_TOOL_ABORTED:
    return (otlp_span_end){.error_type = MEND_STR("aborted"), .message = any->tool_aborted.reason, .is_no_error = true};
  case MEND_EVENT_TOOL_CANCELLED:
    return (otlp_span_end){
        .error_type = MEND_STR("cancelled"), .message = any->tool_cancelled.reason, .is_no_error = true};
  case MEND_EVENT_MODEL_RESPONSE:
    return (otlp_span_end){.result = any->model_response.text, .finish_reason = any->model_response.finish_reason};
  default:
    return (otlp_span_end){.error_type = or_else(any->model_error.error_type, "_OTHER"),
                           .message = any->model_error.error};
  }
}

/* ---- Writing ----------------------------------------------------------------------------------------------- */

static void write_ids(mend__buffer *line, const otlp_span *span) {
  static const uint8_t none[8];
  const uint8_t *key = (const uint8_t *)span->key;
  mend__buffer_str(line, MEND_STR("{\"traceId\":\""));
  mend__buffer_hex(line, key, 16);
  mend__buffer_str(line, MEND_STR("\",\"spanId\":\""));
  mend__buffer_hex(line, span->id, 8);
  if (memcmp(span->parent, none, sizeof none) != 0) {
    mend__buffer_str(line, MEND_STR("\",\"parentSpanId\":\""));
    mend__buffer_hex(line, span->parent, 8);
  }
  mend__buffer_str(line, MEND_STR("\",\"name\":"));
}

static void write_name(mend__buffer *line, const otlp_span *span) {
  const mend_str of = text_of(span, OTLP_SPAN_NAME);
  mend__buffer name;
  mend__buffer_init(&name, NULL);
  mend__buffer_str(&name, mend_str_from(words[span->work].operation));
  if (of.len > 0) mend__buffer_char(&name, ' ');
  mend__buffer_str(&name, of);
  line->failed |= name.failed;
  mend__buffer_json_string(line, mend__buffer_text(&name));
  mend__buffer_free(&name);
}

/* Without them their hash tells which calls are equal; it is zeros where there is none. */
static void add_arguments(mend__buffer *line, const otlp_span *span) {
  const mend_str arguments = text_of(span, OTLP_SPAN_ARGUMENTS);
  otlp_add_string(line, "gen_ai.tool.call.arguments", arguments);
  if (span->work != OTLP_TOOL_WORK || arguments.len > 0) return;
  char digits[MEND_HASH_TEXT_SIZE];
  mend_hash_format(span->args_hash, digits);
  otlp_add_string(line, "mend.tool.call.arguments_hash", mend_str_from(digits));
}

static void write_attributes(mend__buffer *line, const otlp_span *span, const otlp_span_end *end) {
  const mend_str session = text_of(span, OTLP_SPAN_SESSION), run = text_of(span, OTLP_SPAN_RUN);
  mend__buffer_str(line, MEND_STR(",\"attributes\":["));
  otlp_add_string(line, "gen_ai.operation.name", mend_str_from(words[span->work].operation));
  otlp_add_string(line, "gen_ai.conversation.id", session.len > 0 ? session : run);
  otlp_add_string(line, "mend.run.id", run);
  otlp_add_string(line, "mend.run.parent_id", text_of(span, OTLP_SPAN_PARENT_RUN));
  otlp_add_string(line, "mend.run.parent_call_id", text_of(span, OTLP_SPAN_PARENT_CALL));
  otlp_add_string(line, words[span->work].name_attribute, text_of(span, OTLP_SPAN_NAME));
  otlp_add_string(line, "gen_ai.tool.call.id", text_of(span, OTLP_SPAN_CALL));
  add_arguments(line, span);
  if (span->was_asked_for)
    otlp_add_string(line, "mend.model.asked", span->was_lively ? MEND_STR("streaming") : MEND_STR("silent"));
  if (span->work == OTLP_MODEL_WORK) {
    const mend_str reason = end->finish_reason.len > 0 ? end->finish_reason : MEND_STR("stop");
    otlp_add_message(line, "gen_ai.output.messages", "assistant", end->result, reason);
  } else {
    otlp_add_string(line, "gen_ai.tool.call.result", end->result);
  }
  otlp_add_integer(line, "gen_ai.usage.input_tokens", span->input_tokens);
  otlp_add_integer(line, "gen_ai.usage.output_tokens", span->output_tokens);
  otlp_add_double(line, "gen_ai.usage.cost", span->cost_usd);
  otlp_add_string(line, "gen_ai.response.finish_reasons", end->finish_reason);
  otlp_add_string(line, "error.type", end->error_type);
  if (end->is_no_error) otlp_add_string(line, "mend.ended", end->error_type);
  mend__buffer_char(line, ']');
}

static void write_end(mend__buffer *line, const otlp_span *span, const otlp_span_end *end) {
  if (span->said.len > 0) {
    mend__buffer_str(line, MEND_STR(",\"events\":["));
    mend__buffer_str(line, mend__buffer_text(&span->said));
    mend__buffer_char(line, ']');
  }
  if (end->error_type.len > 0) {
    mend__buffer_str(line, MEND_STR(",\"status\":{\"code\":2,\"message\":"));
    mend__buffer_json_string(line, end->message);
    mend__buffer_char(line, '}');
  }
  mend__buffer_char(line, '}');
}

mend_status otlp_span_write(otlp_line *line, const otlp_span *span, const otlp_span_end *end) {
  mend__buffer *text = &line->text;
  otlp_line_begin_span(line);
  write_ids(text, span);
  write_name(text, span);
  mend__buffer_printf(text, ",\"kind\":1,\"startTimeUnixNano\":\"%llu\",\"endTimeUnixNano\":\"%llu\"",
                      (unsigned long long)span->begin_ns, (unsigned long long)span->end_ns);
  write_attributes(text, span, end);
  write_end(text, span, end);
  return otlp_line_end_span(line);
}
