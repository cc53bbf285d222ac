/* Ctrl-C as the end of the input, so that what was read so far is still reported. */
#ifndef MEND_PROGRAM_BASE_INTERRUPT_H
#define MEND_PROGRAM_BASE_INTERRUPT_H

#include "mend/core.h"

/* From now on the first SIGINT is only noted; a second one ends the program as ever. One that is ignored stays so.
 * MEND_EIO (errno kept). */
mend_status interrupt_catch(void);
bool interrupt_came(void);
/* Waits until fd can be read without waiting; false when a SIGINT came before. Before interrupt_catch: true at once. */
bool interrupt_wait(int fd);

#endif
