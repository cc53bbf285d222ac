/* Gemini generateContent: requests. Roles are user and model; results of functions are the user's. */
#include "fallback/call_id.h"
#include "fallback/google.h"
#include "fallback/json_fields.h"
#include "fallback/wire_parts.h"

static void begin_part(mend__buffer *json) {
  mend__json_comma(json);
  mend__buffer_char(json, '{');
}

static void end_part(mend__buffer *json, const mend_part *part) {
  if (mend__wire_is_signed(part, mend__dialect_google.provider)) {
    mend__json_string(json, "thoughtSignature", part->signature);
  }
  mend__buffer_char(json, '}');
}

static void write_text(mend__buffer *json, const mend_part *part) {
  begin_part(json);
  mend__json_string(json, "text", part->text);
  end_part(json, part);
}

/* Thoughts go back for their signature only. */
static void write_thought(mend__buffer *json, const mend_part *part) {
  if (!mend__wire_is_signed(part, mend__dialect_google.provider)) return;
  begin_part(json);
  mend__json_string(json, "text", part->text);
  mend__json_true(json, "thought");
  end_part(json, part);
}

static void write_image(mend__buffer *json, const mend_part *part) {
  mend_str media_type = part->media_type, base64;
  const bool is_data_url = mend__wire_data_url(part->url, &media_type, &base64);
  const bool is_file = part->url.len > 0 && !is_data_url;
  begin_part(json);
  mend__json_open(json, is_file ? "fileData" : "inlineData", '{');
  if (media_type.len > 0) mend__json_string(json, "mimeType", media_type);
  if (is_file) {
    mend__json_string(json, "fileUri", part->url);
  } else if (is_data_url) {
    mend__json_string(json, "data", base64);
  } else {
    mend__wire_bytes(json, "data", part);
  }
  mend__buffer_char(json, '}');
  end_part(json, part);
}

/* A call that came without an id goes back without one. */
static void write_id(mend__buffer *json, mend_str id) {
  uint64_t number;
  if (!mend__call_id_is_made(id, &number)) mend__json_string(json, "id", id);
}

static void write_call(mend__buffer *json, const mend_part *part) {
  begin_part(json);
  mend__json_open(json, "functionCall", '{');
  write_id(json, part->call_id);
  mend__json_string(json, "name", part->name);
  mend__json_raw(json, "args", part->args);
  mend__buffer_char(json, '}');
  end_part(json, part);
}

static void write_result(mend__buffer *json, const mend_part *part) {
  begin_part(json);
  mend__json_open(json, "functionResponse", '{');
  write_id(json, part->call_id);
  mend__json_string(json, "name", part->name);
  mend__json_open(json, "response", '{');
  mend__json_string(json, part->is_error ? "error" : "output", part->text);
  mend__buffer_str(json, MEND_STR("}}"));
  end_part(json, part);
}

static void write_part(mend__buffer *json, const mend_part *part) {
  switch (part->kind) {
  case MEND_PART_TEXT: write_text(json, part); break;
  case MEND_PART_IMAGE: write_image(json, part); break;
  case MEND_PART_THINKING: write_thought(json, part); break;
  case MEND_PART_CALL: write_call(json, part); break;
  case MEND_PART_RESULT: write_result(json, part); break;
  }
}

static mend_status check_results(const mend__wire_message *message, mend_error *error) {
  for (size_t i = 0; i < message->count; i++) {
    const mend_part *part = &message->parts[i];
    if (part->kind != MEND_PART_RESULT || part->name.len > 0) continue;
    return mend_error_set(
        error, MEND_ENOTSUP,
        "the result of call \"%.*s\": Gemini wants its tool's name, and the conversation has no such call",
        MEND_STR_ARG(part->call_id));
  }
  return MEND_OK;
}

static mend_status check_conversation(const mend_model_request *request, mend_error *error) {
  mend__wire_message message;
  mend_status status = MEND_OK;
  for (size_t i = 0; status == MEND_OK && mend__wire_message_at(request, i, &message); i++)
    status = check_results(&message, error);
  return status;
}

static void write_system(mend__buffer *json, const mend_model_request *request) {
  const size_t before = json->len;
  mend__json_open(json, "systemInstruction", '{');
  mend__json_open(json, "parts", '[');
  mend__buffer_char(json, '{');
  const size_t empty = json->len;
  mend__wire_system(json, "text", request, 0, mend_messages_count(request->messages));
  const bool any = json->len > empty;
  mend__buffer_str(json, MEND_STR("}]}"));
  if (!any) json->len = before;
}

static void write_contents(mend__buffer *json, const mend_model_request *request) {
  write_system(json, request);
  mend__json_open(json, "contents", '[');
  mend__wire_turns(json, request, "model", "parts", write_part);
  mend__buffer_char(json, ']');
}

/* `parameters` would be another, smaller language of schemas, which knows no additionalProperties. */
static void write_tool(mend__buffer *json, const mend_tool_spec *tool) {
  mend__json_comma(json);
  mend__buffer_char(json, '{');
  mend__json_string(json, "name", tool->name);
  mend__json_string(json, "description", tool->description);
  mend__json_raw(json, "parametersJsonSchema", mend__wire_schema(tool));
  mend__buffer_char(json, '}');
}

