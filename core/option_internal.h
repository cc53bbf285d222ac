/* Private to core/: the table of options that mend/options.def gives, and values on their way into it. */
#ifndef MEND_CORE_OPTION_INTERNAL_H
#define MEND_CORE_OPTION_INTERNAL_H

#include "mend/options.h"

typedef enum mend__option_type {
  MEND__OPTION_SWITCH,
  MEND__OPTION_COUNT,
  MEND__OPTION_SECONDS,
  MEND__OPTION_RATIO,
  MEND__OPTION_AMOUNT,
  MEND__OPTION_MONEY,
  MEND__OPTION_CHOICE,
  MEND__OPTION_NAMES,
  MEND__OPTION_LIMITS,
  MEND__OPTION_MASKS,
  MEND__OPTION_COUNTS
} mend__option_type;

typedef struct mend__option {
  const char *name;
  mend__option_type type;
  size_t offset; /* in mend_options */
  size_t size;
  uint64_t min, max;    /* of a COUNT or AMOUNT */
  const char *range;    /* for help: "1 to 65535" */
  const char *expected; /* for sentences: "an integer from 1 to 65535" */
  const char *fallback; /* the default as JSON; not of a CHOICE */
  const char *help;
  const char *const *choices; /* JSON strings by value, NULL at the end; of a CHOICE */
  unsigned chosen;            /* the default of a CHOICE */
} mend__option;

/* Whether its value is JSON text: NAMES, LIMITS, MASKS or COUNTS. */
static inline bool mend__option_is_text(const mend__option *option) { return option->type >= MEND__OPTION_NAMES; }

/* Which option stands where in the table. */
#define MEND__OPTION_INDEX(group, name) MEND__INDEX_##group##_##name
enum {
#define MEND__LOOP_INDEX(TYPE, name, value, min, max, help) MEND__OPTION_INDEX(loop, name),
#define MEND__STALL_INDEX(TYPE, name, value, min, max, help) MEND__OPTION_INDEX(stall, name),
#define MEND__REGRESSION_INDEX(TYPE, name, value, min, max, help) MEND__OPTION_INDEX(regression, name),
#define MEND__BUDGET_INDEX(TYPE, name, value, min, max, help) MEND__OPTION_INDEX(budget, name),
#define MEND__FALLBACK_INDEX(TYPE, name, value, min, max, help) MEND__OPTION_INDEX(fallback, name),
#define MEND__WATCH_INDEX(TYPE, name, value, min, max, help) MEND__OPTION_INDEX(watch, name),
#define MEND__GROUP_INDICES(GROUP, group, owner) MEND_##GROUP##_OPTIONS(MEND__##GROUP##_INDEX)
  MEND_OPTION_GROUPS(MEND__GROUP_INDICES) MEND_WATCH_OPTIONS(MEND__WATCH_INDEX) MEND__OPTIONS_COUNT
};

extern const mend__option mend__options[MEND__OPTIONS_COUNT];

#define MEND__GROUP_INDEX(GROUP, group, owner) MEND__GROUP_INDEX_##group,
enum { MEND_OPTION_GROUPS(MEND__GROUP_INDEX) MEND__GROUPS_COUNT };
extern const char *const mend__option_groups[MEND__GROUPS_COUNT];

typedef struct mend__option_alias {
  const char *alias, *name;
} mend__option_alias;
extern const mend__option_alias mend__option_aliases[]; /* NULLs at the end */

/* By name or alias; NULL when there is none. *ret_called is the static text of what it was called. */
const mend__option *mend__option_find(mend_str name, const char **ret_called);
/* The group's place in the table, NULL when it is none. */
const char *const *mend__option_group_find(mend_str name);
/* mend_option_nearest, also over the names of groups. */
const char *mend__option_nearest_key(mend_str name);

/* ---- Values ---- */

typedef union mend__option_value {
  bool on;
  uint32_t count;
  double number;
  uint64_t amount;
  unsigned choice;
  mend_str text;
} mend__option_value;

/* In a struct that others filled in, the byte of a SWITCH may be anything: it is not to be looked at. */
mend__option_value mend__option_load(const mend__option *option, const mend_options *options);
void mend__option_store(const mend__option *option, mend_options *options, mend__option_value value);

/* Why a value is refused: `given` is `problem`, for example {"0", "out of range"}. */
typedef struct mend__option_fault {
  mend_status status; /* MEND_OK: it is not */
  mend_str given;     /* a piece of the value */
  const char *problem;
} mend__option_fault;

#define MEND__OPTION_FINE ((mend__option_fault){.status = MEND_OK})
mend__option_fault mend__option_refuse(mend_str given, const char *problem);

/* Whether a value is in the option's range; `given` stays for the sentence. Not for texts. */
mend__option_fault mend__option_check_range(const mend__option *option, mend__option_value value, mend_str given);
/* Reads one well-formed JSON value. A text option's value is the JSON itself, whose shape is another question. */
mend__option_fault mend__option_parse(const mend__option *option, mend_str json, mend__option_value *ret_value);
/* Whether well-formed JSON text has the shape of NAMES, LIMITS, MASKS or COUNTS. */
mend__option_fault mend__option_check_shape(const mend__option *option, mend_str json, const mend_allocator *allocator);
/* Fills in the sentence for a fault; `called` is the option's name or alias. */
mend_status mend__option_report(const mend__option *option, const char *called, mend__option_fault fault,
                                mend_error *error);

/* ---- A tree and its drafts ---- */

struct mend_option_tree {
  const mend_allocator *allocator;
  mend_options options;
  bool given[MEND__OPTIONS_COUNT];  /* by name: a mode does not change it */
  char *texts[MEND__OPTIONS_COUNT]; /* owned: what the text options point to */
};

/* A tree as it will be, but for the texts: these are the new ones alone. So an error leaves the tree as it was. */
typedef mend_option_tree mend__option_draft;

mend__option_draft mend__option_draft_of(const mend_option_tree *tree);
/* Sets an option, once a draft. `json` is one well-formed value without white space around it. */
mend__option_fault mend__option_draft_set(mend__option_draft *draft, const mend__option *option, mend_str json);
/* One of the two ends a draft. */
void mend__option_draft_commit(mend__option_draft *draft, mend_option_tree *tree);
void mend__option_draft_discard(mend__option_draft *draft);

/* Fills in MEND_ENOENT's sentence; nearest may be NULL. */
mend_status mend__option_report_unknown(mend_str name, const char *nearest, mend_error *error);

#endif
