/* Between classification_load.c, which reads rows by a table of their members, and classification_values.c, which reads
 * what a member may be. */
#ifndef MEND_FALLBACK_CLASSIFICATION_LOADER_H
#define MEND_FALLBACK_CLASSIFICATION_LOADER_H

#include "fallback/classification_internal.h"
#include "fallback/loading.h"

typedef struct mend__row_loader {
  mend_classification *table;
  mend_json json;
  mend__row row;
  unsigned number; /* of the row, from 1 */
  uint32_t given;  /* bits of the members that were there */
  mend_error *error;
} mend__row_loader;

/* At most 32 of them. */
typedef struct mend__row_member {
  const char *name;
  mend_status (*load)(mend__row_loader *loader, const struct mend__row_member *what);
  size_t offset;             /* of what it sets in a row */
  const char *const *values; /* it may have, ends with NULL; NULL: any */
} mend__row_member;

static inline void *mend__row_field(mend__row_loader *loader, const mend__row_member *what) {
  return (char *)&loader->row + what->offset;
}

/* MEND_EINVAL with row, member, and the place of the token that was read last. */
mend_status mend__row_expected(const mend__row_loader *loader, const mend__row_member *what, const char *expectation);
/* The text of the string or key that was read last, in lower case, in the table's arena. */
mend_str mend__row_keep_text(mend__row_loader *loader);

/* Values, for a table's `load`: a mend__texts_range of one string or an array of them; the row's statuses; a uint32_t,
 * a status; a double of seconds; the row's two of a cool-down; a mend__wanted; a bool. */
mend_status mend__row_load_texts(mend__row_loader *loader, const mend__row_member *what);
mend_status mend__row_load_statuses(mend__row_loader *loader, const mend__row_member *what);
mend_status mend__row_load_report_status(mend__row_loader *loader, const mend__row_member *what);
mend_status mend__row_load_seconds(mend__row_loader *loader, const mend__row_member *what);
mend_status mend__row_load_cool_down(mend__row_loader *loader, const mend__row_member *what);
mend_status mend__row_load_wanted(mend__row_loader *loader, const mend__row_member *what);
mend_status mend__row_load_flag(mend__row_loader *loader, const mend__row_member *what);
/* For those: texts into a range; which of the member's values a string is. */
mend_status mend__row_load_text_list(mend__row_loader *loader, const mend__row_member *what, mend__texts_range *range);
mend_status mend__row_read_choice(mend__row_loader *loader, const mend__row_member *what, size_t *ret_choice);

#endif
