#include "core/json_members.h"
#include "core/json_kind.h"

/* ---- Members ---- */

mend__json_member *mend__json_members_find(const mend_json *key, mend__json_member *members, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const bool may_be = key->escaped || key->slice.len == members[i].name.len;
    if (may_be && mend_json_is(key, members[i].name)) return &members[i];
  }
  return NULL;
}

/* As mend_json_value, without what that keeps of the scanner in case that more text comes. */
static bool take_value(mend_json *json, mend_str *ret_value) {
  const mend_json_token first = mend_json_next(json);
  const char *begin = first == MEND_JSON_STRING ? json->slice.ptr - 1 : json->slice.ptr;
  if (first <= MEND_JSON_END || mend_json_skip(json) <= MEND_JSON_END) return false;
  *ret_value = (mend_str){begin, (size_t)(json->text.ptr + json->at - begin)};
  return true;
}

void mend__json_members_take(mend_json *json, mend__json_member *members, size_t count) {
  while (mend_json_next(json) == MEND_JSON_KEY) {
    mend__json_member *member = mend__json_members_find(json, members, count);
    if (member == NULL) {
      mend_json_skip(json);
    } else if (!take_value(json, &member->value)) {
      return;
    }
  }
}

mend_status mend__json_members_read(mend_str text, mend__json_member *members, size_t count, mend_error *error) {
  mend_json json;
  mend_json_init(&json, text, MEND_JSON_DEPTH_MAX);
  const mend_json_token kind = mend_json_next(&json);
  if (kind == MEND_JSON_OBJECT) {
    mend__json_members_take(&json, members, count);
  } else {
    mend_json_skip(&json);
  }
  if (json.token > MEND_JSON_END) mend_json_next(&json);
  if (json.token != MEND_JSON_END) return mend_json_error(&json, error);
  if (kind == MEND_JSON_OBJECT) return MEND_OK;
  return mend_error_set(error, MEND_ENOENT, "it is %s, expected an object", mend__json_kind_name(kind));
}

/* ---- Elements ---- */

mend__json_items mend__json_items_of(mend_str array) {
  mend__json_items items = {.ended = !mend__json_is_array(array)};
  mend_json_init(&items.json, array, MEND_JSON_DEPTH_MAX);
  mend_json_next(&items.json);
  return items;
}

bool mend__json_items_next(mend__json_items *items, mend_str *ret_item) {
  if (!items->ended) items->ended = mend_json_value(&items->json, ret_item) != MEND_OK;
  return !items->ended;
}
