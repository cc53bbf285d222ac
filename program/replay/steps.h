/* The calls of a recording, kept to be compared: what was called, and what came of it. */
#ifndef MEND_PROGRAM_REPLAY_STEPS_H
#define MEND_PROGRAM_REPLAY_STEPS_H

#include "core/buffer.h"
#include "core/strmap.h"
#include "mend.h"

/* So many calls and runs of a file are kept, and so many characters of arguments and answers of each call. */
enum { STEPS_MAX = 200000, STEP_RUNS_MAX = 65536, STEP_TEXT_MAX = 200 };

/* What texts are compared by: of some only the exact hash was recorded. */
typedef struct step_hash {
  mend_hash exact;
  mend_hash loose; /* times and ids masked; the exact one where they count; none: unknown */
} step_hash;

/* A call. Its texts are in the list's block. */
typedef struct step {
  uint64_t call;             /* its number; 0 for none */
  step_hash key;             /* of tool and arguments */
  step_hash answer;          /* of how it ended and with what; none: it did not end */
  uint64_t row;              /* where it began */
  mend_event_kind end;       /* MEND_EVENT_TOOL_AFTER, _ERROR, ...; MEND_EVENT_CUSTOM: it did not end */
  size_t tool, args, result; /* where its texts begin in `texts`, each with a NUL behind */
} step;

typedef struct step_run {
  char *id;
  step *steps;
  size_t count, capacity;
  size_t first_open; /* steps before have ended */
} step_run;

typedef struct step_list {
  bool exact;          /* times and ids tell calls apart; else they are masked */
  const uint64_t *row; /* of the reader, where it is; borrowed */
  step_run **runs;     /* in the order they began */
  size_t count, capacity;
  mend__strmap by_id;
  mend__buffer texts;
  void *hash_scratch;
  uint64_t kept, dropped; /* calls */
} step_list;

/* MEND_ENOMEM; step_list_free is allowed then too. */
mend_status step_list_init(step_list *list, bool exact);
void step_list_free(step_list *list);
/* Takes an event, of which those of tools count. MEND_ENOMEM. */
mend_status step_list_event(void *list, const mend_event *event);
const char *step_text(const step_list *list, size_t text);
/* By their loose hashes where both are known, else by the exact ones. */
bool step_hash_equal(step_hash a, step_hash b);
/* Whether they were compared by what the recordings' texts mean, and not by exact hashes only. */
bool step_hash_comparable(step_hash a, step_hash b);

#endif
