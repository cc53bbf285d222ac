/* A file that is worth nothing before it is whole: a signal that ends the program removes it first. */
#ifndef MEND_PROGRAM_BASE_BEGUN_FILE_H
#define MEND_PROGRAM_BASE_BEGUN_FILE_H

#include <stdio.h>

/* Makes the file at `path`, which is borrowed and must not exist. From now on SIGINT, SIGTERM and SIGHUP remove it
 * before they end the program as ever; those that are ignored stay so, and a file that grows too large is an error of
 * its writer. One file at a time. NULL when it cannot be made (errno kept). */
FILE *begun_file_open(const char *path);
/* It is whole, or the caller has removed it. */
void begun_file_release(void);

#endif
