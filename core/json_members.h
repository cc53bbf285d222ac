/* House header: members of a JSON object, looked for by name in one pass, and what values say.
 *
 * A value is its text, as it stands in a text that was read: its first character tells what it is. An absent one is
 * none of all. */
#ifndef MEND_CORE_JSON_MEMBERS_H
#define MEND_CORE_JSON_MEMBERS_H

#include "core/buffer.h"
#include "mend/json.h"

#include <math.h>

/* ---- Members ---- */

/* A member that is looked for, and its value: absent when it is not there. */
typedef struct mend__json_member {
  mend_str name;
  mend_str value;
} mend__json_member;

/* The one that the KEY just read names, NULL for none. */
mend__json_member *mend__json_members_find(const mend_json *key, mend__json_member *members, size_t count);
/* After OBJECT: sets those that are there, up to the object's end; of one that is there twice the last counts. Unless
 * the token then is OBJECT_END the object is not whole. */
void mend__json_members_take(mend_json *json, mend__json_member *members, size_t count);
/* The same for a text that is an object. MEND_ENOENT for JSON that is none, with a sentence that says what it is;
 * MEND_ESYNTAX with the place. */
mend_status mend__json_members_read(mend_str text, mend__json_member *members, size_t count, mend_error *error);

/* ---- Values ---- */

static inline bool mend__json_begins_with(mend_str value, char c) { return value.len > 0 && value.ptr[0] == c; }
static inline bool mend__json_is_string(mend_str value) { return mend__json_begins_with(value, '"'); }
static inline bool mend__json_is_object(mend_str value) { return mend__json_begins_with(value, '{'); }
static inline bool mend__json_is_array(mend_str value) { return mend__json_begins_with(value, '['); }
static inline bool mend__json_is_true(mend_str value) { return mend__json_begins_with(value, 't'); }
static inline bool mend__json_is_number(mend_str value) {
  return value.len > 0 && memchr("-0123456789", value.ptr[0], 11) != NULL;
}
/* A string's characters, still escaped; absent for what is none. */
static inline mend_str mend__json_inside(mend_str value) {
  return mend__json_is_string(value) ? (mend_str){value.ptr + 1, value.len - 2} : (mend_str){NULL, 0};
}
/* NaN for what is no number. */
static inline double mend__json_number(mend_str value) {
  return mend__json_is_number(value) ? mend_json_double(value) : (double)NAN;
}
/* Appends what a string says; nothing for what is none. */
static inline void mend__json_append(mend__buffer *text, mend_str value) {
  const mend_str inside = mend__json_inside(value);
  if (inside.len > 0 && mend__buffer_reserve(text, inside.len))
    text->len += mend_json_unescape(inside, text->data + text->len);
}

/* ---- Elements ---- */

typedef struct mend__json_items {
  mend_json json;
  bool ended;
} mend__json_items;
/* Starts before the first element of an array; of another value there are none. */
mend__json_items mend__json_items_of(mend_str array);
bool mend__json_items_next(mend__json_items *items, mend_str *ret_item);

#endif
