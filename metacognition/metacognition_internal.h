/* Private to metacognition/: reading what agents say of themselves, and what the protocols share. */
#ifndef MEND_METACOGNITION_INTERNAL_H
#define MEND_METACOGNITION_INTERNAL_H

#include "core/buffer.h"
#include "core/json_members.h"
#include "core/memory.h"
#include "mend/json.h"
#include "mend/metacognition.h"

#include <stdatomic.h>

/* ---- enriched.c ---- */

enum mend__enriched_member {
  MEND__ENRICHED_OUTPUT,
  MEND__ENRICHED_CONFIDENCE,
  MEND__ENRICHED_TARGETS,
  MEND__ENRICHED_BOUNDARY,
  MEND__ENRICHED_PROTOCOL,
  MEND__ENRICHED_METADATA,
  MEND__ENRICHED_MEMBERS
};
/* The members of an enriched result, as they are there. MEND_ENOENT when it is something else, MEND_ESYNTAX. */
mend_status mend__enriched_scan(mend_str result, mend__json_member ret_members[MEND__ENRICHED_MEMBERS]);
/* Takes over what the members say, but for the output. MEND_ENOMEM. */
mend_status mend__enriched_take(const mend__json_member members[MEND__ENRICHED_MEMBERS], mend_enriched *enriched);
/* What `to` held is freed; `from` is empty afterwards. */
void mend__enriched_move(mend_enriched *to, mend_enriched *from);
/* Sets a member to what was written, absent when that is nothing, and clears the buffer for the next. */
mend_status mend__enriched_set_written(mend_enriched *enriched, mend_str *member, mend__buffer *text);
/* Whether it can be written: MEND_EINVAL without a protocol_name, MEND_ESYNTAX. */
mend_status mend__enriched_check(const mend_enriched *enriched, mend_error *error);
static inline double mend__clamp_confidence(double confidence) {
  return confidence <= 0 ? 0 : confidence > 1 ? 1 : confidence;
}

/* ---- self_report.c ---- */

/* What the members are called in which an agent speaks of itself. */
typedef struct mend__self_report {
  mend_str confidence, uncertainty, boundary;
} mend__self_report;
/* Takes them from an object into `enriched`. Errors: MEND_ENOENT and MEND_ESYNTAX with a sentence, MEND_ENOMEM. */
mend_status mend__self_report_read(const mend__self_report *names, mend_str text, mend_enriched *enriched,
                                   mend_error *error);
/* 0 to 1; NaN for a value that is no number. */
double mend__said_confidence(mend_str value);
/* Appends the strings of an array as JSON array, or a string as array of one; nothing when there are none. */
void mend__said_strings(mend_str value, mend__buffer *json);

/* ---- claim.c: who publishes the confidence of a run ---- */

/* A hook. The runs it publishes for refer to it too, so that they notice when it is gone. */
typedef struct mend__publisher {
  atomic_size_t references;
  atomic_bool gone; /* with its hooks */
  const mend_allocator *allocator;
  char source[];
} mend__publisher;

mend__publisher *mend__publisher_new(const char *source, const mend_allocator *allocator);
void mend__publisher_end(mend__publisher *publisher);
/* One more boundary of the run has this publisher. MEND_EEXIST when another one publishes for the run, MEND_ENOMEM. */
mend_status mend__claim_attach(mend__publisher *publisher, mend_run *run);
void mend__claim_detach(const mend__publisher *publisher, mend_run *run);
/* The same for a reading of whoever asks its hooks. *ret_is_new: false when the call only passes on, byte for
 * byte, what was read of a call within it. */
mend_status mend__claim_reading(mend__publisher *publisher, const mend_hook_call *call, bool *ret_is_new);

#endif
