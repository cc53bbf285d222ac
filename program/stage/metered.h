/* Memory that is counted, for one thread. */
#ifndef MEND_PROGRAM_STAGE_METERED_H
#define MEND_PROGRAM_STAGE_METERED_H

#include "mend/core.h"

typedef struct metered {
  mend_allocator allocator; /* gives it out; `metered` stays where it is as long as this is used */
  size_t bytes;             /* given out and not returned */
} metered;

void metered_init(metered *of);

#endif
