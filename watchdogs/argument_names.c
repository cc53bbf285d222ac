#include "watchdogs/argument_names.h"

/* Room for the longest name is room for the whole list. */
static mend_status read_names(mend__argument_names *names, mend_str list, char *room, const mend_allocator *allocator) {
  mend_json json;
  mend_json_init(&json, list, MEND_JSON_DEPTH);
  mend_json_next(&json);
  while (mend_json_next(&json) == MEND_JSON_STRING) {
    const mend_str name = {room, mend_json_unescape(json.slice, room)};
    if (mend__argument_names_have(names, name)) continue;
    if (mend__table_reserve(names, sizeof(mend_hash), allocator) != MEND_OK) return MEND_ENOMEM;
    mend__table_add(names, sizeof(mend_hash), mend_hash_bytes(name));
  }
  return MEND_OK;
}

static mend_status read_lists(mend__argument_rules *rules, char *room, const mend_allocator *allocator) {
  mend_status status = MEND_OK;
  for (size_t i = 0; i < rules->tools.count && status == MEND_OK; i++)
    status = read_names(&rules->names[i], rules->tools.rules[i].names, room, allocator);
  return status;
}

mend_status mend__argument_rules_init(mend__argument_rules *rules, mend_str option, const mend_allocator *allocator) {
  *rules = (mend__argument_rules){.names = NULL};
  mend_status status = mend__tool_rules_init(&rules->tools, option, true, allocator);
  if (status != MEND_OK || rules->tools.count == 0) return status;
  char *room = mend__alloc(allocator, option.len);
  rules->names = mend__alloc_zero(allocator, rules->tools.count * sizeof *rules->names);
  status = room != NULL && rules->names != NULL ? read_lists(rules, room, allocator) : MEND_ENOMEM;
  mend__free(allocator, room);
  if (status != MEND_OK) mend__argument_rules_free(rules, allocator);
  return status;
}

void mend__argument_rules_free(mend__argument_rules *rules, const mend_allocator *allocator) {
  for (size_t i = 0; rules->names != NULL && i < rules->tools.count; i++)
    mend__free(allocator, rules->names[i].items);
  mend__free(allocator, rules->names);
  mend__tool_rules_free(&rules->tools, allocator);
  rules->names = NULL;
}

const mend__argument_names *mend__argument_rules_find(const mend__argument_rules *rules, mend_str tool) {
  const mend__tool_rule *rule = mend__tool_rules_find(&rules->tools, tool);
  return rule != NULL ? &rules->names[rule - rules->tools.rules] : NULL;
}
