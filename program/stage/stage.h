/* Where a recorded run is played again: a bus on a virtual clock, its runs watched as they were not when they happened.
 * A format reader moves the time, finds the run and publishes; everything else happens here. */
#ifndef MEND_PROGRAM_STAGE_STAGE_H
#define MEND_PROGRAM_STAGE_STAGE_H

#include "core/buffer.h"
#include "core/strmap.h"
#include "mend.h"
#include "program/stage/incident_numbers.h"
#include "program/stage/metered.h"
#include "program/stage/row_texts.h"
#include "program/stage/settings.h"

/* So many runs are remembered, and what is watched of them in so many bytes; beyond, the one whose last event is oldest
 * is forgotten. */
enum { STAGE_RUNS_MAX = 4096, STAGE_BYTES_MAX = 24 * 1024 * 1024 };

/* One run being played. */
typedef struct played_run played_run;

/* When a file begins. */
typedef struct stage_start {
  uint64_t wall_ns;    /* its first time */
  bool tells_progress; /* see format.h */
  bool any_order;      /* earlier ones may follow: time begins with what is played first, see stage_later.h */
} stage_start;

typedef struct stage {
  const replay_settings *settings;
  const char *name; /* of the file, for people */
  replay_counts counts;
  uint64_t row;       /* the row being played */
  uint64_t published; /* events so far */

  bool has_clock;
  bool tells_progress;       /* see format.h */
  bool any_order;            /* the file is in any order of time, */
  bool waiting;              /* and nothing of it was played yet */
  uint64_t start_ns, now_ns; /* wall time */
  uint64_t patience_ns;      /* calls may be silent for longer than the options say; 0: they may not */
  struct stage_later *later; /* NULL while there is nothing */
  mend_clock *clock;
  metered memory; /* of the bus */
  mend_bus *bus;
  mend_subscription *subscription;
  char default_run[256];

  mend__strmap runs;
  played_run *newest, *oldest; /* by their last event */
  struct open_call *spare_calls;
  mend_status failure; /* of a subscriber that was told of an event, or of making a text: it ends the file */

  const mend_tool_before_event *beginning; /* the call that is being published */
  incident_numbers incidents;
  replay_use used, saved; /* see replay_summary, like the following */
  replay_worst worst;
  tally by_detector, by_reason, recorded, unknown;

  void *state; /* of the format: see stage_state */
  void (*free_state)(void *state);
  row_texts texts;      /* unescaped strings of the row */
  mend__buffer scratch; /* for formats */
  mend__buffer excerpt; /* of the arguments of a call without an id */
  void *hash_scratch;
} stage;

/* Opens the stage. `start` is NULL when the file has no clock: nothing stalls then. */
mend_status stage_open(stage *on, const replay_settings *settings, const char *path, const stage_start *start,
                       mend_error *error);
void stage_close(stage *on);
/* After the last row: plays what was kept for later. */
mend_status stage_finish(stage *on);
/* To be called before each row. */
mend_status stage_begin_row(stage *on, uint64_t number, mend_str text);
/* Tells the reports of all runs, as they are at the end of the file, and sums up. Errors of reports. */
mend_status stage_sum_up(stage *on, replay_summary *ret_summary);

/* ---- For formats ------------------------------------------------------------------------------------------- */

/* The row's wall time: what was due before expires now. Time that runs backwards is clamped and counted. */
mend_status stage_at(stage *on, uint64_t wall_ns);
/* The same for what is played late itself (stage_later.h). */
mend_status stage_advance(stage *on, uint64_t wall_ns);

/* The row says that time passes, and no more. Errors of the settings' tick. */
mend_status stage_tick(const stage *on);

/* The row is played without a member that cannot be understood. */
mend_status stage_doubt(stage *on, const char *problem);

/* Finds or makes the run. Without an id in the options it is the file's own. MEND_EINVAL: that is no id. */
mend_status stage_run(stage *on, const mend_run_options *options, played_run **ret_run, mend_error *error);

