/* OpenAI Chat Completions, and servers that speak it: requests. */
#include "fallback/json_fields.h"
#include "fallback/openai_chat.h"
#include "fallback/wire_parts.h"

static void write_part(mend__buffer *json, const mend_part *part) {
  mend__json_comma(json);
  mend__buffer_char(json, '{');
  if (part->kind == MEND_PART_TEXT) {
    mend__json_string(json, "type", MEND_STR("text"));
    mend__json_string(json, "text", part->text);
  } else {
    mend__json_string(json, "type", MEND_STR("image_url"));
    mend__json_open(json, "image_url", '{');
    mend__json_key(json, "url");
    mend__wire_image_url(json, part);
    mend__buffer_char(json, '}');
  }
  mend__buffer_char(json, '}');
}

/* Of one text part a string: servers that see no images know nothing else. */
static void write_content(mend__buffer *json, const mend__wire_message *message) {
  if (!mend__wire_message_has(message, MEND_PART_IMAGE)) {
    mend__wire_texts(json, "content", message);
    return;
  }
  mend__json_open(json, "content", '[');
  for (size_t i = 0; i < message->count; i++)
    write_part(json, &message->parts[i]);
  mend__buffer_char(json, ']');
}

static void begin_message(mend__buffer *json, const char *role) {
  mend__json_comma(json);
  mend__buffer_char(json, '{');
  mend__json_string(json, "role", mend_str_from(role));
}

static void write_call(mend__buffer *json, const mend_part *call) {
  mend__json_comma(json);
  mend__buffer_char(json, '{');
  mend__json_string(json, "id", call->call_id);
  mend__json_string(json, "type", MEND_STR("function"));
  mend__json_open(json, "function", '{');
  mend__json_string(json, "name", call->name);
  mend__json_string(json, "arguments", call->args);
  mend__buffer_str(json, MEND_STR("}}"));
}

static void write_calls(mend__buffer *json, const mend__wire_message *message) {
  mend__json_open(json, "tool_calls", '[');
  for (size_t i = 0; i < message->count; i++) {
    if (message->parts[i].kind == MEND_PART_CALL) write_call(json, &message->parts[i]);
  }
  mend__buffer_char(json, ']');
}

/* Reasoning goes back to a compatible server that gave it: some want it until the calls that came with it are
 * answered. */
static void write_reasoning(mend__buffer *json, const mend__wire_message *message, const char *provider) {
  const mend_str own = mend_str_from(provider);
  for (size_t i = 0; i < message->count; i++) {
    const mend_part *part = &message->parts[i];
    if (part->kind != MEND_PART_THINKING || part->text.len == 0 || !mend_str_equal(part->provider, own)) continue;
    mend__json_string(json, "reasoning_content", part->text);
    return;
  }
}

static void write_assistant(mend__buffer *json, const mend__wire_message *message, const char *provider) {
  const bool has_calls = mend__wire_message_has(message, MEND_PART_CALL);
  const bool has_text = mend__wire_message_has(message, MEND_PART_TEXT);
  if (!has_calls && !has_text) return; /* thinking only, which is nothing to others */
  begin_message(json, "assistant");
  if (has_text) mend__wire_texts(json, "content", message);
  if (!has_text) mend__json_raw(json, "content", MEND_STR("null"));
  if (has_calls && provider != NULL) write_reasoning(json, message, provider);
  if (has_calls) write_calls(json, message);
  mend__buffer_char(json, '}');
}

static void write_results(mend__buffer *json, const mend__wire_message *message) {
  for (size_t i = 0; i < message->count; i++) {
    begin_message(json, "tool");
    mend__json_string(json, "tool_call_id", message->parts[i].call_id);
    mend__wire_result(json, "content", &message->parts[i]);
    mend__buffer_char(json, '}');
  }
}

