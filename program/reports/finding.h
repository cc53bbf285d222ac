/* What is said of a detection, as plain text, wherever it is said. */
#ifndef MEND_PROGRAM_REPORTS_FINDING_H
#define MEND_PROGRAM_REPORTS_FINDING_H

#include "core/buffer.h"
#include "program/reports/facts.h"

/* "09:01:33, 1 min 33 s after the start, before line 36" */
void finding_write_when(mend__buffer *line, const replay_file *file, const replay_detection *found);
/* "tool_idle, severity 0.50, elapsed_s 70": without what is said of the call. */
void finding_write_evidence(mend__buffer *line, const mend_detection *detection);
/* What the detector saw: objects a line each, and the rest together in one; a line feed behind each. */
void finding_write_pieces(mend__buffer *lines, mend_str evidence);
/* "would have aborted the run" */
const char *finding_would(mend_action_kind action);
/* The same with its reason. */
void finding_write_policy(mend__buffer *line, const replay_detection *found);

#endif
