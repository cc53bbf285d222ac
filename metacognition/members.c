#include "metacognition/metacognition_internal.h"

static mend__member *find(const mend_json *key, mend__member *members, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (mend_json_is(key, members[i].name)) return &members[i];
  }
  return NULL;
}

static void read_member(mend_json *json, mend__member *members, size_t count) {
  mend__member *member = find(json, members, count);
  mend_str value;
  if (mend_json_value(json, &value) != MEND_OK || member == NULL) return;
  member->kind = mend__json_kind(value);
  member->value = value;
}

mend_status mend__members_read(mend_str text, mend__member *members, size_t count, mend_error *error) {
  mend_json json;
  mend_json_init(&json, text, MEND_JSON_DEPTH_MAX);
  const mend_json_token kind = mend_json_next(&json);
  if (kind == MEND_JSON_OBJECT) {
    while (mend_json_next(&json) == MEND_JSON_KEY)
      read_member(&json, members, count);
  } else {
    mend_json_skip(&json);
  }
  if (json.token > MEND_JSON_END) mend_json_next(&json);
  if (json.token != MEND_JSON_END) return mend_json_error(&json, error);
  if (kind == MEND_JSON_OBJECT) return MEND_OK;
  return mend_error_set(error, MEND_ENOENT, "it is %s, expected an object", mend__json_kind_name(kind));
}

/* ---- What they say ---- */

double mend__member_confidence(const mend__member *member) {
  if (member->kind != MEND_JSON_NUMBER) return MEND_NAN;
  return mend__clamp_confidence(mend_json_double(member->value));
}

void mend__member_text(const mend__member *member, mend__buffer *text) {
  if (member->kind != MEND_JSON_STRING) return;
  const mend_str escaped = {member->value.ptr + 1, member->value.len - 2};
  if (escaped.len > 0 && mend__buffer_reserve(text, escaped.len))
    text->len += mend_json_unescape(escaped, text->data + text->len);
}

static void add_string(mend__buffer *json, bool is_first, mend_str quoted) {
  mend__buffer_char(json, is_first ? '[' : ',');
  mend__buffer_str(json, quoted);
}

static void add_strings(mend__buffer *json, mend_str array) {
  mend_json elements;
  mend_str element;
  bool is_first = true;
  mend_json_init(&elements, array, MEND_JSON_DEPTH_MAX);
  mend_json_next(&elements);
  while (mend_json_value(&elements, &element) == MEND_OK) {
    if (mend__json_kind(element) != MEND_JSON_STRING) continue;
    add_string(json, is_first, element);
    is_first = false;
  }
  if (!is_first) mend__buffer_char(json, ']');
}

void mend__member_strings(const mend__member *member, mend__buffer *json) {
  if (member->kind == MEND_JSON_ARRAY) add_strings(json, member->value);
  if (member->kind != MEND_JSON_STRING) return;
  add_string(json, true, member->value);
  mend__buffer_char(json, ']');
}
