/* Private to the watchdog "loop" of mode evidence: its options, what they say of a tool, and what makes calls equal. */
#ifndef MEND_WATCHDOGS_EVIDENCE_LOOP_RULES_H
#define MEND_WATCHDOGS_EVIDENCE_LOOP_RULES_H

#include "mend/watchdogs.h"
#include "watchdogs/argument_names.h"
#include "watchdogs/evidence_loop_text.h"

/* ---- evidence_loop_rules.c: the options ---- */

typedef struct mend__loop_rules {
  uint32_t k, n, poll_k;
  mend_loop_rearm rearm;
  mend__tool_rules tool_k, poll_tools, read_only, idempotent;
  mend__argument_rules ignore_args, only_args;
} mend__loop_rules;

mend_status mend__loop_rules_init(mend__loop_rules *rules, const mend_loop_watchdog_options *options,
                                  const mend_allocator *allocator);
void mend__loop_rules_free(mend__loop_rules *rules, const mend_allocator *allocator);

/* What is known of a tool beforehand. */
typedef struct mend__tool_facts {
  mend__tool_words words;
  bool has_own_k, is_poll, is_read_only, is_idempotent;
  uint32_t k;
  const mend__argument_names *ignore_args, *only_args; /* NULL: nothing is said */
} mend__tool_facts;

mend__tool_facts mend__tool_facts_of(const mend__loop_rules *rules, mend_str tool);

/* ---- evidence_loop_key.c: pairs ---- */

/* Loose hash of a call's arguments, none for a call without any; of the hashes an event has where it has no arguments.
 * MEND_ENOMEM. */
mend_status mend__loop_args_hash(const mend__tool_facts *facts, const mend_tool_before_event *before,
                                 const mend_allocator *allocator, mend_json_hash_result *ret_hash);
/* Never none. */
mend_hash mend__loop_pair_key(mend_hash tool, mend_hash args_hash);

#endif
