/* A run in one sentence. */
#ifndef MEND_PROGRAM_REPORTS_HEADLINE_H
#define MEND_PROGRAM_REPORTS_HEADLINE_H

#include "core/buffer.h"
#include "program/reports/facts.h"

/* "12 of 40 calls went round in a circle: bash; 1 call hung for 5 min: build", or "all is well: 40 calls, 3 min"; plain
 * text without a full stop. */
void headline_write(mend__buffer *line, const replay_run *run);
/* "6 calls, 1,200 tokens, 0.02 USD and 6 min": what is not nothing; "nothing" when all is. */
void headline_write_use(mend__buffer *line, const replay_use *use);

#endif
