/* Times as ISO 8601 writes them. */
#ifndef MEND_PROGRAM_TRANSCRIPTS_ISO_TIME_H
#define MEND_PROGRAM_TRANSCRIPTS_ISO_TIME_H

#include "mend/core.h"

/* 2026-01-02T03:04:05.678Z as nanoseconds since 1970: a `T`, `t` or blank between date and time; any number of decimals
 * (those after the ninth are cut); Z, +hh, +hhmm, +hh:mm or nothing, which is UTC. Years 1970 to 2262. False for
 * anything else, and *ret_ns is then unchanged. */
bool iso_time_read(mend_str text, uint64_t *ret_ns);

#endif
