/* House header: which of some known names was probably meant by an unknown one. */
#ifndef MEND_CORE_NEAREST_H
#define MEND_CORE_NEAREST_H

#include "mend/core.h"

typedef struct mend__nearest {
  mend_str wanted;
  const char *answer; /* of the nearest candidate so far; NULL while none is near enough */
  size_t distance;    /* private: a candidate must be nearer than this */
} mend__nearest;

mend__nearest mend__nearest_to(mend_str wanted);
/* ASCII letters of either case are equal; a third of the letters may be wrong, one in short names, but never all. Of
 * equally near candidates the first wins. `answer` is what to suggest for this one. */
void mend__nearest_consider(mend__nearest *search, mend_str candidate, const char *answer);

#endif
