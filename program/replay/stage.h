/* Where a recorded run is played again: a bus on a virtual clock, its runs watched as they were not when they happened.
 * A format reader moves the time, finds the run and publishes; everything else happens here. */
#ifndef MEND_PROGRAM_REPLAY_STAGE_H
#define MEND_PROGRAM_REPLAY_STAGE_H

#include "core/buffer.h"
#include "core/strmap.h"
#include "mend.h"
#include "program/replay/report.h"

/* So many runs are remembered; beyond, the one whose last event is oldest is forgotten. */
enum { STAGE_RUNS_MAX = 100000 };

/* One run being played. */
typedef struct played_run played_run;

typedef struct stage {
  const replay_settings *settings;
  replay_counts counts;
  uint64_t row; /* the row being played */

  bool has_clock;
  uint64_t start_ns, now_ns; /* wall time */
  mend_clock *clock;
  mend_bus *bus;
  mend_subscription *subscription;
  char default_run[256];

  mend__strmap runs;
  played_run *newest, *oldest; /* by their last event */
  struct open_call *spare_calls;
  mend_status failure; /* of the report, while it was told of a detection */

  const mend_tool_before_event *beginning; /* the call that is being published */
  tally recorded, unknown;                 /* see replay_summary */

  uint64_t unnamed_calls; /* for a format whose calls have no ids: how many there were */
  mend__buffer text;      /* unescaped strings of the row; each byte of a row is unescaped once at most */
  mend__buffer scratch;   /* for formats */
  mend__buffer excerpt;   /* of the arguments of a call without an id */
  void *hash_scratch;
} stage;

/* Opens the stage. start_ns is the first wall time of the file, NULL when it has no clock: nothing stalls then. */
mend_status stage_open(stage *on, const replay_settings *settings, const char *path, const uint64_t *start_ns,
                       mend_error *error);
void stage_close(stage *on);
/* To be called before each row. */
mend_status stage_begin_row(stage *on, uint64_t number, mend_str text);
/* Counts the calls that are open now and describes the first of them. */
void stage_list_unfinished(stage *on, replay_summary *summary);

/* ---- For formats ------------------------------------------------------------------------------------------- */

/* The row's wall time: what was due before expires now. Time that runs backwards is clamped and counted. */
mend_status stage_at(stage *on, uint64_t wall_ns);

/* The row is played without a member that cannot be understood. */
mend_status stage_doubt(stage *on, const char *problem);

/* Finds or makes the run. Without an id in the options it is the file's own. MEND_EINVAL: that is no id. */
mend_status stage_run(stage *on, const mend_run_options *options, played_run **ret_run, mend_error *error);

/* Publishes an event on a run, in the span that it names or, when it names none, its call's. */
mend_status stage_publish(stage *on, played_run *run, mend_event *event);
/* The same for a topic of one's own. */
mend_status stage_publish_custom(stage *on, played_run *run, mend_str topic, mend_str payload, mend_error *error);

/* What foreign formats publish, from texts: `arguments` and `result` are JSON; `id` and `tool` may be absent. */
mend_status stage_call(stage *on, played_run *run, mend_str id, mend_str tool, mend_str arguments);
mend_status stage_result(stage *on, played_run *run, mend_str id, mend_str result);
mend_status stage_error(stage *on, played_run *run, mend_str id, mend_str message);
mend_status stage_user_message(stage *on, played_run *run, mend_str text);

/* The text of a JSON string of the row, unescaped; absent for a value of another kind. Valid until the next row. */
mend_str stage_text(stage *on, mend_str json_string);

#endif