static void write_message(mend__buffer *json, const mend__wire_message *message, const char *provider) {
  switch (message->role) {
  case MEND_ROLE_ASSISTANT: write_assistant(json, message, provider); return;
  case MEND_ROLE_TOOL: write_results(json, message); return;
  case MEND_ROLE_SYSTEM:
  case MEND_ROLE_USER: break;
  }
  begin_message(json, message->role == MEND_ROLE_SYSTEM ? "system" : "user");
  write_content(json, message);
  mend__buffer_char(json, '}');
}

static void write_tool(mend__buffer *json, const mend_tool_spec *tool) {
  mend__json_comma(json);
  mend__buffer_char(json, '{');
  mend__json_string(json, "type", MEND_STR("function"));
  mend__json_open(json, "function", '{');
  mend__json_string(json, "name", tool->name);
  if (tool->description.len > 0) mend__json_string(json, "description", tool->description);
  mend__json_raw(json, "parameters", mend__wire_schema(tool));
  if (tool->strict) mend__json_true(json, "strict");
  mend__buffer_str(json, MEND_STR("}}"));
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
  mend__json_open(json, "function", '{');
  mend__json_string(json, "name", request->tool_choice);
  mend__buffer_str(json, MEND_STR("}}"));
}

static void write_settings(mend__buffer *json, const mend_model_request *request, const char *max_tokens) {
  mend__wire_count(json, max_tokens, request->max_tokens);
  mend__wire_number(json, "temperature", request->temperature);
  mend__wire_number(json, "top_p", request->top_p);
  if (request->stop.len > 0) mend__json_raw(json, "stop", request->stop);
  if (request->log_probs) mend__json_true(json, "logprobs");
  if (!request->stream) return;
  mend__json_true(json, "stream");
  mend__json_raw(json, "stream_options", MEND_STR("{\"include_usage\":true}"));
}

static mend_status write_request(const mend_model_request *request, mend_str model_id, const char *key,
                                 const char *max_tokens, const char *provider, mend__wire *wire) {
  mend__buffer *json = &wire->body;
  mend__wire_message message;
  mend__buffer_str(&wire->path, MEND_STR("/chat/completions"));
  if (key != NULL) mend__wire_header_add(wire, "authorization", "Bearer ", key);
  mend__buffer_char(json, '{');
  mend__json_string(json, "model", model_id);
  mend__json_open(json, "messages", '[');
  for (size_t i = 0; mend__wire_message_at(request, i, &message); i++)
    write_message(json, &message, provider);
  mend__buffer_char(json, ']');
  mend__wire_tools(json, "tools", request, write_tool);
  write_choice(json, request);
  write_settings(json, request, max_tokens);
  mend__buffer_char(json, '}');
  return MEND_OK;
}

static mend_status write_openai(const mend_model_request *request, mend_str model_id, const char *key, mend__wire *wire,
                                mend_error *error) {
  (void)error; /* it takes everything */
  return write_request(request, model_id, key, "max_completion_tokens", NULL, wire);
}

/* Servers know the older max_tokens. */
static mend_status write_compatible(const mend_model_request *request, mend_str model_id, const char *key,
                                    mend__wire *wire, mend_error *error) {
  (void)error;
  return write_request(request, model_id, key, "max_tokens", mend__dialect_compatible.provider, wire);
}

static const char *const openai_variables[] = {"OPENAI_API_KEY", NULL};
const mend__dialect mend__dialect_openai = {.provider = "openai",
                                            .base_url = "https://api.openai.com/v1",
                                            .variables = openai_variables,
                                            .needs_key = true,
                                            .has_last_event = true,
                                            .write = write_openai,
                                            .event = mend__openai_chat_event,
                                            .whole = mend__openai_chat_whole};

static const char *const no_variables[] = {NULL};
const mend__dialect mend__dialect_compatible = {.provider = "compatible",
                                                .variables = no_variables,
                                                .has_last_event = true,
                                                .write = write_compatible,
                                                .event = mend__openai_chat_event,
                                                .whole = mend__openai_chat_whole};
