#include "program/replay/otlp_writer.h"

#include "core/buffer.h"
#include "core/memory.h"
#include "core/strmap.h"

#include <math.h>

enum { SPANS_A_LINE = 512 };

/* A line that grew beyond this is written although there is room for more spans. */
static const size_t LINE_ENOUGH = 4 * 1024 * 1024;

/* So many runs are open at once; then all of them are written, and one that goes on is a second span. */
enum { RUNS_MAX = 100000 };

enum { KEY_SIZE = 24 };

/* A span that has begun. */
typedef struct open_span {
  char key[KEY_SIZE]; /* trace and span id */
  uint8_t parent[8];
  uint64_t begin_ns, end_ns;
  uint64_t input_tokens, output_tokens;
  struct open_span *run; /* of a call's span */
  const char *operation;
  mend__buffer text; /* name, run id, call id, arguments: `ends` tells where each ends */
  size_t ends[4];
} open_span;
enum { NAME, RUN_ID, CALL_ID, ARGUMENTS };

struct otlp_writer {
  FILE *out;
  mend__strmap calls, runs;
  mend__buffer line;
  size_t spans;
  uint64_t count;
};

otlp_writer *otlp_writer_new(FILE *out) {
  otlp_writer *writer = mend__alloc_zero(NULL, sizeof *writer);
  if (writer == NULL) return NULL;
  writer->out = out;
  mend__strmap_init(&writer->calls, NULL);
  mend__strmap_init(&writer->runs, NULL);
  mend__buffer_init(&writer->line, NULL);
  return writer;
}

uint64_t otlp_writer_count(const otlp_writer *writer) { return writer->count; }

/* ---- Open spans -------------------------------------------------------------------------------------------- */

static void span_free(open_span *span) {
  mend__buffer_free(&span->text);
  mend__free(NULL, span);
}

static void free_spans(mend__strmap *spans) {
  size_t position = 0;
  for (open_span *span; (span = mend__strmap_next(spans, &position)) != NULL;)
    span_free(span);
  mend__strmap_free(spans);
}

void otlp_writer_free(otlp_writer *writer) {
  if (writer == NULL) return;
  free_spans(&writer->calls);
  free_spans(&writer->runs);
  mend__buffer_free(&writer->line);
  mend__free(NULL, writer);
}

static mend_str text_of(const open_span *span, int which) {
  const size_t begin = which > 0 ? span->ends[which - 1] : 0;
  return (mend_str){span->text.data + begin, span->ends[which] - begin};
}

static void write_key(char key[KEY_SIZE], const uint8_t trace_id[16], const uint8_t span_id[8]) {
  memcpy(key, trace_id, 16);
  memcpy(key + 16, span_id, 8);
}

static open_span *find(const mend__strmap *spans, const mend_event *event) {
  char key[KEY_SIZE];
  write_key(key, event->trace_id, event->span_id);
  return mend__strmap_get(spans, (mend_str){key, KEY_SIZE});
}

static mend_status open_new(mend__strmap *spans, const char *operation, const uint8_t span_id[8],
                            const mend_event *event, const mend_str texts[4], open_span **ret_span) {
  open_span *span = mend__alloc_zero(NULL, sizeof *span);
  if (span == NULL) return MEND_ENOMEM;
  write_key(span->key, event->trace_id, span_id);
  span->operation = operation;
  span->begin_ns = span->end_ns = event->wall_ns;
  mend__buffer_init(&span->text, NULL);
  for (int i = 0; i < 4; i++) {
    mend__buffer_str(&span->text, texts[i]);
    span->ends[i] = span->text.len;
  }
  mend_status status = span->text.failed ? MEND_ENOMEM : MEND_OK;
  if (status == MEND_OK) status = mend__strmap_put(spans, (mend_str){span->key, KEY_SIZE}, span);
  if (status == MEND_OK) {
    *ret_span = span;
  } else {
    span_free(span);
  }
  return status;
}

