/**
 * mend/options.h: the one tree of options, as structs for C and by name for JSON, `--set` and help.
 *
 *   mend_options options = MEND_OPTIONS_INIT;      // every default
 *   options.loop.k = 5;
 *   mend_options_check(&options, &error);          // ranges, and rules between fields
 *
 * By name, from texts, into a tree that owns what it was given:
 *
 *   mend_option_tree *tree;
 *   mend_option_tree_new(NULL, &tree);
 *   mend_option_tree_load(tree, json_text, &error);               // {"loop": {"k": 5}} or {"loop.k": 5}
 *   mend_option_tree_set(tree, MEND_STR("loop.k"), MEND_STR("5"), &error);
 *   const mend_options *options = mend_option_tree_get(tree);
 *
 * Threads: a tree belongs to one thread at a time; everything else may be called from any.
 */
#ifndef MEND_OPTIONS_H
#define MEND_OPTIONS_H

#include "mend/core.h"
#include "mend/options.def"

#ifdef __cplusplus
extern "C" {
#endif

#define MEND_ABSENT                                                                                                    \
  { NULL, 0 }

#define MEND_CHOICE_CONSTANT(constant, text) constant,
typedef enum mend_loop_rearm { MEND_LOOP_REARM_CHOICES(MEND_CHOICE_CONSTANT) } mend_loop_rearm;
typedef enum mend_watch_mode { MEND_WATCH_MODE_CHOICES(MEND_CHOICE_CONSTANT) } mend_watch_mode;
#undef MEND_CHOICE_CONSTANT

#define MEND_OPTION_C_SWITCH(group, name) bool
#define MEND_OPTION_C_COUNT(group, name) uint32_t
#define MEND_OPTION_C_SECONDS(group, name) double
#define MEND_OPTION_C_RATIO(group, name) double
#define MEND_OPTION_C_AMOUNT(group, name) uint64_t
#define MEND_OPTION_C_MONEY(group, name) double
#define MEND_OPTION_C_CHOICE(group, name) mend_##group##_##name
#define MEND_OPTION_C_NAMES(group, name) mend_str
#define MEND_OPTION_C_LIMITS(group, name) mend_str
#define MEND_OPTION_C_MASKS(group, name) mend_str
#define MEND_OPTION_C_COUNTS(group, name) mend_str

/* One struct a group: mend_loop_watchdog_options, mend_stall_watchdog_options, ... with `size` first; what the fields
 * mean, their defaults and ranges stand in mend/options.def. */
#define MEND_OPTION_FIELD(group, TYPE, name) MEND_OPTION_C_##TYPE(group, name) name;
#define MEND_LOOP_FIELD(TYPE, name, value, min, max, help) MEND_OPTION_FIELD(loop, TYPE, name)
#define MEND_STALL_FIELD(TYPE, name, value, min, max, help) MEND_OPTION_FIELD(stall, TYPE, name)
#define MEND_REGRESSION_FIELD(TYPE, name, value, min, max, help) MEND_OPTION_FIELD(regression, TYPE, name)
#define MEND_BUDGET_FIELD(TYPE, name, value, min, max, help) MEND_OPTION_FIELD(budget, TYPE, name)
#define MEND_FALLBACK_FIELD(TYPE, name, value, min, max, help) MEND_OPTION_FIELD(fallback, TYPE, name)
#define MEND_WATCH_FIELD(TYPE, name, value, min, max, help) MEND_OPTION_FIELD(watch, TYPE, name)
#define MEND_OPTION_STRUCT(GROUP, group, owner)                                                                        \
  typedef struct mend_##owner##_options {                                                                              \
    size_t size;                                                                                                       \
    MEND_##GROUP##_OPTIONS(MEND_##GROUP##_FIELD)                                                                       \
  } mend_##owner##_options;
MEND_OPTION_GROUPS(MEND_OPTION_STRUCT)

/** The whole tree. */
typedef struct mend_options {
  size_t size;
#define MEND_OPTION_MEMBER(GROUP, group, owner) mend_##owner##_options group;
  MEND_OPTION_GROUPS(MEND_OPTION_MEMBER)
  MEND_WATCH_OPTIONS(MEND_WATCH_FIELD)
} mend_options;

#define MEND_OPTION_DEFAULT(TYPE, name, value, min, max, help) value,
#define MEND_LOOP_WATCHDOG_OPTIONS_INIT                                                                                \
  { sizeof(mend_loop_watchdog_options), MEND_LOOP_OPTIONS(MEND_OPTION_DEFAULT) }
#define MEND_STALL_WATCHDOG_OPTIONS_INIT                                                                               \
  { sizeof(mend_stall_watchdog_options), MEND_STALL_OPTIONS(MEND_OPTION_DEFAULT) }
#define MEND_REGRESSION_WATCHDOG_OPTIONS_INIT                                                                          \
  { sizeof(mend_regression_watchdog_options), MEND_REGRESSION_OPTIONS(MEND_OPTION_DEFAULT) }
