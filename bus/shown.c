/* JSON that publishers gave, as the JSON view shows it. */
#include "bus/event_internal.h"

#include "core/text.h"

/* A pair of surrogates, \ud83d\ude00. */
#define ESCAPED_CHAR_MAX 12

static bool is_surrogate(const char *escape, const char *third_digits) {
  return escape[1] == 'u' && (escape[2] | 0x20) == 'd' && strchr(third_digits, escape[3]) != NULL;
}

/* How many bytes the first character takes while it is still escaped. */
static size_t escaped_char_len(mend_str inside) {
  const char *at = inside.ptr;
  if (at[0] != '\\') return mend__utf8_prefix(at, inside.len).len;
  if (at[1] != 'u') return 2;
  bool pair =
      inside.len >= ESCAPED_CHAR_MAX && is_surrogate(at, "89abAB") && at[6] == '\\' && is_surrogate(at + 6, "cdefCDEF");
  return pair ? ESCAPED_CHAR_MAX : 6;
}

/* How many bytes the first max_chars characters take. */
static size_t escaped_cut(mend_str inside, size_t max_chars) {
  if (inside.len <= max_chars) return inside.len;
  size_t kept = 0;
  for (size_t chars = 0; chars < max_chars && kept < inside.len; chars++) {
    kept += escaped_char_len((mend_str){inside.ptr + kept, inside.len - kept});
  }
  return kept;
}

/* A string's inside, still escaped, cut to max_chars characters. */
static void write_escaped(mend__buffer *buffer, mend_str inside, size_t max_chars) {
  size_t kept = escaped_cut(inside, max_chars);
  mend__buffer_char(buffer, '"');
  mend__buffer_bytes(buffer, inside.ptr, kept);
  if (kept < inside.len) mend__buffer_str(buffer, MEND_STR("..."));
  mend__buffer_char(buffer, '"');
}

void mend__show_key(mend__buffer *buffer, mend_str key) { write_escaped(buffer, key, MEND__SHOW_WHOLE); }

void mend__show_json(mend__buffer *buffer, mend_str text, size_t max_chars) {
  size_t start = buffer->len;
  bool comma = false;
  mend_json json;
  mend_json_init(&json, text, MEND__VALUE_DEPTH);
  for (mend_json_token token; (token = mend_json_next(&json)) > MEND_JSON_END;) {
    bool closes = token == MEND_JSON_OBJECT_END || token == MEND_JSON_ARRAY_END;
    if (comma && !closes) mend__buffer_char(buffer, ',');
    comma = token != MEND_JSON_KEY && token != MEND_JSON_OBJECT && token != MEND_JSON_ARRAY;
    switch (token) {
    case MEND_JSON_KEY:
      mend__show_key(buffer, json.slice);
      mend__buffer_char(buffer, ':');
      break;
    case MEND_JSON_STRING: write_escaped(buffer, json.slice, max_chars); break;
    default: mend__buffer_str(buffer, json.slice); break;
    }
  }
  if (json.token == MEND_JSON_ERROR && !buffer->failed) {
    buffer->len = start;
    mend__buffer_json_string_cut(buffer, text, max_chars);
  }
}

/* What stands between a string's quotes, when the text is one. */
static bool string_inside(mend_str text, mend_json *json) {
  mend_json_init(json, text, MEND__VALUE_DEPTH);
  if (mend_json_next(json) != MEND_JSON_STRING) return false;
  mend_json end = *json;
  return mend_json_next(&end) == MEND_JSON_END;
}

void mend__show_preview(mend__buffer *buffer, mend_str result) {
  mend_json json;
  if (!string_inside(result, &json)) {
    mend__buffer_json_string_cut(buffer, result, MEND__PREVIEW_MAX);
    return;
  }
  static const char more[] = "...";
  char text[MEND__PREVIEW_MAX * ESCAPED_CHAR_MAX + sizeof more];
  mend_str kept = {json.slice.ptr, escaped_cut(json.slice, MEND__PREVIEW_MAX)};
  size_t len = mend_json_unescape(kept, text);
  if (kept.len < json.slice.len) {
    memcpy(text + len, more, strlen(more));
    len += strlen(more);
  }
  mend__buffer_json_string(buffer, (mend_str){text, len});
}

size_t mend__result_len(mend__buffer *buffer, mend_str result) {
  mend_json json;
  if (!string_inside(result, &json)) return result.len;
  if (!json.escaped) return json.slice.len;
  return mend__buffer_reserve(buffer, json.slice.len) ? mend_json_unescape(json.slice, buffer->data + buffer->len) : 0;
}
