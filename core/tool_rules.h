/* House header: options that say something of tools, by name or pattern: NAMES, LIMITS, COUNTS and MASKS, looked up. */
#ifndef MEND_CORE_TOOL_RULES_H
#define MEND_CORE_TOOL_RULES_H

#include "mend/core.h"

/* What is said of a tool. */
typedef struct mend__tool_rule {
  mend_str name;  /* of the tool; of a pattern the part before its `*` */
  double number;  /* a LIMITS' seconds, a COUNTS' integer, else 1 */
  mend_str names; /* a MASKS' argument names: a JSON array in the option's text, which outlives its use */
  bool is_pattern;
} mend__tool_rule;

/* Rules as an option has them, to be looked up. Zero it, or init it, before use; all of it is in one block. */
typedef struct mend__tool_rules {
  mend__tool_rule *rules; /* whole names first, then patterns, the longest first */
  size_t count;
} mend__tool_rules;

/* Of an option's text, which was checked; absent: none. A MASKS that is an array is a rule for every tool, or none when
 * it is empty. MEND_ENOMEM. */
mend_status mend__tool_rules_init(mend__tool_rules *rules, mend_str option, bool is_masks,
                                  const mend_allocator *allocator);
void mend__tool_rules_free(mend__tool_rules *rules, const mend_allocator *allocator);
/* The rule for a tool, NULL when there is none: time grows with the number of rules. */
const mend__tool_rule *mend__tool_rules_find(const mend__tool_rules *rules, mend_str tool);

#endif
