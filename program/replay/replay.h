/* mend replay: one recorded file, played again on a virtual clock. */
#ifndef MEND_PROGRAM_REPLAY_REPLAY_H
#define MEND_PROGRAM_REPLAY_REPLAY_H

#include "core/buffer.h"
#include "program/stage/settings.h"

/* Plays a file ("-" is standard input) and tells settings->reports. `failure` receives sentences when it cannot be
 * read, each on a line of its own. ret_summary is written in any case: reading may fail half-way. MEND_OK; MEND_EINVAL
 * when it is no recorded run, MEND_ENOENT when it is empty or not there; MEND_EIO, MEND_ENOMEM, MEND_ECLOSED (see
 * report.h). */
mend_status replay_play(const char *path, const replay_settings *settings, replay_summary *ret_summary,
                        mend__buffer *failure);

#endif
