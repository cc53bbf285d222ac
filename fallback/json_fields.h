/* Private to fallback/: JSON that comes in, read by name in one pass, and JSON that goes out, written member by
 * member. */
#ifndef MEND_FALLBACK_JSON_FIELDS_H
#define MEND_FALLBACK_JSON_FIELDS_H

#include "core/buffer.h"
#include "mend/json.h"

/* ---- Reading ---- */

/* A member that is wanted, and the text of its value: absent when the object has none or it is null. */
typedef struct mend__json_field {
  const char *name;
  mend_str value;
} mend__json_field;

/* Reads members of an object; of one that is there twice the last counts. False for what is no object, or not well-
 * formed as far as it was read; all are absent then. */
bool mend__json_fields_read(mend_str object, mend__json_field *fields, size_t count);
/* One member: of a member of a member with more names, which end with NULL. */
mend_str mend__json_find(mend_str object, const char *name, ...) __attribute__((sentinel));

/* Without the white space before it. */
mend_str mend__json_trim(mend_str text);
/* The first element of an array, behind white space; what is none as it is. For errors, which some providers put
 * in arrays. */
mend_str mend__json_first(mend_str text);

typedef struct mend__json_elements {
  mend_json json;
  bool ended;
} mend__json_elements;
/* Starts at the first element of an array; of another value there are none. */
mend__json_elements mend__json_elements_of(mend_str array);
bool mend__json_elements_next(mend__json_elements *elements, mend_str *ret_element);

static inline bool mend__json_is_string(mend_str value) { return value.len > 0 && value.ptr[0] == '"'; }
static inline bool mend__json_is_object(mend_str value) { return value.len > 0 && value.ptr[0] == '{'; }
static inline bool mend__json_is_array(mend_str value) { return value.len > 0 && value.ptr[0] == '['; }
static inline bool mend__json_is_true(mend_str value) { return value.len > 0 && value.ptr[0] == 't'; }
/* A string's characters, still escaped; absent for what is none. */
mend_str mend__json_inside(mend_str value);
/* Whether the value is this string. */
bool mend__json_says(mend_str value, const char *text);
/* Appends what a string says; nothing for what is none. */
void mend__json_append(mend__buffer *text, mend_str value);
/* MEND_NONE for what is no number that an uint64_t holds. */
uint64_t mend__json_count(mend_str value);
/* -1 for what is no integer from 0. */
int64_t mend__json_index(mend_str value);
/* NaN for what is no number. */
double mend__json_number(mend_str value);

/* ---- Writing: a comma where one belongs, by what was written last ---- */

void mend__json_comma(mend__buffer *json);
void mend__json_key(mend__buffer *json, const char *name);
void mend__json_string(mend__buffer *json, const char *name, mend_str text);
/* JSON as it is. */
void mend__json_raw(mend__buffer *json, const char *name, mend_str value);
void mend__json_true(mend__buffer *json, const char *name);
/* Opens an object or array: {"name":{ */
void mend__json_open(mend__buffer *json, const char *name, char bracket);

#endif
