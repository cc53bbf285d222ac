/* OpenAI Responses: requests. A conversation is a flat list of items: messages, reasoning, calls, results. */
#include "fallback/json_fields.h"
#include "fallback/openai_responses.h"
#include "fallback/wire_parts.h"

static void begin_item(mend__buffer *json, const char *member, const char *value) {
  mend__json_comma(json);
  mend__buffer_char(json, '{');
  mend__json_string(json, member, mend_str_from(value));
}

static void write_image_or_text(mend__buffer *json, const mend_part *part) {
  const bool is_text = part->kind == MEND_PART_TEXT;
  begin_item(json, "type", is_text ? "input_text" : "input_image");
  if (is_text) {
    mend__json_string(json, "text", part->text);
  } else {
    mend__json_key(json, "image_url");
    mend__wire_image_url(json, part);
  }
  mend__buffer_char(json, '}');
}

static void write_message(mend__buffer *json, const mend__wire_message *message, const char *role) {
  begin_item(json, "role", role);
  if (!mend__wire_message_has(message, MEND_PART_IMAGE)) {
    mend__wire_texts(json, "content", message);
  } else {
    mend__json_open(json, "content", '[');
    for (size_t i = 0; i < message->count; i++)
      write_image_or_text(json, &message->parts[i]);
    mend__buffer_char(json, ']');
  }
  mend__buffer_char(json, '}');
}

static void write_call(mend__buffer *json, const mend_part *call) {
  begin_item(json, "type", "function_call");
  mend__json_string(json, "call_id", call->call_id);
  mend__json_string(json, "name", call->name);
  mend__json_string(json, "arguments", call->args);
  mend__buffer_char(json, '}');
}

static void write_result(mend__buffer *json, const mend_part *result) {
  begin_item(json, "type", "function_call_output");
  mend__json_string(json, "call_id", result->call_id);
  mend__wire_result(json, "output", result);
  mend__buffer_char(json, '}');
}

static void write_assistant_text(mend__buffer *json, const mend_part *part) {
  const mend__wire_message message = {MEND_ROLE_ASSISTANT, part, 1};
  write_message(json, &message, "assistant");
}

/* In the order in which they came: reasoning belongs before what it led to. Its signature is the whole item. */
static void write_assistant(mend__buffer *json, const mend__wire_message *message) {
  for (size_t i = 0; i < message->count; i++) {
    const mend_part *part = &message->parts[i];
    if (part->kind == MEND_PART_TEXT) write_assistant_text(json, part);
    if (part->kind == MEND_PART_CALL) write_call(json, part);
    if (part->kind != MEND_PART_THINKING) continue;
    if (!mend__wire_is_signed(part, mend__dialect_openai_responses.provider)) continue;
    mend__json_comma(json);
    mend__buffer_str(json, part->signature);
  }
}

static void write_items(mend__buffer *json, const mend__wire_message *message) {
  switch (message->role) {
  case MEND_ROLE_SYSTEM: write_message(json, message, "system"); break;
  case MEND_ROLE_USER: write_message(json, message, "user"); break;
  case MEND_ROLE_ASSISTANT: write_assistant(json, message); break;
  case MEND_ROLE_TOOL:
    for (size_t i = 0; i < message->count; i++)
      write_result(json, &message->parts[i]);
    break;
  }
}

/* The system messages at the beginning are instructions; later ones stay where they are. */
static void write_conversation(mend__buffer *json, const mend_model_request *request) {
  mend__wire_message message;
  size_t first = 0;
  while (mend__wire_message_at(request, first, &message) && message.role == MEND_ROLE_SYSTEM)
    first++;
  mend__wire_system(json, "instructions", request, 0, first);
  mend__json_open(json, "input", '[');
  for (size_t i = first; mend__wire_message_at(request, i, &message); i++)
    write_items(json, &message);
  mend__buffer_char(json, ']');
}

/* Strict is this provider's default, so that it is off has to be said. */
static void write_tool(mend__buffer *json, const mend_tool_spec *tool) {
  begin_item(json, "type", "function");
  mend__json_string(json, "name", tool->name);
  if (tool->description.len > 0) mend__json_string(json, "description", tool->description);
  mend__json_raw(json, "parameters", mend__wire_schema(tool));
  mend__json_raw(json, "strict", tool->strict ? MEND_STR("true") : MEND_STR("false"));
  mend__buffer_char(json, '}');
}

static void write_choice(mend__buffer *json, const mend_model_request *request) {
  const mend__tool_choice choice = mend__wire_choice(request);
  if (choice == MEND__CHOICE_DEFAULT) return;
  if (choice != MEND__CHOICE_NAMED) {
    mend__json_string(json, "tool_choice", request->tool_choice);
    return;
  }
  mend__json_open(json, "tool_choice", '{');
  mend__json_string(json, "type", MEND_STR("function"));
  mend__json_string(json, "name", request->tool_choice);
  mend__buffer_char(json, '}');
}

static mend_status write_request(const mend_model_request *request, mend_str model_id, const char *key,
                                 mend__wire *wire, mend_error *error) {
  mend__buffer *json = &wire->body;
  if (request->stop.len > 0) {
    return mend_error_set(error, MEND_ENOTSUP, "stop: OpenAI Responses has no stop sequences");
  }
  mend__buffer_str(&wire->path, MEND_STR("/responses"));
  if (key != NULL) mend__wire_header_add(wire, "authorization", "Bearer ", key);
  mend__buffer_char(json, '{');
  mend__json_string(json, "model", model_id);
  write_conversation(json, request);
  mend__wire_tools(json, "tools", request, write_tool);
  write_choice(json, request);
  mend__wire_count(json, "max_output_tokens", request->max_tokens);
  mend__wire_number(json, "temperature", request->temperature);
  mend__wire_number(json, "top_p", request->top_p);
  if (request->log_probs) mend__json_raw(json, "include", MEND_STR("[\"message.output_text.logprobs\"]"));
  if (request->stream) mend__json_true(json, "stream");
  mend__buffer_char(json, '}');
  return MEND_OK;
}

static const char *const variables[] = {"OPENAI_API_KEY", NULL};
const mend__dialect mend__dialect_openai_responses = {.provider = "openai-responses",
                                                      .base_url = "https://api.openai.com/v1",
                                                      .variables = variables,
                                                      .needs_key = true,
                                                      .has_last_event = true,
                                                      .write = write_request,
                                                      .event = mend__openai_responses_event,
                                                      .whole = mend__openai_responses_whole};
