#include "core/text.h"
#include "mend/json.h"
#include "metacognition/room.h"

static const mend_str fence = {"```", 3};

static mend_str from(mend_str text, const char *place) {
  return (mend_str){place, text.len - (size_t)(place - text.ptr)};
}

static bool begins_a_value(mend_str text) { return text.len > 0 && memchr("{[\"-0123456789", text.ptr[0], 14) != NULL; }

/* Behind the fence and a word (the language), or, where no value begins there, behind the rest of the fence's line. */
static mend_str behind_fence(mend_str text) {
  const char *word_end = text.ptr, *end = text.ptr + text.len;
  while (word_end < end && !mend__is_blank(*word_end) && memchr("{[\"", *word_end, 3) == NULL)
    word_end++;
  const mend_str behind_word = mend__skip_blanks(from(text, word_end));
  if (begins_a_value(behind_word)) return behind_word;
  const char *line_end = memchr(text.ptr, '\n', text.len);
  return line_end != NULL ? mend__skip_blanks(from(text, line_end)) : text;
}

/* The value at its beginning, unless more comes between that and the closing fence. */
static mend_str without_closing_fence(mend_str text) {
  mend_json json;
  mend_str value;
  mend_json_init(&json, text, MEND_JSON_DEPTH_MAX);
  json.stream = true;
  if (mend_json_value(&json, &value) != MEND_OK) return text;
  const mend_str rest = mend__skip_blanks(from(text, value.ptr + value.len));
  return rest.len == 0 || mend__begins_with(rest, fence) ? value : text;
}

mend_str mend__without_fences(mend_str text) {
  text = mend__trim(text);
  return mend__begins_with(text, fence) ? without_closing_fence(behind_fence(text)) : text;
}
