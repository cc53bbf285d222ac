/* Where reports write. Files may be replayed several at a time, and yet what is told of them comes out in their order:
 * each file has an outlet on each stream, which holds back what is written until the files before have been told of. */
#ifndef MEND_PROGRAM_REPORTS_OUTLET_H
#define MEND_PROGRAM_REPORTS_OUTLET_H

#include "core/buffer.h"

typedef struct outlet outlet;

/* What stands apart from what is written before and after it on the same stream. */
typedef enum outlet_shape {
  OUTLET_FLOW, /* nothing */
  OUTLET_LINE, /* lines, from blocks */
  OUTLET_BLOCK /* a block, by a blank line from everything */
} outlet_shape;
/* To be said before a file's first write. */
void outlet_begin(outlet *to, outlet_shape shape);
/* MEND_ECLOSED when it cannot be written, MEND_ENOMEM. */
mend_status outlet_write(outlet *to, mend_str text);
/* The same for what was put together in a buffer, which may have failed. */
mend_status outlet_put(outlet *to, const mend__buffer *text);

#endif
