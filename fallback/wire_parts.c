#include "fallback/wire_parts.h"

#include "core/text.h"
#include "fallback/json_fields.h"

/* ---- Messages ---- */

bool mend__wire_message_at(const mend_model_request *request, size_t index, mend__wire_message *ret_message) {
  return mend_messages_get(request->messages, index, &ret_message->role, &ret_message->parts, &ret_message->count) ==
         MEND_OK;
}

bool mend__wire_message_has(const mend__wire_message *message, mend_part_kind kind) {
  for (size_t i = 0; i < message->count; i++) {
    if (message->parts[i].kind == kind) return true;
  }
  return false;
}

bool mend__wire_is_signed(const mend_part *part, const char *provider) {
  return part->signature.len > 0 && mend_str_equal(part->provider, mend_str_from(provider));
}

/* ---- Texts: appended to a JSON string that is open ---- */

/* Quotes are of the pieces put together: a string less its own quotes. */
static void add_to_string(mend__buffer *json, mend_str text) {
  const size_t before = json->len;
  mend__buffer_json_string(json, text);
  if (json->failed) return;
  memmove(json->data + before, json->data + before + 1, json->len - before - 1);
  json->len -= 2;
}

static void open_string(mend__buffer *json, const char *name) { mend__json_open(json, name, '"'); }

static void add_texts(mend__buffer *json, const mend__wire_message *message) {
  for (size_t i = 0; i < message->count; i++) {
    if (message->parts[i].kind == MEND_PART_TEXT) add_to_string(json, message->parts[i].text);
  }
}

void mend__wire_texts(mend__buffer *json, const char *name, const mend__wire_message *message) {
  open_string(json, name);
  add_texts(json, message);
  mend__buffer_char(json, '"');
}

void mend__wire_system(mend__buffer *json, const char *name, const mend_model_request *request, size_t first,
                       size_t count) {
  mend__wire_message message;
  bool any = false;
  for (size_t i = first; i - first < count && mend__wire_message_at(request, i, &message); i++) {
    if (message.role != MEND_ROLE_SYSTEM) continue;
    if (!any) open_string(json, name);
    if (any) mend__buffer_str(json, MEND_STR("\\n\\n"));
    add_texts(json, &message);
    any = true;
  }
  if (any) mend__buffer_char(json, '"');
}

void mend__wire_result(mend__buffer *json, const char *name, const mend_part *result) {
  open_string(json, name);
  if (result->is_error) mend__buffer_str(json, MEND_STR("Error: "));
  add_to_string(json, result->text);
  mend__buffer_char(json, '"');
}

/* ---- Images ---- */

/* With padding. */
static void write_base64(mend__buffer *buffer, mend_str bytes) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (!mend__buffer_reserve(buffer, bytes.len / 3 * 4 + 4)) return;
  for (size_t i = 0; i < bytes.len; i += 3) {
    const size_t left = bytes.len - i;
    uint32_t group = (uint32_t)(unsigned char)bytes.ptr[i] << 16;
    if (left > 1) group |= (uint32_t)(unsigned char)bytes.ptr[i + 1] << 8;
    if (left > 2) group |= (uint32_t)(unsigned char)bytes.ptr[i + 2];
    const char four[] = {digits[group >> 18], digits[group >> 12 & 63], left > 1 ? digits[group >> 6 & 63] : '=',
                         left > 2 ? digits[group & 63] : '='};
    mend__buffer_bytes(buffer, four, sizeof four);
  }
}

bool mend__wire_data_url(mend_str url, mend_str *ret_media_type, mend_str *ret_base64) {
  static const char begin[] = "data:", middle[] = ";base64,";
  const size_t begin_len = sizeof begin - 1, middle_len = sizeof middle - 1;
  if (url.len < begin_len || memcmp(url.ptr, begin, begin_len) != 0) return false;
  const char *type = url.ptr + begin_len, *end = url.ptr + url.len;
  const char *found = memmem(type, (size_t)(end - type), middle, middle_len);
  if (found == NULL) return false;
  *ret_media_type = (mend_str){type, (size_t)(found - type)};
  *ret_base64 = (mend_str){found + middle_len, (size_t)(end - found) - middle_len};
  return true;
}