/* ---- Lines ------------------------------------------------------------------------------------------------- */

static mend_status flush(otlp_writer *writer) {
  mend__buffer *line = &writer->line;
  if (writer->spans == 0) return MEND_OK;
  mend__buffer_str(line, MEND_STR("]}]}]}\n"));
  if (line->failed) return MEND_ENOMEM;
  const bool written = fwrite(line->data, 1, line->len, writer->out) == line->len && fflush(writer->out) == 0;
  mend__buffer_clear(line);
  writer->spans = 0;
  return written ? MEND_OK : MEND_EIO;
}

static void begin_line(mend__buffer *line) {
  mend__buffer_str(line, MEND_STR("{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\","
                                  "\"value\":{\"stringValue\":\"mend\"}}]},\"scopeSpans\":[{\"scope\":{\"name\":"
                                  "\"mend\",\"version\":\"" MEND_VERSION "\"},\"spans\":["));
}

/* ---- A span ------------------------------------------------------------------------------------------------ */

static void add_attribute(mend__buffer *line, const char *key) {
  if (line->data[line->len - 1] != '[') mend__buffer_char(line, ',');
  mend__buffer_printf(line, "{\"key\":\"%s\",\"value\":{", key);
}

static void add_string(mend__buffer *line, const char *key, mend_str text) {
  if (text.len == 0 || line->failed) return;
  add_attribute(line, key);
  mend__buffer_str(line, MEND_STR("\"stringValue\":"));
  mend__buffer_json_string(line, text);
  mend__buffer_str(line, MEND_STR("}}"));
}

static void add_integer(mend__buffer *line, const char *key, uint64_t value) {
  if (value == 0 || line->failed) return;
  add_attribute(line, key);
  mend__buffer_printf(line, "\"intValue\":\"%llu\"}}", (unsigned long long)value);
}

/* How a span ended. */
typedef struct span_end {
  mend_str result;
  mend_str error_type; /* absent when it went well */
  mend_str message;
  mend_str finish_reason;
} span_end;

static void write_ids(mend__buffer *line, const open_span *span) {
  static const uint8_t none[8];
  const uint8_t *key = (const uint8_t *)span->key;
  mend__buffer_str(line, MEND_STR("{\"traceId\":\""));
  mend__buffer_hex(line, key, 16);
  mend__buffer_str(line, MEND_STR("\",\"spanId\":\""));
  mend__buffer_hex(line, key + 16, 8);
  if (memcmp(span->parent, none, sizeof none) != 0) {
    mend__buffer_str(line, MEND_STR("\",\"parentSpanId\":\""));
    mend__buffer_hex(line, span->parent, 8);
  }
  mend__buffer_str(line, MEND_STR("\",\"name\":"));
}

static void write_name(mend__buffer *line, const open_span *span) {
  mend__buffer name;
  mend__buffer_init(&name, NULL);
  mend__buffer_printf(&name, "%s", span->operation);
  if (text_of(span, NAME).len > 0) mend__buffer_printf(&name, " %.*s", MEND_STR_ARG(text_of(span, NAME)));
  line->failed |= name.failed;
  mend__buffer_json_string(line, mend__buffer_text(&name));
  mend__buffer_free(&name);
}

static void write_attributes(mend__buffer *line, const open_span *span, const span_end *end) {
  const bool is_tool = strcmp(span->operation, "execute_tool") == 0, is_chat = strcmp(span->operation, "chat") == 0;
  mend__buffer_str(line, MEND_STR(",\"attributes\":["));
  add_string(line, "gen_ai.operation.name", mend_str_from(span->operation));
  add_string(line, "gen_ai.conversation.id", text_of(span, RUN_ID));
  add_string(line,
             is_tool   ? "gen_ai.tool.name"
             : is_chat ? "gen_ai.request.model"
                       : "gen_ai.agent.name",
             text_of(span, NAME));
  add_string(line, "gen_ai.tool.call.id", text_of(span, CALL_ID));
  add_string(line, "gen_ai.tool.call.arguments", text_of(span, ARGUMENTS));
  add_string(line, "gen_ai.tool.call.result", end->result);
  add_integer(line, "gen_ai.usage.input_tokens", span->input_tokens);
  add_integer(line, "gen_ai.usage.output_tokens", span->output_tokens);
  add_string(line, "gen_ai.response.finish_reasons", end->finish_reason);
  add_string(line, "error.type", end->error_type);
  mend__buffer_char(line, ']');
}

