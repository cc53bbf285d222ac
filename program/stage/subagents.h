/* Tools that start an agent. What it does is often told in another file, so that for as long as it works the call is
 * silent in this one. */
#ifndef MEND_PROGRAM_STAGE_SUBAGENTS_H
#define MEND_PROGRAM_STAGE_SUBAGENTS_H

#include "core/buffer.h"
#include "mend.h"

/* Writes what stall.tool_timeout_s is to be: for those tools as long as any call may be open, except where
 * it says something of them already. MEND_ENOMEM. */
mend_status subagents_write_limits(const mend_stall_watchdog_options *stall, mend__buffer *limits);

#endif
