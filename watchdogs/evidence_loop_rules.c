/* The options of the watchdog "loop" of mode evidence, and what they and its name say of a tool. */
#include "watchdogs/evidence_loop_rules.h"

mend_status mend__loop_rules_init(mend__loop_rules *rules, const mend_loop_watchdog_options *options,
                                  const mend_allocator *allocator) {
  *rules = (mend__loop_rules){.k = options->k, .n = options->n, .poll_k = options->poll_k, .rearm = options->rearm};
  mend_status status = mend__tool_rules_init(&rules->tool_k, options->tool_k, false, allocator);
  if (status == MEND_OK) status = mend__tool_rules_init(&rules->poll_tools, options->poll_tools, false, allocator);
  if (status == MEND_OK) status = mend__tool_rules_init(&rules->read_only, options->read_only, false, allocator);
  if (status == MEND_OK) status = mend__tool_rules_init(&rules->idempotent, options->idempotent, false, allocator);
  if (status == MEND_OK) status = mend__argument_rules_init(&rules->ignore_args, options->ignore_args, allocator);
  if (status == MEND_OK) status = mend__argument_rules_init(&rules->only_args, options->only_args, allocator);
  if (status != MEND_OK) mend__loop_rules_free(rules, allocator);
  return status;
}

void mend__loop_rules_free(mend__loop_rules *rules, const mend_allocator *allocator) {
  mend__tool_rules_free(&rules->tool_k, allocator);
  mend__tool_rules_free(&rules->poll_tools, allocator);
  mend__tool_rules_free(&rules->read_only, allocator);
  mend__tool_rules_free(&rules->idempotent, allocator);
  mend__argument_rules_free(&rules->ignore_args, allocator);
  mend__argument_rules_free(&rules->only_args, allocator);
}

/* Numbers of options are doubles here, and may be larger than what is counted to. */
static uint32_t to_count(double number) { return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX; }

mend__tool_facts mend__tool_facts_of(const mend__loop_rules *rules, mend_str tool) {
  const mend__tool_rule *own_k = mend__tool_rules_find(&rules->tool_k, tool);
  return (mend__tool_facts){
      .words = mend__tool_words_of(tool),
      .has_own_k = own_k != NULL,
      .k = own_k != NULL ? to_count(own_k->number) : rules->k,
      .is_poll = mend__tool_rules_find(&rules->poll_tools, tool) != NULL,
      .is_read_only = mend__tool_rules_find(&rules->read_only, tool) != NULL,
      .is_idempotent = mend__tool_rules_find(&rules->idempotent, tool) != NULL,
      .ignore_args = mend__argument_rules_find(&rules->ignore_args, tool),
      .only_args = mend__argument_rules_find(&rules->only_args, tool),
  };
}
