/* House header: the parser of text/event-stream. Source: WHATWG HTML, server-sent events. The fields `id` and `retry`
 * are for those who reconnect, which nobody here does: they are ignored. */
#ifndef MEND_HTTP_SSE_H
#define MEND_HTTP_SSE_H

#include "core/buffer.h"

/* An event is complete. name: "message" when it has none. Both are borrowed for the call. False: no more are wanted. */
typedef bool (*mend__sse_event)(void *ctx, mend_str name, mend_str data);

typedef struct mend__sse {
  uint64_t limit;
  mend__buffer line;           /* the beginning of one that was cut off */
  mend__buffer name, data;     /* of the event that is being read, as far as they had to be copied */
  mend_str fed_name, fed_data; /* the same, still in the bytes that are being fed; absent: in the buffers */
  bool has_data;
  bool after_cr; /* a line feed that comes now belongs to the line before */
  bool at_start; /* a byte order mark may come */
} mend__sse;

/* limit: bytes of a line, of an event's data and of its name. */
void mend__sse_init(mend__sse *sse, const mend_allocator *allocator, uint64_t limit);
void mend__sse_free(mend__sse *sse);
/* Reads on; lines and characters may be cut anywhere. An event that the stream's end cuts off is none. Errors, after
 * which there is nothing to do but to free it: MEND_ELIMIT, MEND_ENOMEM, MEND_ECANCELLED when `event` wanted no
 * more. */
mend_status mend__sse_feed(mend__sse *sse, mend_str bytes, mend__sse_event event, void *ctx);

#endif
