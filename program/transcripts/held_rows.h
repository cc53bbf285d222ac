/* Rows that a later row may still replace: they are held, oldest first, until so many bytes of newer ones have come
 * that this is no longer expected. */
#ifndef MEND_PROGRAM_TRANSCRIPTS_HELD_ROWS_H
#define MEND_PROGRAM_TRANSCRIPTS_HELD_ROWS_H

#include "core/buffer.h"
#include "core/strmap.h"

#define HELD_ROWS_BYTES ((size_t)16 * 1024 * 1024)

typedef struct held_row {
  struct held_row *older, *newer; /* of spare ones only newer */
  mend__buffer bytes;             /* holds the texts below */
  mend_str name, text;
  uint64_t number;
} held_row;

typedef struct held_rows {
  mend__strmap by_name;
  held_row *oldest, *newest, *spare;
  size_t bytes;
} held_rows;

void held_rows_init(held_rows *rows);
void held_rows_free(held_rows *rows);
/* Holds a copy of a row, in the place of the one that has its name, else as the newest. MEND_ENOMEM. */
mend_status held_rows_put(held_rows *rows, mend_str name, uint64_t number, mend_str text);
/* The oldest row when there are too many bytes, else NULL. It is dropped with held_rows_drop. */
held_row *held_rows_surplus(const held_rows *rows);
void held_rows_drop(held_rows *rows, held_row *row);

#endif
