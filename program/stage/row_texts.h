/* Memory for texts made of a row: given back all at once, and until then it does not move. */
#ifndef MEND_PROGRAM_STAGE_ROW_TEXTS_H
#define MEND_PROGRAM_STAGE_ROW_TEXTS_H

#include "mend/core.h"

/* Zeros at first. */
typedef struct row_texts {
  char *block; /* kept from row to row */
  size_t used, capacity;
  struct more_texts *more; /* what did not fit */
} row_texts;

/* A row begins, for whose texts `expected` bytes are probably enough. MEND_ENOMEM. */
mend_status row_texts_restart(row_texts *of, size_t expected);
/* Room for so many bytes, NULL when out of memory. */
char *row_texts_take(row_texts *of, size_t size);
void row_texts_free(row_texts *of);

#endif
