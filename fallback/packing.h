/* Private to fallback/: copies of many texts in one block. A first round with no block measures, a second one places
 * them. */
#ifndef MEND_FALLBACK_PACKING_H
#define MEND_FALLBACK_PACKING_H

#include "mend/core.h"

typedef struct mend__packing {
  char *block; /* NULL: it only measures */
  size_t len;  /* so far; SIZE_MAX: more than there is */
} mend__packing;

static inline mend__packing mend__packing_into(char *block) {
  mend__packing packing = {NULL, 0};
  packing.block = block;
  return packing;
}

/* With a block: lets *text point to its copy, which has a NUL behind. Absent stays absent. */
static inline void mend__pack(mend__packing *packing, mend_str *text) {
  if (text->ptr == NULL) return;
  if (packing->block != NULL) {
    char *copy = packing->block + packing->len;
    if (text->len > 0) memcpy(copy, text->ptr, text->len);
    copy[text->len] = '\0';
    text->ptr = copy;
  }
  packing->len = text->len < SIZE_MAX - packing->len ? packing->len + text->len + 1 : SIZE_MAX;
}

#endif
