/* Memory that is counted and runs out, one for mend and libevent. Any thread. */
#ifndef MEND_TESTS_TORTURE_MEMORY_H
#define MEND_TESTS_TORTURE_MEMORY_H

#include "mend/core.h"

extern const mend_allocator memory_allocator;

/* Gives libevent the same memory; before anything else is called of it. */
void memory_give_to_libevent(void);
/* From now on allocation `fail_at` fails, counted from 1, and with `onwards` every later one; 0: none does. */
void memory_arm(size_t fail_at, bool onwards);
/* Whether an armed failure has happened. */
bool memory_has_failed(void);
/* Blocks that are alive. */
size_t memory_blocks(void);
/* Whether there are `blocks` of them. Waits a moment: a pool's threads end a little later than the pool's last
 * user. */
bool memory_blocks_are(size_t blocks);

#endif