#define MEND_BUDGET_WATCHDOG_OPTIONS_INIT                                                                              \
  { sizeof(mend_budget_watchdog_options), MEND_BUDGET_OPTIONS(MEND_OPTION_DEFAULT) }
#define MEND_FALLBACK_CHAIN_OPTIONS_INIT                                                                               \
  { sizeof(mend_fallback_chain_options), MEND_FALLBACK_OPTIONS(MEND_OPTION_DEFAULT) }
#define MEND_OPTION_GROUP_DEFAULT(GROUP, group, owner)                                                                 \
  {sizeof(mend_##owner##_options), MEND_##GROUP##_OPTIONS(MEND_OPTION_DEFAULT)},
#define MEND_OPTIONS_INIT                                                                                              \
  { sizeof(mend_options), MEND_OPTION_GROUPS(MEND_OPTION_GROUP_DEFAULT) MEND_WATCH_OPTIONS(MEND_OPTION_DEFAULT) }

/**
 * Sets the mode, and what that mode has as defaults: a call before one's own settings. Of a tree, setting `mode` by
 * name does the same to the options that were not given by name.
 */
static inline void mend_options_set_profile(mend_options *options, mend_watch_mode mode) {
  const mend_options seed = MEND_OPTIONS_INIT;
  const bool evidence = mode == MEND_WATCH_MODE_EVIDENCE;
  options->mode = mode;
#define MEND_PROFILE_DEFAULT(group, name, value, json) options->group.name = evidence ? (value) : seed.group.name;
  MEND_EVIDENCE_DEFAULTS(MEND_PROFILE_DEFAULT)
#undef MEND_PROFILE_DEFAULT
}

/**
 * Checks every field's range and the rules between fields (loop.n > loop.k). The struct may be of any version of this
 * header: its sizes say what is there, the rest has its defaults. Errors: MEND_EINVAL; the sentence names field, value
 * and what was expected.
 */
MEND_API mend_status mend_options_check(const mend_options *options, mend_error *error);

/* ---- By name ----------------------------------------------------------------------------------------------- */

typedef struct mend_option_tree mend_option_tree;

/** A tree of defaults. Errors: MEND_ENOMEM. */
MEND_API mend_status mend_option_tree_new(const mend_allocator *allocator, mend_option_tree **ret_tree);
/** NULL is allowed. */
MEND_API void mend_option_tree_free(mend_option_tree *tree);
/**
 * Sets one option by its dotted name or an alias. `value` is JSON; a bare word is a string, so evidence and "evidence"
 * are the same. An integer may be written as 3, 3.0 or 3e0. Where an array of names is wanted, one string is an array
 * of one; of bare words only one without a comma, several need JSON's brackets. `mode` also changes the defaults of the
 * options that were not given by name (mend_options_set_profile). Ranges are checked here, rules between
 * fields in mend_option_tree_check, so that order does not matter. Errors: MEND_ENOENT for an unknown name (the
 * sentence names the nearest known one), MEND_EINVAL, MEND_ENOMEM; the tree is then unchanged.
 */
MEND_API mend_status mend_option_tree_set(mend_option_tree *tree, mend_str name, mend_str value, mend_error *error);
/**
 * Sets many from a JSON object, nested by group or with dotted names and aliases, and then checks the whole. Values are
 * as above, without bare words; an option or group may be given once only, by whichever name. Errors: as above and
 * MEND_ESYNTAX, with line and column; the tree is then unchanged.
 */
MEND_API mend_status mend_option_tree_load(mend_option_tree *tree, mend_str json, mend_error *error);
/** Whether the option of this name or alias was given by name, even if it was given its default. */
MEND_API bool mend_option_tree_given(const mend_option_tree *tree, mend_str name);
/** mend_options_check of what the tree holds. */
MEND_API mend_status mend_option_tree_check(const mend_option_tree *tree, mend_error *error);
/** The tree's structs; borrowed, valid until the tree is freed, changed by later sets. */
MEND_API const mend_options *mend_option_tree_get(const mend_option_tree *tree);

/** One option, for help and documentation. All strings are static. */
typedef struct mend_option_info {
  size_t size;
  const char *name;     /**< "loop.k" */
  const char *type;     /**< "integer", "seconds", "names", ... as a person would say it */
  const char *fallback; /**< the default as JSON, "3" */
  const char *range;    /**< "1 to 65535", "> 0", "seed or evidence" */
  const char *help;     /**< one sentence without a full stop */
  const char *evidence; /**< the default in mode evidence as JSON; NULL where it is the same */
} mend_option_info;

/** The option at `index` (0, 1, ...) in the order of mend/options.def. Set ret_info->size before the call. MEND_ENOENT
 * after the last, MEND_EINVAL for size 0. */
MEND_API mend_status mend_option_at(size_t index, mend_option_info *ret_info);
/** The known option name or alias nearest to `name` (few letters missing, wrong, too many or swapped, also in its last
 * part alone), for "did you mean"; NULL when nothing is near. Static. */
MEND_API const char *mend_option_nearest(mend_str name);

#ifdef __cplusplus
}
#endif
#endif
