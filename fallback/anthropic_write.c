/* Anthropic Messages: requests. Roles are two, user and assistant, and take turns: results of tools are blocks of
 * the user's. */
#include "fallback/anthropic.h"
#include "fallback/json_fields.h"
#include "fallback/wire_parts.h"

#define MAX_TOKENS_DEFAULT 4096 /* there has to be a number */

static void begin_block(mend__buffer *json, const char *type) {
  mend__json_comma(json);
  mend__buffer_char(json, '{');
  mend__json_string(json, "type", mend_str_from(type));
}

/* Ids of other providers may have characters that are refused here. */
static void write_id(mend__buffer *json, const char *name, mend_str id) {
  mend__json_open(json, name, '"');
  for (size_t i = 0; i < id.len; i++) {
    const char c = id.ptr[i];
    const bool fits =
        (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || c == '-';
    mend__buffer_char(json, fits ? c : '_');
  }
  mend__buffer_char(json, '"');
}

/* An empty one is refused. */
static void write_text(mend__buffer *json, const mend_part *part) {
  if (part->text.len == 0) return;
  begin_block(json, "text");
  mend__json_string(json, "text", part->text);
  mend__buffer_char(json, '}');
}

static void write_image(mend__buffer *json, const mend_part *part) {
  mend_str media_type = part->media_type, base64;
  const bool is_data_url = mend__wire_data_url(part->url, &media_type, &base64);
  const bool is_url = part->url.len > 0 && !is_data_url;
  begin_block(json, "image");
  mend__json_open(json, "source", '{');
  mend__json_string(json, "type", is_url ? MEND_STR("url") : MEND_STR("base64"));
  if (is_url) {
    mend__json_string(json, "url", part->url);
  } else {
    mend__json_string(json, "media_type", media_type);
    if (is_data_url) mend__json_string(json, "data", base64);
    if (!is_data_url) mend__wire_bytes(json, "data", part);
  }
  mend__buffer_str(json, MEND_STR("}}"));
}

/* A signature that is an object is a block as it came: redacted thinking has no text. */
static void write_thinking(mend__buffer *json, const mend_part *part) {
  if (!mend__wire_is_signed(part, mend__dialect_anthropic.provider)) return;
  if (mend__json_is_object(part->signature)) {
    mend__json_comma(json);
    mend__buffer_str(json, part->signature);
    return;
  }
  begin_block(json, "thinking");
  mend__json_string(json, "thinking", part->text);
  mend__json_string(json, "signature", part->signature);
  mend__buffer_char(json, '}');
}

static void write_call(mend__buffer *json, const mend_part *part) {
  begin_block(json, "tool_use");
  write_id(json, "id", part->call_id);
  mend__json_string(json, "name", part->name);
  mend__json_raw(json, "input", part->args);
  mend__buffer_char(json, '}');
}

static void write_result(mend__buffer *json, const mend_part *part) {
  begin_block(json, "tool_result");
  write_id(json, "tool_use_id", part->call_id);
  mend__json_string(json, "content", part->text);
  if (part->is_error) mend__json_true(json, "is_error");
  mend__buffer_char(json, '}');
}

static void write_block(mend__buffer *json, const mend_part *part) {
  switch (part->kind) {
  case MEND_PART_TEXT: write_text(json, part); break;
  case MEND_PART_IMAGE: write_image(json, part); break;
  case MEND_PART_THINKING: write_thinking(json, part); break;
  case MEND_PART_CALL: write_call(json, part); break;
  case MEND_PART_RESULT: write_result(json, part); break;
  }
}

static void write_messages(mend__buffer *json, const mend_model_request *request) {
  mend__wire_system(json, "system", request, 0, mend_messages_count(request->messages));
  mend__json_open(json, "messages", '[');
  mend__wire_turns(json, request, "assistant", "content", write_block);
  mend__buffer_char(json, ']');
}

static void write_tool(mend__buffer *json, const mend_tool_spec *tool) {
  mend__json_comma(json);
  mend__buffer_char(json, '{');
  mend__json_string(json, "name", tool->name);
  if (tool->description.len > 0) mend__json_string(json, "description", tool->description);
  mend__json_raw(json, "input_schema", mend__wire_schema(tool));
  if (tool->strict) mend__json_true(json, "strict");
  mend__buffer_char(json, '}');
}

static void write_choice(mend__buffer *json, const mend_model_request *request) {
  static const char *const types[] = {[MEND__CHOICE_AUTO] = "auto",
                                      [MEND__CHOICE_NONE] = "none",
                                      [MEND__CHOICE_REQUIRED] = "any",
                                      [MEND__CHOICE_NAMED] = "tool"};
  const mend__tool_choice choice = mend__wire_choice(request);
  if (choice == MEND__CHOICE_DEFAULT) return;
  mend__json_open(json, "tool_choice", '{');
  mend__json_string(json, "type", mend_str_from(types[choice]));
  if (choice == MEND__CHOICE_NAMED) mend__json_string(json, "name", request->tool_choice);
  mend__buffer_char(json, '}');
}

static mend_status write_request(const mend_model_request *request, mend_str model_id, const char *key,
                                 mend__wire *wire, mend_error *error) {
  mend__buffer *json = &wire->body;
  (void)error; /* it takes everything; probabilities it has none */
  mend__buffer_str(&wire->path, MEND_STR("/messages"));
  mend__wire_header_add(wire, "anthropic-version", "", "2023-06-01");
  if (key != NULL) mend__wire_header_add(wire, "x-api-key", "", key);
  mend__buffer_char(json, '{');
  mend__json_string(json, "model", model_id);
  mend__wire_count(json, "max_tokens", request->max_tokens > 0 ? request->max_tokens : MAX_TOKENS_DEFAULT);
  write_messages(json, request);
  mend__wire_tools(json, "tools", request, write_tool);
  write_choice(json, request);
  mend__wire_number(json, "temperature", request->temperature);
  mend__wire_number(json, "top_p", request->top_p);
  if (request->stop.len > 0) mend__json_raw(json, "stop_sequences", request->stop);
  if (request->stream) mend__json_true(json, "stream");
  mend__buffer_char(json, '}');
  return MEND_OK;
}

static const char *const variables[] = {"ANTHROPIC_API_KEY", NULL};
const mend__dialect mend__dialect_anthropic = {.provider = "anthropic",
                                               .base_url = "https://api.anthropic.com/v1",
                                               .variables = variables,
                                               .needs_key = true,
                                               .has_last_event = true,
                                               .write = write_request,
                                               .event = mend__anthropic_event,
                                               .whole = mend__anthropic_whole};
