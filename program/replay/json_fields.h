/* Some members of a JSON object, by name, in one pass. */
#ifndef MEND_PROGRAM_REPLAY_JSON_FIELDS_H
#define MEND_PROGRAM_REPLAY_JSON_FIELDS_H

#include "mend/json.h"

/* A member that is wanted and the text of its value, absent when the object has none; the last of duplicates counts. */
typedef struct json_field {
  mend_str name;
  mend_str value;
} json_field;
#define JSON_FIELD(name)                                                                                               \
  {                                                                                                                    \
    MEND_STR(name), { NULL, 0 }                                                                                        \
  }

/* `text` is one JSON object. MEND_ESYNTAX with line and column; MEND_EINVAL when it is another value. */
mend_status json_fields_read(mend_str text, json_field *fields, size_t count, mend_error *error);

/* The same for the beginning of an object, as far as it goes: of an array or object it may be cut. */
void json_fields_peek(mend_str text, json_field *fields, size_t count);

/* What kind of value a text is; of an absent one all are false. */
bool json_is_string(mend_str value);
bool json_is_array(mend_str value);
bool json_is_object(mend_str value);
bool json_is_number(mend_str value);
bool json_is_true(mend_str value);
/* The characters between the quotes, still escaped; absent for what is no string. */
mend_str json_string_inside(mend_str value);
/* Whether the value is the string `text`. */
bool json_string_is(mend_str value, mend_str text);

/* The elements of an array, one after the other; `text` comes from json_fields_read or another element, so it is
 * well-formed. */
typedef struct json_elements {
  mend_json json;
  bool done;
} json_elements;
json_elements json_elements_of(mend_str array);
bool json_elements_next(json_elements *elements, mend_str *ret_element);

#endif
