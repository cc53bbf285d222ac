/* Private to the loading of scripts: objects by tables of their members, with errors that say where and which. */
#ifndef MEND_FALLBACK_SCRIPTED_LOADER_H
#define MEND_FALLBACK_SCRIPTED_LOADER_H

#include "core/nearest.h"
#include "fallback/loading.h"
#include "fallback/scripted.h"

typedef struct mend__script_loader {
  mend__script *script;
  mend_json json;
  size_t number; /* of the reply, from 1; 0: outside of them */
  mend_error *error;
} mend__script_loader;

/* A member of an object, and what it sets in the struct that the object becomes. At most 32 an object. */
typedef struct mend__script_member {
  const char *name;
  mend_status (*load)(mend__script_loader *l, const struct mend__script_member *what, void *target);
  size_t offset;
  double least, most; /* of numbers */
} mend__script_member;

static inline void *mend__script_place(const mend__script_member *what, void *target) {
  return (char *)target + what->offset;
}

/* The members of the object that was just opened. */
mend_status mend__script_load_members(mend__script_loader *l, const mend__script_member *members, size_t count,
                                      void *target);

/* Values, each read as far as its first token, for a table's `load`: a mend_str; a uint64_t of nanoseconds; a
 * uint64_t; a bool; a mend_str of a string's text or of any other value's JSON. */
mend_status mend__script_load_text(mend__script_loader *l, const mend__script_member *what, void *target);
mend_status mend__script_load_ms(mend__script_loader *l, const mend__script_member *what, void *target);
mend_status mend__script_load_count(mend__script_loader *l, const mend__script_member *what, void *target);
mend_status mend__script_load_flag(mend__script_loader *l, const mend__script_member *what, void *target);
mend_status mend__script_load_text_or_json(mend__script_loader *l, const mend__script_member *what, void *target);
/* For those: which of `count` words a string is. */
mend_status mend__script_load_word(mend__script_loader *l, const mend__script_member *what,
                                   const char *(*word)(size_t index), size_t count, size_t *ret_index);

/* The text of the string or key that was just read, in the script's arena. */
mend_str mend__script_keep_text(mend__script_loader *l);
/* A list with room for one item more, where it may have moved; NULL: no memory, and the list is as it was. */
void *mend__script_with_room(const mend__script_loader *l, void *items, size_t count, size_t *capacity,
                             size_t item_size);

/* Errors. The first adds the place of the token that was read last to a sentence that has been written. */
mend_status mend__script_at_token(const mend__script_loader *l, mend_status status);
mend_status mend__script_expected(const mend__script_loader *l, const char *name, const char *expectation);
mend_status mend__script_out_of_memory(const mend__script_loader *l);

#endif
