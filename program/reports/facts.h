/* What a replay knows and finds, as reports are told of it. Texts are borrowed for the duration of the call. */
#ifndef MEND_PROGRAM_REPORTS_FACTS_H
#define MEND_PROGRAM_REPORTS_FACTS_H

#include "mend.h"
#include "program/reports/tally.h"

/* The file being replayed. */
typedef struct replay_file {
  const char *path;
  const char *name;   /* the path for people */
  const char *format; /* its format's short name */
  const char *title;  /* its format's name for people */
  const char *row;    /* "line" or "element" */
  bool has_clock;     /* else all times are 0 */
} replay_file;

/* So many open calls of a run are remembered, as many as the watchdogs watch, and so many incidents of a file are told
 * apart; further ones are counted. */
enum { OPEN_CALLS_MAX = 65536, INCIDENTS_MAX = 1000 };

/* ---- Calls, readings, usage -------------------------------------------------------------------------------- */

/* What a call returned, or why it failed. */
typedef struct replay_answer {
  mend_str id;    /* the call's, absent for none */
  mend_str value; /* absent: there is nothing to tell; the end of what is cut is "..." */
  bool failed;
  bool is_json; /* else it is plain text */
  bool cut;
} replay_answer;

/* A call that is over, or that was still open when nothing more could come of it. */
typedef struct replay_call {
  mend_str run_id, parent_run_id; /* absent: no parent */
  mend_str id, tool;              /* absent: it has none */
  mend_str args;                  /* JSON text, cut when it is long */
  uint64_t row, start_ns;         /* where it began; times are wall times */
  uint64_t end_row, end_ns;       /* where it ended; of an unfinished one, where its run's last event is */
  bool finished;
  mend_event_kind how;  /* of a finished one: MEND_EVENT_TOOL_AFTER, _ERROR, _SKIPPED, _ABORTED or _CANCELLED */
  uint64_t incident;    /* under which it was reported as a stall, 0 for none */
  replay_answer answer; /* of a finished one */
} replay_call;

/* A reading of confidence. */
typedef struct replay_reading {
  mend_str run_id, call_id, tool, source;
  double confidence;
  uint64_t row, ts_ns;
} replay_reading;

/* What a model used; 0 for what is not known. */
typedef struct replay_usage {
  mend_str run_id, model;
  uint64_t tokens, input_tokens, output_tokens;
  double cost_usd;
  uint64_t row, ts_ns;
} replay_usage;

/* ---- Detections -------------------------------------------------------------------------------------------- */

typedef struct replay_detection {
  const mend_detection *detection;
  uint64_t incident;    /* number in the file, from 1; detections of one trouble have one number. 0: too many */
  bool again;           /* not the first of its incident */
  bool fails;           /* it is one of those that decide about the exit status */
  mend_action action;   /* what the ladder and the default policy would have done */
  uint64_t row;         /* the line or element that was being played */
  uint64_t ts_ns;       /* its wall time, */
  uint64_t start_ns;    /* and the file's first */
  mend_str call_id;     /* the call it names, absent for none */
  mend_str tool;        /* that call's, else the detection's own */
  mend_hash args_hash;  /* of that call, while it is open */
  mend_str args;        /* likewise; JSON text, cut when it is long */
  replay_answer answer; /* of the last equal call that ended, for what an event and no deadline completed */
} replay_detection;

/* How a call that was reported ended after all. */
typedef struct replay_ending {
  mend_event_kind how; /* MEND_EVENT_TOOL_AFTER, _ERROR, _SKIPPED, _ABORTED or _CANCELLED */
  uint64_t row;
  uint64_t open_ns; /* how long it was open */
} replay_ending;

/* ---- Runs -------------------------------------------------------------------------------------------------- */

/* An amount of work: what a run did, or what would have been saved of it. */
typedef struct replay_use {
  uint64_t calls, tokens;
  double cost_usd;
  uint64_t ns;
} replay_use;

typedef enum replay_kind {
  REPLAY_LOOP,
  REPLAY_STALL,
  REPLAY_REGRESSION,
  REPLAY_BUDGET,
  REPLAY_OTHER,
  REPLAY_KINDS
} replay_kind;
replay_kind replay_kind_of(const mend_detection *detection);
/* Whether it is about one call that was made again and again. */
bool replay_is_repeat(const mend_detection *detection);

