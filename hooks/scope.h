/* House header: what a healing scope needs of a boundary beside mend/hooks.h. */
#ifndef MEND_HOOKS_SCOPE_H
#define MEND_HOOKS_SCOPE_H

#include "mend/flows.h"

/* From here on calls through this boundary are refused with MEND_ECLOSED; nothing is published for them. */
void mend__boundary_close(mend_boundary *boundary);
/* Cancels the tokens of the calls that are open on this boundary and waits up to grace_ns for those of other threads,
 * and for tools that run on after their calls, to end: on the bus's clock, and if that is a virtual one until the grace
 * has passed there or in real time. Returns how many of both still run, the calling thread's own included: they are let
 * go of, and their calls and tokens live on as long as they need. */
size_t mend__boundary_drain(mend_boundary *boundary, mend_str reason, uint64_t grace_ns);
/* Lets every watchdog hook of the boundary decide about what is pending now; what they decide takes effect as it would
 * between calls. */
void mend__boundary_settle(mend_boundary *boundary);
/* Removes the boundary's watchdog hooks, and waits for a policy of theirs that another thread is asking: its ctx may be
 * the scope's. */
void mend__boundary_end_policies(mend_boundary *boundary);

#endif
