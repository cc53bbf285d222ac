/* What readers make of the texts of a row. */
#include "core/memory.h"
#include "program/base/json_fields.h"
#include "program/stage/stage.h"

mend_str stage_text(stage *on, mend_str json_string) {
  const mend_str inside = mend__json_inside(json_string);
  if (inside.len == 0 || memchr(inside.ptr, '\\', inside.len) == NULL) return inside;
  char *text = row_texts_take(&on->texts, inside.len);
  if (text == NULL) {
    on->failure = MEND_ENOMEM;
    return (mend_str){NULL, 0};
  }
  return (mend_str){text, mend_json_unescape(inside, text)};
}

mend_str stage_nested_json(stage *on, mend_str value) {
  const mend_str inside = stage_text(on, value);
  return inside.ptr != NULL && mend_json_check(inside, MEND_JSON_DEPTH_MAX, NULL) == MEND_OK ? inside : value;
}

mend_str stage_content_text(stage *on, mend_str content) {
  mend__json_items parts = mend__json_items_of(content);
  mend_str part;
  while (mend__json_items_next(&parts, &part)) {
    const mend_str text = mend__json_is_string(part) ? part : json_member(part, MEND_STR("text"));
    if (mend__json_is_string(text)) return stage_text(on, text);
  }
  return stage_text(on, content);
}

static bool is_any_of(const mend_json *key, const char *const *names) {
  for (; *names != NULL; names++) {
    if (mend_json_is(key, mend_str_from(*names))) return true;
  }
  return false;
}

mend_str stage_without(stage *on, mend_str object, const char *const *names) {
  mend_json json;
  mend_json_init(&json, object, MEND_JSON_DEPTH_MAX);
  if (mend_json_next(&json) != MEND_JSON_OBJECT) return object;
  mend__buffer *copy = &on->scratch;
  mend__buffer_clear(copy);
  mend__buffer_char(copy, '{');
  bool left_out = false;
  while (mend_json_next(&json) == MEND_JSON_KEY) {
    const char *begin = json.slice.ptr - 1;
    const bool unwanted = is_any_of(&json, names);
    mend_json_skip(&json);
    left_out |= unwanted;
    if (unwanted) continue;
    if (copy->len > 1) mend__buffer_char(copy, ',');
    mend__buffer_bytes(copy, begin, (size_t)(object.ptr + json.at - begin));
  }
  mend__buffer_char(copy, '}');
  if (copy->failed) on->failure = MEND_ENOMEM;
  return left_out && !copy->failed ? mend__buffer_text(copy) : object;
}