static mend_status write_span(otlp_writer *writer, const open_span *span, const span_end *end) {
  mend__buffer *line = &writer->line;
  if (writer->spans == 0) begin_line(line);
  if (writer->spans > 0) mend__buffer_char(line, ',');
  write_ids(line, span);
  write_name(line, span);
  mend__buffer_printf(line, ",\"kind\":1,\"startTimeUnixNano\":\"%llu\",\"endTimeUnixNano\":\"%llu\"",
                      (unsigned long long)span->begin_ns, (unsigned long long)span->end_ns);
  write_attributes(line, span, end);
  if (end->error_type.len > 0) {
    mend__buffer_str(line, MEND_STR(",\"status\":{\"code\":2,\"message\":"));
    mend__buffer_json_string(line, end->message);
    mend__buffer_char(line, '}');
  }
  mend__buffer_char(line, '}');
  if (line->failed) return MEND_ENOMEM;
  writer->count++;
  writer->spans++;
  return writer->spans >= SPANS_A_LINE || line->len > LINE_ENOUGH ? flush(writer) : MEND_OK;
}

/* ---- Ending ------------------------------------------------------------------------------------------------ */

static mend_status close_span(otlp_writer *writer, mend__strmap *spans, open_span *span, const span_end *end) {
  mend__strmap_remove(spans, (mend_str){span->key, KEY_SIZE});
  const mend_status status = write_span(writer, span, end);
  span_free(span);
  return status;
}

static mend_status close_all(otlp_writer *writer, mend__strmap *spans, const span_end *end) {
  mend_status status = MEND_OK;
  size_t position = 0;
  for (open_span *span; (span = mend__strmap_next(spans, &position)) != NULL;) {
    if (span->run != NULL) span->end_ns = span->run->end_ns;
    const mend_status written = status == MEND_OK ? write_span(writer, span, end) : status;
    status = written;
  }
  free_spans(spans);
  mend__strmap_init(spans, NULL);
  return status;
}

mend_status otlp_writer_finish(otlp_writer *writer) {
  const span_end unfinished = {.error_type = MEND_STR("unfinished"),
                               .message = MEND_STR("it was still open at the end of the recording")};
  const span_end fine = {.result = {NULL, 0}};
  mend_status status = close_all(writer, &writer->calls, &unfinished);
  if (status == MEND_OK) status = close_all(writer, &writer->runs, &fine);
  return status == MEND_OK ? flush(writer) : status;
}

/* ---- Events ------------------------------------------------------------------------------------------------ */

static mend_status run_span(otlp_writer *writer, const mend_event *event, open_span **ret_span) {
  uint8_t span_id[8];
  char key[KEY_SIZE];
  mend_run_span_id(event->run, 0, span_id);
  write_key(key, event->trace_id, span_id);
  open_span *span = mend__strmap_get(&writer->runs, (mend_str){key, KEY_SIZE});
  mend_status status = MEND_OK;
  if (span == NULL && writer->runs.count >= RUNS_MAX) status = otlp_writer_finish(writer);
  if (span == NULL && status == MEND_OK) {
    const mend_str texts[4] = {mend_run_agent(event->run), mend_run_id(event->run)};
    status = open_new(&writer->runs, "invoke_agent", span_id, event, texts, &span);
    if (status == MEND_OK) mend_run_parent_span_id(event->run, span->parent);
  }
  if (status != MEND_OK) return status;
  span->end_ns = event->wall_ns;
  *ret_span = span;
  return MEND_OK;
}

