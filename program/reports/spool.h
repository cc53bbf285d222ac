/* Text that is put together piece by piece and needed only when it is whole: short ones in memory, long ones in a
 * temporary file. */
#ifndef MEND_PROGRAM_REPORTS_SPOOL_H
#define MEND_PROGRAM_REPORTS_SPOOL_H

#include "program/reports/outlet.h"

#include <stdio.h>

typedef struct spool {
  mend__buffer text; /* append here, then call spool_settle */
  FILE *file;        /* what came before it, NULL for nothing */
} spool;

void spool_init(spool *of);
void spool_free(spool *of);
/* MEND_ENOMEM; MEND_EIO (errno kept). */
mend_status spool_settle(spool *of);
/* Writes all of it, once. */
mend_status spool_write(spool *of, outlet *to);

#endif
