/* Private to fallback/: JSON that comes in, beside what core/json_members.h has, and JSON that goes out, written member
 * by member. */
#ifndef MEND_FALLBACK_JSON_FIELDS_H
#define MEND_FALLBACK_JSON_FIELDS_H

#include "core/json_members.h"

/* ---- Reading ---- */

/* Reads members of an object; one that is null is absent. False for what is no object, or not well-formed as far as it
 * was read; all are absent then. */
bool mend__json_fields_read(mend_str object, mend__json_member *fields, size_t count);
/* One member: of a member of a member with more names, which end with NULL. */
mend_str mend__json_find(mend_str object, const char *name, ...) __attribute__((sentinel));

/* The first element of an array, behind white space; what is none as it is. For errors, which some providers put
 * in arrays. */
mend_str mend__json_first(mend_str text);

/* Whether the value is this string. */
bool mend__json_says(mend_str value, const char *text);
/* MEND_NONE for what is no number that an uint64_t holds. */
uint64_t mend__json_count(mend_str value);
/* -1 for what is no integer from 0. */
int64_t mend__json_index(mend_str value);

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
