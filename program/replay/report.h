/* What a replay found, and whom it tells. */
#ifndef MEND_PROGRAM_REPLAY_REPORT_H
#define MEND_PROGRAM_REPLAY_REPORT_H

#include "mend.h"

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

typedef struct replay_detection {
  const mend_detection *detection;
  mend_action action;  /* what the default policy would have done */
  uint64_t row;        /* the line or element that was being played */
  uint64_t ts_ns;      /* its wall time, */
  uint64_t start_ns;   /* and the file's first */
  mend_str call_id;    /* the call it names, absent for none */
  mend_hash args_hash; /* of that call, while it is open */
  mend_str args;       /* likewise; JSON text, cut when it is long */
  mend_str answer;     /* what the run's last call that ended returned; JSON text, or plain text when it failed */
  mend_str answer_id;  /* that call */
  bool answer_failed;
} replay_detection;

typedef struct replay_counts {
  uint64_t rows, broken, derived;
  uint64_t runs, calls, results;
  uint64_t results_without_call; /* among the results */
  uint64_t unfinished;
  uint64_t detections;
  uint64_t detections_lost; /* left a log of 256 before they were read */
  uint64_t backwards;       /* times that ran backwards */
  uint64_t ignored_members; /* of the wrong type, in a journal */
  uint64_t readings_unused; /* of confidence, while nobody watches it */
  uint64_t late_times;      /* times that came after the file had been taken for one without a clock */
} replay_counts;

/* A call that was still open at the end of the file. */
typedef struct replay_open_call {
  char id[64], tool[64], run[64];
  uint64_t row, since_ns;
} replay_open_call;
enum { REPLAY_OPEN_CALLS_SHOWN = 5 };

typedef struct replay_summary {
  replay_counts counts;
  uint64_t start_ns, end_ns; /* wall times of the first and the last row that has one */
  replay_open_call open[REPLAY_OPEN_CALLS_SHOWN];
  size_t open_count;
} replay_summary;

/* A reader of reports. For each file: begin, then any number of broken and detection in the order of the file, then end.
 * An error ends the replay: MEND_ENOMEM, or MEND_ECLOSED when what is told cannot be written any more. */
typedef struct report {
  mend_status (*begin)(struct report *to, const replay_file *file);
  mend_status (*broken)(struct report *to, uint64_t row, const char *problem);
  mend_status (*detection)(struct report *to, const replay_detection *found);
  mend_status (*end)(struct report *to, const replay_summary *summary);
  void (*free)(struct report *to);
} report;

/* One JSON object a detection on `out`; broken rows and, if wanted, one object of counts a file on `notes`. NULL when out of
 * memory. */
report *report_json_new(FILE *out, FILE *notes, bool counts);
/* For people. */
report *report_text_new(FILE *out, bool colour);

typedef struct replay_settings {
  const mend_options *watch;
  size_t content_bytes; /* how much of arguments and results is kept for the report */
  report *report;
  bool progress; /* on standard error */
} replay_settings;

#endif