static bool any_strict(const mend_model_request *request) {
  for (size_t i = 0; i < request->tool_count; i++) {
    if (request->tools[i].strict) return true;
  }
  return false;
}

static void write_tools(mend__buffer *json, const mend_model_request *request) {
  if (request->tool_count == 0) return;
  mend__json_open(json, "tools", '[');
  mend__buffer_char(json, '{');
  mend__wire_tools(json, "functionDeclarations", request, write_tool);
  mend__buffer_str(json, MEND_STR("}]"));
}

/* Tools are not strict one by one here: VALIDATED is AUTO that keeps to all schemas, and ANY always does. */
static void write_choice(mend__buffer *json, const mend_model_request *request) {
  const mend__tool_choice choice = mend__wire_choice(request);
  const bool strict = any_strict(request);
  const char *mode = "ANY";
  if (choice == MEND__CHOICE_DEFAULT && !strict) return;
  if (choice == MEND__CHOICE_DEFAULT || choice == MEND__CHOICE_AUTO) mode = strict ? "VALIDATED" : "AUTO";
  if (choice == MEND__CHOICE_NONE) mode = "NONE";
  mend__json_open(json, "toolConfig", '{');
  mend__json_open(json, "functionCallingConfig", '{');
  mend__json_string(json, "mode", mend_str_from(mode));
  if (choice == MEND__CHOICE_NAMED) {
    mend__json_open(json, "allowedFunctionNames", '[');
    mend__buffer_json_string(json, request->tool_choice);
    mend__buffer_char(json, ']');
  }
  mend__buffer_str(json, MEND_STR("}}"));
}

static void write_settings(mend__buffer *json, const mend_model_request *request) {
  const size_t before = json->len;
  mend__json_open(json, "generationConfig", '{');
  const size_t empty = json->len;
  mend__wire_count(json, "maxOutputTokens", request->max_tokens);
  mend__wire_number(json, "temperature", request->temperature);
  mend__wire_number(json, "topP", request->top_p);
  if (request->stop.len > 0) mend__json_raw(json, "stopSequences", request->stop);
  if (request->log_probs) mend__json_true(json, "responseLogprobs");
  const bool any = json->len > empty;
  mend__buffer_char(json, '}');
  if (!any) json->len = before;
}

/* "..", which whoever is on the way might follow, percent-encoded too. */
static bool leads_elsewhere(mend_str model_id) {
  while (model_id.ptr != NULL) {
    const char *slash = memchr(model_id.ptr, '/', model_id.len);
    const size_t len = slash != NULL ? (size_t)(slash - model_id.ptr) : model_id.len;
    const mend_str part = {model_id.ptr, len};
    if (len == 0 || mend_str_equal(part, MEND_STR(".")) || mend_str_equal(part, MEND_STR(".."))) return true;
    model_id = slash != NULL ? (mend_str){slash + 1, model_id.len - len - 1} : (mend_str){NULL, 0};
  }
  return false;
}

static mend_status check_id(mend_str model_id, mend_error *error) {
  if (!leads_elsewhere(model_id)) return MEND_OK;
  return mend_error_set(error, MEND_ENOTSUP, "the model id \"%.*s\" is part of a path, where it would lead elsewhere",
                        MEND_STR_ARG(model_id));
}

/* An id with a slash names its collection itself: "tunedModels/mine". */
static void write_path(mend__buffer *path, mend_str model_id, bool stream) {
  const bool whole = model_id.len > 0 && memchr(model_id.ptr, '/', model_id.len) != NULL;
  mend__buffer_str(path, whole ? MEND_STR("/") : MEND_STR("/models/"));
  mend__wire_url(path, model_id);
  mend__buffer_str(path, stream ? MEND_STR(":streamGenerateContent?alt=sse") : MEND_STR(":generateContent"));
}

static mend_status write_request(const mend_model_request *request, mend_str model_id, const char *key,
                                 mend__wire *wire, mend_error *error) {
  mend__buffer *json = &wire->body;
  mend_status status = check_id(model_id, error);
  if (status == MEND_OK) status = check_conversation(request, error);
  if (status != MEND_OK) return status;
  write_path(&wire->path, model_id, request->stream);
  if (key != NULL) mend__wire_header_add(wire, "x-goog-api-key", "", key);
  mend__buffer_char(json, '{');
  write_contents(json, request);
  write_tools(json, request);
  write_choice(json, request);
  write_settings(json, request);
  mend__buffer_char(json, '}');
  return MEND_OK;
}

static const char *const variables[] = {"GEMINI_API_KEY", "GOOGLE_API_KEY", NULL};
const mend__dialect mend__dialect_google = {.provider = "google",
                                            .base_url = "https://generativelanguage.googleapis.com/v1beta",
                                            .variables = variables,
                                            .needs_key = true,
                                            .write = write_request,
                                            .event = mend__google_event,
                                            .whole = mend__google_whole};
