/* How providers word their errors: status, headers and body, as data. */
#ifndef MEND_PROGRAM_FAULT_SERVER_WORDINGS_H
#define MEND_PROGRAM_FAULT_SERVER_WORDINGS_H

#include "core/buffer.h"

typedef struct wording {
  const char *name;   /* what is wrong: "context_overflow" */
  const char *vendor; /* who words it so: "vllm" */
  unsigned status;
  const char *header; /* "name: value"; NULL: none */
  const char *body;   /* with ' for " and ~ for ', and {model}, {key}, {retry_info} for what they are */
} wording;

/* One line of help for each name. */
typedef struct wording_kind {
  const char *name;
  const char *help;
} wording_kind;
extern const wording_kind wording_kinds[]; /* ends with a NULL name */

/* The kind's name, so that it can be kept; NULL when there is none such. */
const char *wording_name(mend_str name);
/* NULL when there is none. */
const wording *wording_find(const char *name, mend_str vendor);
/* The vendor's, or whoever's comes first. `name` is a kind's. */
const wording *wording_nearest(const char *name, const char *vendor);
/* The vendors of a kind, one after the other; start with *position 0; NULL at the end. */
const wording *wording_next(const char *name, size_t *position);

/* What stands for the words in braces. */
typedef struct wording_facts {
  mend_str model, key, retry_info;
} wording_facts;
void wording_write(const wording *of, const wording_facts *facts, mend__buffer *to);

#endif
