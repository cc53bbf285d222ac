/* Private to stage*.c and played_run.c: what happens to calls and runs, and what is found. */
#ifndef MEND_PROGRAM_STAGE_STAGE_INTERNAL_H
#define MEND_PROGRAM_STAGE_STAGE_INTERNAL_H

#include "program/stage/played_run.h"

/* Before its event is published, and after. */
mend_status stage_begin_call(stage *on, played_run *run, const mend_tool_before_event *event);
mend_status stage_end_call(stage *on, played_run *run, const mend_event *event);
/* Usage that is told without costs gets them where prices are known. */
mend_status stage_note_usage(stage *on, played_run *run, mend_model_usage_event *event);
mend_status stage_note_reading(stage *on, const played_run *run, const mend_confidence_event *event);

/* Tells the reports of the run's open calls, and of the run as a whole. */
mend_status stage_tell_end(stage *on, played_run *run);

/* The handler of healing.detection; `ctx` is the stage. */
mend_status stage_hear_detection(void *ctx, const mend_event *event);

#endif