/* A call without an id has no span. One that begins again without having ended, as a later attempt does, is one. */
static mend_status begin_call(otlp_writer *writer, open_span *run, const char *operation, const mend_event *event,
                              mend_str name, mend_str arguments) {
  if (event->call == 0 || find(&writer->calls, event) != NULL) return MEND_OK;
  open_span *span;
  const mend_str texts[4] = {name, mend_run_id(event->run), event->call_name, arguments};
  const mend_status status = open_new(&writer->calls, operation, event->span_id, event, texts, &span);
  if (status != MEND_OK) return status;
  span->run = run;
  memcpy(span->parent, run->key + 16, sizeof span->parent);
  return MEND_OK;
}

static mend_status end_call(otlp_writer *writer, const mend_event *event, const span_end *end) {
  open_span *span = find(&writer->calls, event);
  if (span == NULL) return MEND_OK;
  span->end_ns = event->wall_ns;
  return close_span(writer, &writer->calls, span, end);
}

static mend_str or_else(mend_str text, const char *other) { return text.len > 0 ? text : mend_str_from(other); }

static void add_usage(open_span *span, const mend_model_usage_event *usage) {
  if (usage->input_tokens != MEND_NONE) span->input_tokens += usage->input_tokens;
  if (usage->output_tokens != MEND_NONE) span->output_tokens += usage->output_tokens;
}

static mend_status take_event(otlp_writer *writer, open_span *run, const mend_any_event *any) {
  const mend_event *event = &any->event;
  switch (event->kind) {
  case MEND_EVENT_TOOL_BEFORE:
    return begin_call(writer, run, "execute_tool", event, any->tool_before.tool_name, any->tool_before.args);
  case MEND_EVENT_TOOL_AFTER: return end_call(writer, event, &(span_end){.result = any->tool_after.result});
  case MEND_EVENT_TOOL_ERROR:
    return end_call(writer, event,
                    &(span_end){.error_type = or_else(any->tool_error.error_type, "_OTHER"),
                                .message = any->tool_error.error_message});
  case MEND_EVENT_TOOL_SKIPPED:
    return end_call(writer, event, &(span_end){.error_type = MEND_STR("skipped"), .message = any->tool_skipped.reason});
  case MEND_EVENT_TOOL_ABORTED:
    return end_call(writer, event, &(span_end){.error_type = MEND_STR("aborted"), .message = any->tool_aborted.reason});
  case MEND_EVENT_TOOL_CANCELLED:
    return end_call(writer, event,
                    &(span_end){.error_type = MEND_STR("cancelled"), .message = any->tool_cancelled.reason});
  case MEND_EVENT_MODEL_REQUEST:
    return begin_call(writer, run, "chat", event, any->model_request.model, (mend_str){NULL, 0});
  case MEND_EVENT_MODEL_RESPONSE:
    return end_call(writer, event, &(span_end){.finish_reason = any->model_response.finish_reason});
  case MEND_EVENT_MODEL_ERROR:
    return end_call(
        writer, event,
        &(span_end){.error_type = or_else(any->model_error.error_type, "_OTHER"), .message = any->model_error.error});
  case MEND_EVENT_MODEL_USAGE: {
    open_span *asked = find(&writer->calls, event);
    add_usage(asked != NULL ? asked : run, &any->model_usage);
    return MEND_OK;
  }
  default: return MEND_OK;
  }
}

mend_status otlp_writer_event(void *ctx, const mend_event *event) {
  otlp_writer *writer = ctx;
  open_span *run;
  const mend_status status = run_span(writer, event, &run);
  return status == MEND_OK ? take_event(writer, run, (const mend_any_event *)event) : status;
}
