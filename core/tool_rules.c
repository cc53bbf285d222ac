#include "core/tool_rules.h"

#include "core/memory.h"
#include "core/text.h"
#include "mend/json.h"

#include <stdlib.h>

/* ---- Reading ---- */

/* The key or string at hand, unescaped to *room. */
static mend__tool_rule named_rule(const mend_json *json, char **room) {
  mend_str name = {*room, mend_json_unescape(json->slice, *room)};
  *room += name.len;
  mend__tool_rule rule = {.name = name, .number = 1};
  rule.is_pattern = name.ptr[name.len - 1] == '*';
  rule.name.len -= rule.is_pattern;
  return rule;
}

static size_t read_members(mend_json *json, mend__tool_rule *rules, char *room) {
  size_t count = 0;
  while (mend_json_next(json) == MEND_JSON_KEY) {
    mend__tool_rule rule = named_rule(json, &room);
    mend_str value;
    if (mend_json_value(json, &value) != MEND_OK) break;
    if (value.ptr[0] == '[') {
      rule.names = value;
    } else {
      rule.number = mend_json_double(value);
    }
    rules[count++] = rule;
  }
  return count;
}

static size_t read_names(mend_json *json, mend__tool_rule *rules, char *room) {
  size_t count = 0;
  while (mend_json_next(json) == MEND_JSON_STRING)
    rules[count++] = named_rule(json, &room);
  return count;
}

static size_t read_rules(mend_str option, bool is_masks, mend__tool_rule *rules, char *room) {
  mend_json json;
  mend_json_init(&json, option, MEND_JSON_DEPTH);
  const bool is_object = mend_json_next(&json) == MEND_JSON_OBJECT;
  if (is_object) return read_members(&json, rules, room);
  if (!is_masks) return read_names(&json, rules, room);
  if (mend_json_next(&json) != MEND_JSON_STRING) return 0;
  rules[0] = (mend__tool_rule){.name = {room, 0}, .number = 1, .names = option, .is_pattern = true};
  return 1;
}

/* At least as many as there are rules: each has a key or a string of its own. */
static size_t count_at_most(mend_str option) {
  size_t quotes = 0;
  for (size_t i = 0; i < option.len; i++)
    quotes += option.ptr[i] == '"';
  return quotes / 2 + 1;
}

/* ---- Looking up ---- */

/* Names differ, so two patterns of one length never match the same tool. */
static int compare(const void *left, const void *right) {
  const mend__tool_rule *a = left, *b = right;
  if (a->is_pattern != b->is_pattern) return a->is_pattern ? 1 : -1;
  return a->name.len != b->name.len ? (a->name.len < b->name.len ? 1 : -1) : 0;
}

static bool matches(const mend__tool_rule *rule, mend_str tool) {
  if (!rule->is_pattern) return mend_str_equal(rule->name, tool);
  return mend__begins_with(tool, rule->name);
}

const mend__tool_rule *mend__tool_rules_find(const mend__tool_rules *rules, mend_str tool) {
  if (tool.len == 0) return NULL;
  for (size_t i = 0; i < rules->count; i++) {
    if (matches(&rules->rules[i], tool)) return &rules->rules[i];
  }
  return NULL;
}

mend_status mend__tool_rules_init(mend__tool_rules *rules, mend_str option, bool is_masks,
                                  const mend_allocator *allocator) {
  *rules = (mend__tool_rules){NULL, 0};
  if (option.len == 0) return MEND_OK;
  const size_t room = count_at_most(option) * sizeof *rules->rules;
  char *block = mend__alloc(allocator, room + option.len);
  if (block == NULL) return MEND_ENOMEM;
  rules->rules = (void *)block;
  rules->count = read_rules(option, is_masks, rules->rules, block + room);
  qsort(rules->rules, rules->count, sizeof *rules->rules, compare);
  return MEND_OK;
}

void mend__tool_rules_free(mend__tool_rules *rules, const mend_allocator *allocator) {
  mend__free(allocator, rules->rules);
  *rules = (mend__tool_rules){NULL, 0};
}
