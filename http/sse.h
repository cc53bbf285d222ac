/* House header: the parser of text/event-stream. Source: WHATWG HTML, server-sent events. */
#ifndef MEND_HTTP_SSE_H
#define MEND_HTTP_SSE_H

#include "core/buffer.h"

/* An event is complete. name: "message" when it has none. Both are borrowed for the call. False: no more are wanted. */
typedef bool (*mend__sse_event)(void *ctx, mend_str name, mend_str data);

typedef struct mend__sse {
  mend__buffer line, data, name;
  uint64_t limit;   /* bytes of one event */
  bool after_cr;    /* a line feed that comes now belongs to a line's end */
  bool at_start;    /* a byte order mark may come */
  bool has_data;
} mend__sse;

void mend__sse_init(mend__sse *sse, const mend_allocator *allocator, uint64_t limit);
void mend__sse_free(mend__sse *sse);
/* Reads on; lines and characters may be cut anywhere. MEND_ELIMIT for an event longer than the limit, MEND_ENOMEM,
 * MEND_ECANCELLED when `event` wanted no more. An event that the stream's end cuts off is none. */
mend_status mend__sse_feed(mend__sse *sse, mend_str bytes, mend__sse_event event, void *ctx);

#endif
