/* mend replay: one recorded file, played again on a virtual clock. */
#ifndef MEND_PROGRAM_REPLAY_REPLAY_H
#define MEND_PROGRAM_REPLAY_REPLAY_H

#include "core/buffer.h"
#include "program/replay/report.h"

/* Plays a file ("-" is standard input) and tells settings->report. `failure` receives sentences when it cannot be read,
 * the first without a prefix, others on lines of their own. ret_detections is written also when reading fails half-way.
 * MEND_OK; MEND_EINVAL when it is no recorded run; MEND_EIO, MEND_ENOENT, MEND_ENOMEM. */
mend_status replay_play(const char *path, const replay_settings *settings, uint64_t *ret_detections,
                        mend__buffer *failure);

#endif