/* What was found of one kind in a run. */
typedef struct replay_trouble {
  uint64_t incidents;
  uint64_t calls;      /* that took part, as far as is known */
  uint64_t longest_ns; /* how long a call that hung was open at most; 0 when none ended */
  char tool[64];       /* of the incident with most calls; "" for none */
  char reason[32];     /* likewise */
  bool other_tools;    /* not all incidents are of that tool */
} replay_trouble;

/* Where a run would have ended: the first detection that the policy acts on. */
typedef struct replay_stop {
  uint64_t row, at_ns; /* row 0: nowhere */
  mend_action_kind action;
} replay_stop;

/* A run as a whole. Of one that begins, only the first three are set, and its first row and time. */
typedef struct replay_run {
  mend_str id, parent_id, agent; /* absent: none */
  uint64_t first_row, last_row;
  uint64_t start_ns, end_ns; /* wall times of its first and last event */
  replay_use used;
  uint64_t results, unfinished, detections, incidents;
  mend_str open_tool;             /* of the unfinished call that began last, */
  uint64_t open_row, open_ns;     /* and where and when it began */
  uint64_t failing;               /* detections that decide about the exit status */
  const replay_trouble *troubles; /* one a kind; NULL when nothing was detected */
  replay_stop stop;
  replay_use saved; /* what came after the stop */
} replay_run;

/* ---- The file ---------------------------------------------------------------------------------------------- */

typedef struct replay_counts {
  uint64_t rows, broken, derived;
  uint64_t runs, calls, results;
  uint64_t runs_forgotten;       /* because there were too many */
  uint64_t open_calls_dropped;   /* begun while too many were open in their run */
  uint64_t results_without_call; /* among the results */
  uint64_t unfinished;
  uint64_t runs_open; /* that end with unfinished calls */
  uint64_t detections;
  uint64_t failing;         /* of them decide about the exit status */
  uint64_t incidents;       /* what the detections are about; not told apart beyond INCIDENTS_MAX */
  uint64_t detections_lost; /* left a log of 256 before they were read */
  uint64_t runs_stopped;    /* that the policy would have ended */
  uint64_t backwards;       /* times that ran backwards */
  uint64_t ignored_members; /* of the wrong type, in a journal */
  uint64_t doubted;         /* rows with such members */
  uint64_t calls_without_id, calls_without_args;
  uint64_t readings_unused; /* of confidence, while nobody watches it */
  uint64_t priced;          /* usages whose cost the table of prices told */
  uint64_t slow_calls;      /* took longer than stall.timeout_s, which does not hold for this kind of recording */
  uint64_t late_times;      /* times that came after the file had been taken for one without a clock */
} replay_counts;

/* A call that was still open at the end of the file. */
typedef struct replay_open_call {
  char id[64], tool[64], run[64];
  uint64_t row, since_ns;
  uint64_t incident; /* under which it was reported as a stall, 0 for none */
} replay_open_call;
enum { REPLAY_OPEN_CALLS_SHOWN = 5 };

/* The runs in which most was lost. */
enum { REPLAY_WORST_SHOWN = 5 };
typedef struct replay_worst {
  struct {
    const char *file; /* for people */
    char run[64];
    char headline[200]; /* plain text */
    uint64_t incidents;
    replay_use saved;
  } runs[REPLAY_WORST_SHOWN]; /* the worst first */
  size_t count;
} replay_worst;

typedef struct replay_summary {
  replay_counts counts;
  replay_use used, saved;    /* of all runs */
  uint64_t start_ns, end_ns; /* wall times of the first and the last row that has one */
  replay_open_call open[REPLAY_OPEN_CALLS_SHOWN];
  size_t open_count;
  replay_open_call last_open; /* of the last run with open calls the one that began last */
  replay_worst worst;
  tally by_detector; /* detections */
  tally by_reason;   /* incidents, as "loop repeat" */
  tally recorded;    /* detections that a journal's derived lines tell of, by detector */
  tally unknown;     /* members that calls without arguments had instead */
  bool interrupted;
} replay_summary;

/* ---- All files together ------------------------------------------------------------------------------------ */

typedef struct replay_totals {
  uint64_t files;       /* that were looked at; among them */
  uint64_t unreadable;  /* those that could not be read or were named and no transcripts, */
  uint64_t passed_over; /* those found in folders that are no transcripts, */
  uint64_t troubled;    /* and those with detections */
  uint64_t runs, calls, detections, failing, incidents, runs_stopped, runs_open, priced;
  tally files_by_detector; /* in how many files each found something */
  tally by_reason;         /* incidents */
  replay_use used, saved;
  replay_worst worst;
} replay_totals;

#endif