/* The run of a row that is a whole conversation: the file's name and the row's number. */
mend_status stage_row_run(stage *on, played_run **ret_run, mend_error *error);

/* Publishes an event on a run, in the span that it names or, when it names none, its call's. */
mend_status stage_publish(stage *on, played_run *run, mend_event *event);
/* The same for a topic of one's own. */
mend_status stage_publish_custom(stage *on, played_run *run, mend_str topic, mend_str payload, mend_error *error);

/* What foreign formats publish, from texts: `arguments` and `result` are JSON; `id` and `tool` may be absent. */
mend_status stage_call(stage *on, played_run *run, mend_str id, mend_str tool, mend_str arguments);
mend_status stage_progress(stage *on, played_run *run, mend_str id, uint64_t bytes);
mend_status stage_result(stage *on, played_run *run, mend_str id, mend_str result);
mend_status stage_error(stage *on, played_run *run, mend_str id, mend_str message);
mend_status stage_cancelled(stage *on, played_run *run, mend_str id, mend_str reason);
mend_status stage_skipped(stage *on, played_run *run, mend_str id, mend_str reason);
mend_status stage_aborted(stage *on, played_run *run, mend_str id, mend_str reason);
/* Whether there is a call of this id that has not ended. */
bool stage_is_open(const played_run *run, mend_str id);
/* The beginning of the arguments of that call; absent when it is not open. */
mend_str stage_arguments(const played_run *run, mend_str id);
/* All calls that are open end: a person stopped them. */
mend_status stage_cancel_open(stage *on, played_run *run, mend_str reason);
mend_status stage_user_message(stage *on, played_run *run, mend_str text);
/* A call, or without an id the run, waits for a person; the run goes on. */
mend_status stage_wait(stage *on, played_run *run, mend_str id);
mend_status stage_go_on(stage *on, played_run *run);
/* The agent has stopped: until somebody speaks, nothing is expected of the run. */
mend_status stage_agent_end(stage *on, played_run *run);

/* What a model said, if anything; the model's name may be absent, as in the following. */
mend_status stage_model_text(stage *on, played_run *run, mend_str model, mend_str text);
/* A model that could not be asked. `type` may be absent, http_status 0. */
mend_status stage_model_error(stage *on, played_run *run, mend_str model, mend_str type, mend_str message,
                              uint64_t http_status);

/* What models used since it was told last; 0 where nothing is said. Cached input counts as input. */
typedef struct stage_tokens {
  mend_str model;
  uint64_t input, output;
  double cost_usd;
} stage_tokens;
mend_status stage_usage(stage *on, played_run *run, const stage_tokens *used);
/* The same told as a total that grows, of a message or of a whole session; what was told of the same one before does
 * not count again. A run remembers the last one. Without a name it is what stage_usage takes. */
mend_status stage_usage_so_far(stage *on, played_run *run, mend_str of, const stage_tokens *total);

/* The context was shortened; MEND_NONE for what is not known. */
mend_status stage_compact(stage *on, played_run *run, uint64_t before_tokens, uint64_t after_tokens);
/* How sure somebody is of a call's result, 0 to 1. */
mend_status stage_reading(stage *on, played_run *run, mend_str id, mend_str source, double confidence);

/* The text of a JSON string of the row, unescaped; absent for a value of another kind. Valid until the next row. */
mend_str stage_text(stage *on, mend_str json_string);
/* The JSON that a JSON string of the row holds, when that is well-formed; else the value itself. */
mend_str stage_nested_json(stage *on, mend_str value);

/* Text given as a string, or as the first text among parts, which may be plain strings. Absent when there is none. */
mend_str stage_content_text(stage *on, mend_str content);

/* The JSON object without the members of these names, ended by NULL; in `scratch` when it has any. */
mend_str stage_without(stage *on, mend_str object, const char *const *names);

/* What the format remembers between rows: `size` bytes, zeros at first; freed with the stage, after `free_inside`,
 * which may be NULL. NULL when out of memory. */
void *stage_state(stage *on, size_t size, void (*free_inside)(void *state));

#endif