void mend__wire_bytes(mend__buffer *json, const char *name, const mend_part *image) {
  open_string(json, name);
  write_base64(json, image->data);
  mend__buffer_char(json, '"');
}

void mend__wire_image_url(mend__buffer *json, const mend_part *image) {
  if (image->url.len > 0) {
    mend__buffer_json_string(json, image->url);
    return;
  }
  mend__buffer_str(json, MEND_STR("\"data:"));
  add_to_string(json, image->media_type);
  mend__buffer_str(json, MEND_STR(";base64,"));
  write_base64(json, image->data);
  mend__buffer_char(json, '"');
}

void mend__wire_url(mend__buffer *url, mend_str text) {
  for (size_t i = 0; i < text.len; i++) {
    const char c = text.ptr[i];
    const bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || mend__is_digit(c);
    if (letter || (c != '\0' && strchr("-._~/:@", c) != NULL)) {
      mend__buffer_char(url, c);
    } else {
      mend__buffer_printf(url, "%%%02X", (unsigned char)c);
    }
  }
}

/* ---- Turns ---- */

static bool is_assistant(const mend__wire_message *message) { return message->role == MEND_ROLE_ASSISTANT; }

/* Writes the parts of the turn that begins with message `first`; returns the first message behind it. */
static size_t write_turn_parts(mend__buffer *json, const mend_model_request *request, size_t first,
                               void (*write_part)(mend__buffer *json, const mend_part *part)) {
  mend__wire_message begin, message;
  size_t index = first;
  mend__wire_message_at(request, first, &begin);
  for (; mend__wire_message_at(request, index, &message); index++) {
    if (message.role == MEND_ROLE_SYSTEM) continue;
    if (is_assistant(&message) != is_assistant(&begin)) break;
    for (size_t i = 0; i < message.count; i++)
      write_part(json, &message.parts[i]);
  }
  return index;
}

void mend__wire_turns(mend__buffer *json, const mend_model_request *request, const char *assistant, const char *parts,
                      void (*write_part)(mend__buffer *json, const mend_part *part)) {
  mend__wire_message message;
  size_t index = 0;
  while (mend__wire_message_at(request, index, &message)) {
    if (message.role == MEND_ROLE_SYSTEM) {
      index++;
      continue;
    }
    const size_t before = json->len;
    mend__json_comma(json);
    mend__buffer_char(json, '{');
    mend__json_string(json, "role", mend_str_from(is_assistant(&message) ? assistant : "user"));
    mend__json_open(json, parts, '[');
    const size_t empty = json->len;
    index = write_turn_parts(json, request, index, write_part);
    const bool any = json->len > empty;
    mend__buffer_str(json, MEND_STR("]}"));
    if (!any) json->len = before;
  }
}

/* ---- Tools and settings ---- */

void mend__wire_tools(mend__buffer *json, const char *name, const mend_model_request *request,
                      void (*write_tool)(mend__buffer *json, const mend_tool_spec *tool)) {
  if (request->tool_count == 0) return;
  mend__json_open(json, name, '[');
  for (size_t i = 0; i < request->tool_count; i++)
    write_tool(json, &request->tools[i]);
  mend__buffer_char(json, ']');
}

mend_str mend__wire_schema(const mend_tool_spec *tool) {
  return tool->schema.len > 0 ? tool->schema : MEND_STR("{\"type\":\"object\",\"properties\":{}}");
}

void mend__wire_number(mend__buffer *json, const char *name, double value) {
  if (value != value) return;
  mend__json_key(json, name);
  mend__buffer_f64(json, value);
}

void mend__wire_count(mend__buffer *json, const char *name, uint64_t value) {
  if (value == 0) return;
  mend__json_key(json, name);
  mend__buffer_u64(json, value);
}

mend__tool_choice mend__wire_choice(const mend_model_request *request) {
  const mend_str choice = request->tool_choice;
  if (choice.len == 0) return MEND__CHOICE_DEFAULT;
  if (mend_str_equal(choice, MEND_STR("auto"))) return MEND__CHOICE_AUTO;
  if (mend_str_equal(choice, MEND_STR("none"))) return MEND__CHOICE_NONE;
  if (mend_str_equal(choice, MEND_STR("required"))) return MEND__CHOICE_REQUIRED;
  return MEND__CHOICE_NAMED;
}
