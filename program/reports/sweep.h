/* --sweep: what would have been detected with other options, for tuning: a grid of settings, and how it is told. */
#ifndef MEND_PROGRAM_REPORTS_SWEEP_H
#define MEND_PROGRAM_REPORTS_SWEEP_H

#include "core/buffer.h"
#include "mend.h"
#include "program/reports/tally.h"

/* So many options may vary, over so many values each and settings in all. */
enum { SWEEP_AXES_MAX = 4, SWEEP_VALUES_MAX = 1000, SWEEP_SETTINGS_MAX = 10000 };

/* An option and the values it takes. */
typedef struct sweep_axis {
  mend_str name;
  mend_str *values; /* as --set wants them */
  size_t count;
} sweep_axis;

/* What was found with one setting, over all files. */
typedef struct sweep_cell {
  bool left_out;             /* the options contradict each other, as loop.n <= loop.k do */
  uint64_t incidents, files; /* and in how many files there were any */
  tally reasons;
} sweep_cell;

/* The settings are numbered with the last axis running fastest. */
typedef struct sweep {
  sweep_axis axes[SWEEP_AXES_MAX];
  size_t axis_count;
  sweep_cell *cells;
  size_t cell_count;
  mend__buffer texts; /* holds names and values */
} sweep;

/* "loop.k=2..6,stall.timeout_s=30..120:30,mode=seed/evidence": ranges with a step, which is 1 unless it is given, or
 * values one by one. MEND_EINVAL, MEND_ENOENT for an option that does not exist, MEND_ELIMIT for too many settings,
 * MEND_ENOMEM; the sentence names the part. sweep_free is allowed after each. */
mend_status sweep_parse(sweep *of, const char *text, mend_error *error);
void sweep_free(sweep *of);

/* Whether the option is one of those that vary. */
bool sweep_varies(const sweep *of, mend_str name);
/* Which value of an axis a setting has. */
size_t sweep_index(const sweep *of, size_t setting, size_t axis);
/* The options of a setting: those of `base`, and on top of them the setting's. The caller frees the tree. MEND_EINVAL
 * when they contradict each other. */
mend_status sweep_options(const sweep *of, size_t setting, const mend_options *base, mend_option_tree **ret_tree,
                          mend_error *error);

/* The setting that comes to the same options as `watch`; cell_count when none does. */
size_t sweep_find(const sweep *of, const mend_options *watch);

/* A table for people: the last two axes as rows and columns, one table for each setting of the others. The setting of
 * `watch` is marked, and named at the end. */
void sweep_write_tables(const sweep *of, const mend_options *watch, mend__buffer *page);
/* One JSON object a setting, a line each. */
void sweep_write_json(const sweep *of, mend__buffer *page);

#endif
