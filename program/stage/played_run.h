/* One run being played, as the stage knows it: its open calls, what it answered, and the loops that are counted on. */
#ifndef MEND_PROGRAM_STAGE_PLAYED_RUN_H
#define MEND_PROGRAM_STAGE_PLAYED_RUN_H

#include "program/stage/answers.h"
#include "program/stage/calls.h"
#include "program/stage/run_record.h"
#include "program/stage/stage.h"

/* A pair that was reported as a loop and is counted on; a report asks for a limited number of them. */
typedef struct followed_pair {
  pair_key key;
  uint64_t incident;
} followed_pair;

struct played_run {
  played_run *newer, *older;
  mend_run *run;
  mend_watch *watch;
  mend_detection_cursor cursor;
  open_calls calls;
  mend__strmap followed; /* by their pair_key */
  answers answers;
  stage_tokens used; /* see stage_usage_so_far: the total of `used_of` that was told */
  mend_hash used_of;
  open_call *unnamed; /* the open call without an id that began last */
  run_record record;
};

pair_key pair_of(const mend_tool_before_event *call);
pair_key pair_of_open(const open_call *call);

/* The pair of the call when it is counted on, or NULL. */
followed_pair *played_run_followed(const played_run *run, const mend_tool_before_event *call);
/* Counts on from here, unless it does so already. MEND_ENOMEM. */
mend_status played_run_follow(played_run *run, const mend_tool_before_event *call, uint64_t incident);

void played_run_free(stage *on, played_run *run);

#endif
