/* A boundary to torture: t->own, with tools of every kind. */
#ifndef MEND_TESTS_TORTURE_BOUNDARY_H
#define MEND_TESTS_TORTURE_BOUNDARY_H

#include "mend/flows.h"
#include "torture/torture.h"

/* What a call is given, and what "search" (blocking), "search again" (likewise), "early" (asynchronous, answers at
 * once) and "pooled" find, each counting t->events. "fail" fails. "later" keeps its call in t->more for the
 * scenario. */
#define ARGUMENTS MEND_STR("{\"q\": \"rain\", \"limit\": 3}")
#define FOUND MEND_STR("{\"found\": [1, 2, 3]}")

/* On the bus that is open. A hook is added fail_closed, so that what it wants to prevent does not happen for want of
 * memory, and called with t as its ctx; NULL for none. */
mend_status boundary_make(torture *t, const mend_hook *hook);
/* The same for a scenario's prepare, with the bus. */
void boundary_open(torture *t, const mend_hook *hook);
void boundary_open_plainly(torture *t);
/* Also the bus; for a scenario's finish, and after a boundary_make that failed. */
void boundary_close(torture *t);

/* A call of `tool` that is to end as `outcome`, with FOUND. When a hook without memory has aborted the run it is
 * reset, so that it can be called again. */
mend_status boundary_call(torture *t, const char *tool, mend_outcome outcome);

#endif
