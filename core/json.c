/* The scanner around its tokens (json_scan.c): where it begins, whole values, places in the text. */
#include "core/given.h"
#include "core/json_internal.h"
#include "core/text.h"

void mend_json_init(mend_json *json, mend_str text, unsigned depth_limit) {
  if (depth_limit < 1) depth_limit = 1;
  if (depth_limit > MEND_JSON_DEPTH_MAX) depth_limit = MEND_JSON_DEPTH_MAX;
  memset(json, 0, offsetof(mend_json, arrays)); /* bits of levels are set when these are opened */
  json->depth_limit = depth_limit;
  json->text = text.ptr != NULL ? text : MEND_STR("");
  json->slice = (mend_str){json->text.ptr, 0};
}

mend_json_token mend_json_skip(mend_json *json) {
  unsigned depth = json->skip_depth;
  switch (json->token) {
  case MEND_JSON_KEY: depth = json->depth + 1; break;
  case MEND_JSON_OBJECT:
  case MEND_JSON_ARRAY: depth = json->depth; break;
  default:
    if (depth == 0) return json->token;
  }
  while (mend_json_next(json) > MEND_JSON_END && json->depth >= depth)
    continue;
  if (json->token == MEND_JSON_MORE) json->skip_depth = depth;
  return json->token;
}

/* Whether a value begins with the token. */
static bool begins_value(mend_json_token token) {
  return token > MEND_JSON_END && token != MEND_JSON_KEY && token != MEND_JSON_OBJECT_END &&
         token != MEND_JSON_ARRAY_END;
}

static mend_status take_value(mend_json *json, mend_str *ret_value) {
  mend_json_token first = mend_json_next(json);
  if (first >= MEND_JSON_END && !begins_value(first)) return MEND_ENOENT;
  const char *begin = first == MEND_JSON_STRING ? json->slice.ptr - 1 : json->slice.ptr;
  if (first == MEND_JSON_OBJECT || first == MEND_JSON_ARRAY) mend_json_skip(json);
  if (json->token < MEND_JSON_END) return MEND_ESYNTAX;
  *ret_value = (mend_str){begin, (size_t)(json->text.ptr + json->at - begin)};
  return MEND_OK;
}

mend_status mend_json_value(mend_json *json, mend_str *ret_value) {
  if (json == NULL) return MEND_EINVAL;
  if (!json->partial) return take_value(json, ret_value); /* a whole text is never gone back in */
  const mend_json before = *json;
  mend_status status = take_value(json, ret_value);
  if (json->token == MEND_JSON_MORE) {
    *json = before;
    json->token = MEND_JSON_MORE;
    json->skip_depth = 0;
    mend__json_count_consumed(json);
  }
  return status;
}

/* ---- Places and errors ------------------------------------------------------------------------------------- */

void mend__json_count_consumed(mend_json *json) {
  mend__count_lines((mend_str){json->text.ptr + json->counted, json->at - json->counted}, &json->line, &json->column);
  json->counted = json->at;
}

void mend_json_refill(mend_json *json, mend_str text) {
  mend__json_count_consumed(json);
  json->text = text.ptr != NULL ? text : MEND_STR("");
  json->at = 0;
  json->counted = 0;
  json->slice = (mend_str){json->text.ptr, 0};
}

mend_status mend_json_error(const mend_json *json, mend_error *error) {
  if (json == NULL) return mend__refuse_null(error, "the scanner");
  const char *reason = json->token == MEND_JSON_ERROR ? json->reason : "expected the rest of the value";
  size_t at = json->token == MEND_JSON_ERROR ? json->at : json->text.len;
  unsigned line = json->line, column = json->column;
  mend__count_lines((mend_str){json->text.ptr + json->counted, at - json->counted}, &line, &column);
  mend_str found = {json->text.ptr + at, json->text.len - at};
  line++;
  column++;
  if (found.len == 0) {
    return mend_error_set_at(error, MEND_ESYNTAX, line, column, "%s, found the end of the text", reason);
  }
  if (found.len >= 3 && memcmp(found.ptr, "\xEF\xBB\xBF", 3) == 0) {
    return mend_error_set_at(error, MEND_ESYNTAX, line, column, "%s, found a byte order mark", reason);
  }
  if (found.ptr[0] > ' ' && found.ptr[0] < 0x7F) {
    return mend_error_set_at(error, MEND_ESYNTAX, line, column, "%s, found '%c'", reason, found.ptr[0]);
  }
  return mend_error_set_at(error, MEND_ESYNTAX, line, column, "%s, found byte 0x%02X", reason,
                           (unsigned)(unsigned char)found.ptr[0]);
}

mend_status mend_json_check(mend_str text, unsigned depth_limit, mend_error *error) {
  mend_json json;
  mend_json_init(&json, text, depth_limit);
  while (mend_json_next(&json) > MEND_JSON_END)
    continue;
  return json.token == MEND_JSON_END ? MEND_OK : mend_json_error(&json, error);
}
