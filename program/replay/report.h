/* What a replay found, and whom it tells. */
#ifndef MEND_PROGRAM_REPLAY_REPORT_H
#define MEND_PROGRAM_REPLAY_REPORT_H

#include "mend.h"
#include "program/replay/tally.h"

#include <stdio.h>

/* The file being replayed. */
typedef struct replay_file {
  const char *path;
  const char *name;   /* the path for people */
  const char *format; /* its format's short name */
  const char *title;  /* its format's name for people */
  const char *row;    /* "line" or "element" */
  bool has_clock;
} replay_file;

/* What a call returned, or why it failed. */
typedef struct replay_answer {
  mend_str id;    /* the call's, absent for none */
  mend_str value; /* absent: there is nothing to tell; the end of what is cut is "..." */
  bool failed;
  bool is_json; /* else it is plain text */
  bool cut;
} replay_answer;

typedef struct replay_detection {
  const mend_detection *detection;
  mend_action action;   /* what the default policy would have done */
  uint64_t row;         /* the line or element that was being played */
  uint64_t ts_ns;       /* its wall time, */
  uint64_t start_ns;    /* and the file's first */
  mend_str call_id;     /* the call it names, absent for none */
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

typedef struct replay_counts {
  uint64_t rows, broken, derived;
  uint64_t runs, calls, results;
  uint64_t runs_forgotten;       /* because there were too many */
  uint64_t open_calls_dropped;   /* begun while too many were open in their run */
  uint64_t results_without_call; /* among the results */
  uint64_t unfinished;
  uint64_t detections;
  uint64_t detections_lost; /* left a log of 256 before they were read */
  uint64_t backwards;       /* times that ran backwards */
  uint64_t ignored_members; /* of the wrong type, in a journal */
  uint64_t doubted;         /* rows with such members */
  uint64_t calls_without_id, calls_without_args;
  uint64_t readings_unused; /* of confidence, while nobody watches it */
  uint64_t late_times;      /* times that came after the file had been taken for one without a clock */
} replay_counts;

/* A call that was still open at the end of the file. */
typedef struct replay_open_call {
  char id[64], tool[64], run[64];
  uint64_t row, since_ns;
  uint64_t incident; /* under which it was reported as a stall, 0 for none */
} replay_open_call;
enum { REPLAY_OPEN_CALLS_SHOWN = 5 };

typedef struct replay_summary {
  replay_counts counts;
  uint64_t start_ns, end_ns; /* wall times of the first and the last row that has one */
  replay_open_call open[REPLAY_OPEN_CALLS_SHOWN];
  size_t open_count;
  tally recorded; /* detections that a journal's derived lines tell of, by detector */
  tally unknown;  /* members that calls without arguments had instead */
  bool interrupted;
} replay_summary;

/* All files together. */
typedef struct replay_totals {
  uint64_t files, unreadable;
} replay_totals;

/* A reader of reports. First any number of remarks. Then for each file begin, any number of broken, doubt and detection
 * in the order of the file, and end. At last finish. An error ends the replay: MEND_ENOMEM, or MEND_ECLOSED when what
 * is told cannot be written any more. */
typedef struct report {
  /* A sentence about the replay, without a full stop. */
  mend_status (*remark)(struct report *to, mend_str sentence);
  mend_status (*begin)(struct report *to, const replay_file *file);
  mend_status (*broken)(struct report *to, uint64_t row, const char *problem);
  /* A row that was played without a member that could not be understood. */
  mend_status (*doubt)(struct report *to, uint64_t row, const char *problem);
  /* ret_incident: a number from 1 under which the report wants to be told how it went on; 0 when it does not. */
  mend_status (*detection)(struct report *to, const replay_detection *found, uint64_t *ret_incident);
  /* A call of the incident ended. Called only with numbers from `detection`, like the next one. */
  void (*ended)(struct report *to, uint64_t incident, const replay_ending *ending);
  /* The call of the incident was made once more. */
  void (*repeated)(struct report *to, uint64_t incident, uint64_t row);
  mend_status (*end)(struct report *to, const replay_summary *summary);
  mend_status (*finish)(struct report *to, const replay_totals *totals);
  void (*free)(struct report *to);
} report;

/* One JSON object a detection on `out`; broken rows and, if wanted, one object of counts a file on `notes`. NULL when
 * out of memory. */
report *report_json_new(FILE *out, FILE *notes, bool counts);
/* For people, in lines of `width` columns. `several`: of files in which all is well it tells in one line, and at last
 * how many files there were. */
report *report_text_new(FILE *out, bool colour, size_t width, bool several);

typedef struct replay_settings {
  const mend_options *watch;
  size_t content_bytes; /* how much of arguments and results is kept for the report */
  report *report;
  bool progress; /* on standard error */
} replay_settings;

#endif
