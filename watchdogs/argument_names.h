/* Private to the watchdog "loop" of mode evidence: options that list names of arguments, for all tools or by tool. */
#ifndef MEND_WATCHDOGS_ARGUMENT_NAMES_H
#define MEND_WATCHDOGS_ARGUMENT_NAMES_H

#include "core/tool_rules.h"
#include "mend/json.h"
#include "watchdogs/table.h"

/* The names of one list, by their hash. */
typedef mend__table mend__argument_names;

static inline bool mend__argument_names_have(const mend__argument_names *names, mend_str name) {
  return mend__table_find(names, sizeof(mend_hash), mend_hash_bytes(name)) != NULL;
}

/* Zero it, or init it, before use. */
typedef struct mend__argument_rules {
  mend__tool_rules tools;
  mend__argument_names *names; /* one a rule */
} mend__argument_rules;

/* Of an option's text, which was checked. MEND_ENOMEM. */
mend_status mend__argument_rules_init(mend__argument_rules *rules, mend_str option, const mend_allocator *allocator);
void mend__argument_rules_free(mend__argument_rules *rules, const mend_allocator *allocator);
/* The names for a tool; NULL: nothing is said of it. */
const mend__argument_names *mend__argument_rules_find(const mend__argument_rules *rules, mend_str tool);

#endif
