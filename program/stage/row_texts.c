#include "program/stage/row_texts.h"

#include "core/memory.h"

typedef struct more_texts {
  struct more_texts *next;
  char bytes[];
} more_texts;

static void free_more(row_texts *of) {
  while (of->more != NULL) {
    more_texts *first = of->more;
    of->more = first->next;
    mend__free(NULL, first);
  }
}

mend_status row_texts_restart(row_texts *of, size_t expected) {
  free_more(of);
  of->used = 0;
  if (expected <= of->capacity) return MEND_OK;
  char *block = mend__realloc(NULL, of->block, expected);
  if (block == NULL) return MEND_ENOMEM;
  of->block = block;
  of->capacity = expected;
  return MEND_OK;
}

char *row_texts_take(row_texts *of, size_t size) {
  if (of->block != NULL && size <= of->capacity - of->used) {
    char *bytes = of->block + of->used;
    of->used += size;
    return bytes;
  }
  more_texts *more = mend__alloc(NULL, sizeof *more + size);
  if (more == NULL) return NULL;
  more->next = of->more;
  of->more = more;
  return more->bytes;
}

void row_texts_free(row_texts *of) {
  free_more(of);
  mend__free(NULL, of->block);
}
