/* gzip as RFC 1951 and 1952 describe it, without compressing anything: enough for a client that must unpack. */
#ifndef MEND_PROGRAM_FAULT_SERVER_GZIP_H
#define MEND_PROGRAM_FAULT_SERVER_GZIP_H

#include "core/buffer.h"

typedef struct gzip {
  uint32_t crc, len; /* of what went in so far */
} gzip;

/* Appends what a file begins with. */
void gzip_begin(gzip *state, mend__buffer *to);
/* Appends bytes that unpack to `bytes`. */
void gzip_put(gzip *state, mend_str bytes, mend__buffer *to);
void gzip_end(const gzip *state, mend__buffer *to);

/* Appends about 6.5 KiB that unpack to about 1 MB of blanks; not counted, so no file that holds it has an end. */
void gzip_put_bomb(mend__buffer *to);

#endif
