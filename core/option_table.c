#include "core/option_internal.h"
#include "core/options_size.h"

/* ---- Choices: as JSON strings by value, and as "a or b" for people ---- */

#define CHOICE_JSON(constant, text) "\"" text "\"",
#define CHOICE_ALTERNATIVE(constant, text) " or " text
#define CHOICE(group, name, CHOICES)                                                                                   \
  static const char *const group##_##name##_choices[] = {CHOICES(CHOICE_JSON) NULL};                                   \
  static const char group##_##name##_range[] = CHOICES(CHOICE_ALTERNATIVE);                                            \
  _Static_assert(sizeof(mend_##group##_##name) == sizeof(unsigned), "a choice is stored as an unsigned");

CHOICE(loop, rearm, MEND_LOOP_REARM_CHOICES)
CHOICE(watch, mode, MEND_WATCH_MODE_CHOICES)

/* ---- What a type says of an option. Defaults come in parentheses, because MEND_ABSENT has a comma. ---- */

#define TEXT_OF(value) #value

#define TYPE_SWITCH(group, name, value, low, high)                                                                     \
  .range = "true or false", .expected = "true or false", .fallback = value ? "true" : "false"
#define TYPE_COUNT(group, name, value, low, high)                                                                      \
  .range = #low " to " #high, .expected = "an integer from " #low " to " #high, .fallback = TEXT_OF value,             \
  .min = (low), .max = (high)
#define TYPE_SECONDS(group, name, value, low, high)                                                                    \
  .range = "> 0", .expected = "a number of seconds > 0", .fallback = TEXT_OF value
#define TYPE_RATIO(group, name, value, low, high)                                                                      \
  .range = "0 to 1", .expected = "a number from 0 to 1", .fallback = TEXT_OF value
#define TYPE_AMOUNT(group, name, value, low, high)                                                                     \
  .range = ">= 0, 0 for no limit", .expected = "an integer >= 0 (0 for no limit)", .fallback = TEXT_OF value,          \
  .max = UINT64_MAX
#define TYPE_MONEY(group, name, value, low, high)                                                                      \
  .range = ">= 0, 0 for no limit", .expected = "a number >= 0 (0 for no limit)", .fallback = TEXT_OF value
/* The first alternative goes without its " or ". */
#define TYPE_CHOICE(group, name, value, low, high)                                                                     \
  .range = group##_##name##_range + 4, .expected = group##_##name##_range + 4, .choices = group##_##name##_choices,    \
  .chosen = value
#define TYPE_NAMES(group, name, value, low, high)                                                                      \
  .range = "array of names, or one name", .expected = "an array of names such as [\"a\", \"b\"]", .fallback = "[]"
#define TYPE_LIMITS(group, name, value, low, high)                                                                     \
  .range = "object of seconds > 0 by tool name or pattern",                                                            \
  .expected = "an object of seconds > 0 by tool name or pattern", .fallback = "{}"
#define TYPE_MASKS(group, name, value, low, high)                                                                      \
  .range = "array of argument names, or one name, or object of such arrays by tool",                                   \
  .expected = "an array of argument names, or an object of such arrays by tool", .fallback = "[]"
#define TYPE_COUNTS(group, name, value, low, high)                                                                     \
  .range = "object of integers >= 1 by tool name or pattern",                                                          \
  .expected = "an object of integers >= 1 by tool name or pattern", .fallback = "{}"

/* ---- The table ---- */

#define ROW(path, member, group, TYPE, field, value, low, high, sentence)                                              \
  {.name = path,                                                                                                       \
   .type = MEND__OPTION_##TYPE,                                                                                        \
   .offset = offsetof(mend_options, member),                                                                           \
   .size = sizeof(((mend_options *)0)->member),                                                                        \
   .help = sentence,                                                                                                   \
   TYPE_##TYPE(group, field, value, low, high)},
#define GROUP_FIELD(group, TYPE, name, value, min, max, help)                                                          \
  ROW(#group "." #name, group.name, group, TYPE, name, value, min, max, help)
#define LOOP_ROW(TYPE, name, value, min, max, help) GROUP_FIELD(loop, TYPE, name, (value), min, max, help)
#define STALL_ROW(TYPE, name, value, min, max, help) GROUP_FIELD(stall, TYPE, name, (value), min, max, help)
#define REGRESSION_ROW(TYPE, name, value, min, max, help) GROUP_FIELD(regression, TYPE, name, (value), min, max, help)
#define BUDGET_ROW(TYPE, name, value, min, max, help) GROUP_FIELD(budget, TYPE, name, (value), min, max, help)
#define FALLBACK_ROW(TYPE, name, value, min, max, help) GROUP_FIELD(fallback, TYPE, name, (value), min, max, help)
#define WATCH_ROW(TYPE, name, value, min, max, help) ROW(#name, name, watch, TYPE, name, (value), min, max, help)
#define GROUP_ROWS(GROUP, group, owner) MEND_##GROUP##_OPTIONS(GROUP##_ROW)

const mend__option mend__options[MEND__OPTIONS_COUNT] = {MEND_OPTION_GROUPS(GROUP_ROWS) MEND_WATCH_OPTIONS(WATCH_ROW)};

#define GROUP_NAME(GROUP, group, owner) #group,
const char *const mend__option_groups[MEND__GROUPS_COUNT] = {MEND_OPTION_GROUPS(GROUP_NAME)};

#define ALIAS_ROW(alias, path) {alias, path},
const mend__option_alias mend__option_aliases[] = {MEND_OPTION_ALIASES(ALIAS_ROW){NULL, NULL}};

/* ---- Looking up ---- */

static const mend__option *find_by_name(mend_str name) {
  for (size_t i = 0; i < MEND__OPTIONS_COUNT; i++) {
    if (mend_str_equal(mend_str_from(mend__options[i].name), name)) return &mend__options[i];
  }
  return NULL;
}

const mend__option *mend__option_find(mend_str name, const char **ret_called) {
  const mend__option *option = find_by_name(name);
  if (option != NULL) {
    *ret_called = option->name;
    return option;
  }
  for (const mend__option_alias *each = mend__option_aliases; each->alias != NULL; each++) {
    if (!mend_str_equal(mend_str_from(each->alias), name)) continue;
    *ret_called = each->alias;
    return find_by_name(mend_str_from(each->name));
  }
  return NULL;
}

const char *const *mend__option_group_find(mend_str name) {
  for (size_t i = 0; i < MEND__GROUPS_COUNT; i++) {
    if (mend_str_equal(mend_str_from(mend__option_groups[i]), name)) return &mend__option_groups[i];
  }
  return NULL;
}

static const char *type_name(mend__option_type type) {
  switch (type) {
  case MEND__OPTION_SWITCH: return "switch";
  case MEND__OPTION_COUNT:
  case MEND__OPTION_AMOUNT: return "integer";
  case MEND__OPTION_SECONDS: return "seconds";
  case MEND__OPTION_RATIO: return "ratio";
  case MEND__OPTION_MONEY: return "number";
  case MEND__OPTION_CHOICE: return "choice";
  case MEND__OPTION_NAMES: return "names";
  case MEND__OPTION_LIMITS: return "limits";
  case MEND__OPTION_MASKS: return "masks";
  case MEND__OPTION_COUNTS: return "counts";
  }
  return "";
}

static const char *evidence_default(size_t index) {
#define EVIDENCE_DEFAULT(group, name, value, json)                                                                     \
  if (index == MEND__OPTION_INDEX(group, name)) return json;
  MEND_EVIDENCE_DEFAULTS(EVIDENCE_DEFAULT)
  return NULL;
}

mend_status mend_option_at(size_t index, mend_option_info *ret_info) {
  if (ret_info->size < sizeof ret_info->size) return MEND_EINVAL;
  if (index >= MEND__OPTIONS_COUNT) return MEND_ENOENT;
  const mend__option *option = &mend__options[index];
  const mend_option_info info = {
      .size = sizeof info,
      .name = option->name,
      .type = type_name(option->type),
      .fallback = option->choices != NULL ? option->choices[option->chosen] : option->fallback,
      .range = option->range,
      .help = option->help,
      .evidence = evidence_default(index),
  };
  mend__options_give(ret_info, &info);
  return MEND_OK;
}
