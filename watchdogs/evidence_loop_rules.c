/* The options of the watchdog "loop" of mode evidence, and what they and its name say of a tool. */
#include "watchdogs/evidence_loop_rules.h"
#include "core/memory.h"

enum { RULES_COUNT = 6 };

/* The texts are kept in one block: rules point into them. */
mend_status mend__loop_rules_init(mend__loop_rules *rules, const mend_loop_watchdog_options *options,
                                  const mend_allocator *allocator) {
  *rules = (mend__loop_rules){.k = options->k, .n = options->n, .poll_k = options->poll_k, .rearm = options->rearm};
  mend__tool_rules *const parts[RULES_COUNT] = {&rules->tool_k,     &rules->poll_tools,  &rules->read_only,
                                                &rules->idempotent, &rules->ignore_args, &rules->only_args};
  mend_str texts[RULES_COUNT] = {options->tool_k,     options->poll_tools,  options->read_only,
                                 options->idempotent, options->ignore_args, options->only_args};
  size_t size = 1;
  for (int i = 0; i < RULES_COUNT; i++)
    size += mend__room_for(texts[i]);
  rules->texts = mend__alloc(allocator, size);
  if (rules->texts == NULL) return MEND_ENOMEM;
  char *place = rules->texts;
  mend_status status = MEND_OK;
  for (int i = 0; i < RULES_COUNT && status == MEND_OK; i++) {
    const bool is_masks = parts[i] == &rules->ignore_args || parts[i] == &rules->only_args;
    status = mend__tool_rules_init(parts[i], mend__keep_text(&place, texts[i]), is_masks, allocator);
  }
  if (status != MEND_OK) mend__loop_rules_free(rules, allocator);
  return status;
}

void mend__loop_rules_free(mend__loop_rules *rules, const mend_allocator *allocator) {
  mend__tool_rules_free(&rules->tool_k, allocator);
  mend__tool_rules_free(&rules->poll_tools, allocator);
  mend__tool_rules_free(&rules->read_only, allocator);
  mend__tool_rules_free(&rules->idempotent, allocator);
  mend__tool_rules_free(&rules->ignore_args, allocator);
  mend__tool_rules_free(&rules->only_args, allocator);
  mend__free(allocator, rules->texts);
  rules->texts = NULL;
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
      .ignore_args = mend__tool_rules_find(&rules->ignore_args, tool),
      .only_args = mend__tool_rules_find(&rules->only_args, tool),
  };
}
