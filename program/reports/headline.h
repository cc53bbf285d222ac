/* A run in one sentence. */
#ifndef MEND_PROGRAM_REPORTS_HEADLINE_H
#define MEND_PROGRAM_REPORTS_HEADLINE_H

#include "core/buffer.h"
#include "program/reports/facts.h"

/* "12 of 40 calls went round in a circle: bash; 1 call hung for 5 min: build", "all is well: 40 calls, 3 min", or "ends
 * in the middle of bash, open since 09:06:02: 40 calls, 3 min"; plain text without a full stop. */
void headline_write(mend__buffer *line, const replay_run *run);
/* "ends in the middle of bash, open since 09:06:02", of the call that began last; since 0: there is no clock. */
void headline_write_open(mend__buffer *line, mend_str tool, uint64_t unfinished, uint64_t since_ns);
/* "6 calls, 1,200 tokens, 0.02 USD and 6 min": what is not nothing; "nothing" when all is. */
void headline_write_use(mend__buffer *line, const replay_use *use);

#endif
