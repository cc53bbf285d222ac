/* Between facts.c and facts_load.c, and for chains. */
#ifndef MEND_FALLBACK_FACTS_INTERNAL_H
#define MEND_FALLBACK_FACTS_INTERNAL_H

#include "mend/model.h"

typedef struct mend__model_entry {
  mend_str pattern;
  mend_model_facts facts;
} mend__model_entry;

/* One block, with the entries and then the patterns' texts behind it. */
struct mend_model_table {
  const mend_allocator *allocator;
  size_t count;
  mend__model_entry entries[];
};

/* "anthropic/claude-sonnet-4-6" without its vendor. */
mend_str mend__bare_model_id(mend_str id);

#endif
