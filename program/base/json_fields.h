/* What core/json_members.h has, for the rows of recordings: also the members of a member in the same pass, and the
 * beginning of an object. */
#ifndef MEND_PROGRAM_BASE_JSON_FIELDS_H
#define MEND_PROGRAM_BASE_JSON_FIELDS_H

#include "core/json_members.h"

/* A member that is wanted and the text of its value, absent when the object has none; the last of duplicates counts. */
typedef mend__json_member json_field;
#define JSON_FIELD(name)                                                                                               \
  {                                                                                                                    \
    MEND_STR(name), { NULL, 0 }                                                                                        \
  }

/* A format's table of members, F(INDEX, "name") each, as the names of their places and as json_fields. */
#define JSON_FIELD_INDEX(index, name) index
#define JSON_FIELD_ENTRY(index, name) JSON_FIELD(name)

/* `text` is one JSON object. MEND_ESYNTAX with line and column; MEND_EINVAL when it is another value. */
mend_status json_fields_read(mend_str text, json_field *fields, size_t count, mend_error *error);

/* The same, and in the same pass the members of one of its members, fields[outer], when that is an object. */
mend_status json_fields_read_inside(mend_str text, json_field *fields, size_t count, size_t outer, json_field *inside,
                                    size_t inside_count, mend_error *error);

/* The same for the beginning of an object, as far as it goes: of an array or object it may be cut. */
void json_fields_peek(mend_str text, json_field *fields, size_t count);

/* One member of a value; absent when it has none or is no object. */
mend_str json_member(mend_str value, mend_str name);

/* Whether the value is the string `text`, or one that ends with it; neither has characters that are escaped. */
bool json_string_is(mend_str value, mend_str text);
bool json_string_ends_with(mend_str value, mend_str end);
/* Whether it is one of these strings, ended by NULL, or begins with one of them. */
bool json_string_is_any_of(mend_str value, const char *const *texts);
bool json_string_begins_with_any_of(mend_str value, const char *const *beginnings);
/* The first text of a message's content, as JSON: the content itself, or the "text" of its first part. */
mend_str json_first_text(mend_str content);
/* The value of a number; 0 for a negative one and anything else, and of the integer for what is none that fits. */
uint64_t json_count(mend_str value);
double json_amount(mend_str value);

/* The next element of an array, and in the same pass its members when it is an object; of others all are absent. */
bool json_items_next_fields(mend__json_items *elements, json_field *fields, size_t count, mend_str *ret_element);

#endif
