/* Which rows were there before: a set of fingerprints in bounded memory, the last few hundred thousand of them. */
#ifndef MEND_PROGRAM_TRANSCRIPTS_SEEN_ROWS_H
#define MEND_PROGRAM_TRANSCRIPTS_SEEN_ROWS_H

#include "mend/core.h"

/* So many are surely remembered, and up to twice as many. */
enum { SEEN_ROWS_MIN = 256 * 1024 };

/* Two sets: when the newer is full, the older is forgotten and takes its place. Zeros at first. */
typedef struct seen_rows {
  struct seen_set {
    uint64_t *slots; /* 0: free */
    size_t count, capacity;
  } newer, older;
} seen_rows;

void seen_rows_free(seen_rows *of);
/* Adds a fingerprint, of which no two rows but equal ones have the same. Says whether it was there. MEND_ENOMEM. */
mend_status seen_rows_add(seen_rows *of, uint64_t fingerprint, bool *ret_seen);

#endif
