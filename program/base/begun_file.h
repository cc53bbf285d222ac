/* A file that is worth nothing before it is whole: a signal that ends the program removes it first. */
#ifndef MEND_PROGRAM_BASE_BEGUN_FILE_H
#define MEND_PROGRAM_BASE_BEGUN_FILE_H

#include "mend/core.h"

/* The file at `path`, which is borrowed, was just made. From now on SIGINT, SIGTERM and SIGHUP remove it before they end
 * the program as ever; those that are ignored stay so, and a file that grows too large is an error of its writer. One
 * file at a time. MEND_EIO (errno kept). */
mend_status begun_file_guard(const char *path);
/* It is whole, or the caller removes it. */
void begun_file_release(void);

#endif
