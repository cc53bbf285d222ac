/* What a file tells before its turn: a span says how a call ended where it says how it began, and spans are written
 * when they end, not when they begin. It is kept by its time and played when the stage's clock gets there; what is
 * still kept after the last row is played then.
 *
 * Memory is bounded: beyond STAGE_LATER_BYTES the earliest is played at once. A file in any order is therefore played
 * in order of time as far as what is out of order lies within so many bytes; beyond, time runs backwards, which the
 * stage clamps and counts.
 *
 * Of a file in any order, each run is over with the last moment that is kept of it (agent.end, unless it says so
 * itself): that it says no more is no silence, as others of the file go on. */
#ifndef MEND_PROGRAM_STAGE_STAGE_LATER_H
#define MEND_PROGRAM_STAGE_STAGE_LATER_H

#include "program/stage/stage_moment.h"

#define STAGE_LATER_BYTES ((size_t)16 * 1024 * 1024)

/* Keeps a copy, or plays it at once when the file has no clock. Those of one time are played in the order in which they
 * came. MEND_EINVAL: the run's id is none, and `error` says so. */
mend_status stage_later(stage *on, const stage_moment *moment, mend_error *error);

/* For the stage: plays what is kept up to a time, as part of the rows that told it. */
mend_status stage_later_play(stage *on, uint64_t until_ns);
void stage_later_free(stage *on);

#endif
