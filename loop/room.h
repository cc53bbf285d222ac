/* House header: what the rooms above the loop may use beside mend/loop.h. Only on the loop's thread. */
#ifndef MEND_LOOP_ROOM_H
#define MEND_LOOP_ROOM_H

#include "mend/loop.h"

/* A descriptor that the loop watches: `ready` is called, on the loop's thread, whenever it can be read or written and that was
 * asked for, until it is unwatched (in `ready` too). Real descriptors are watched under a virtual clock as well. */
typedef struct mend__descriptor mend__descriptor;
mend_status mend__loop_watch(mend_loop *loop, int fd, bool reads, bool writes,
                             void (*ready)(void *ctx, bool can_read, bool can_write), void *ctx,
                             mend__descriptor **ret_descriptor);
mend_status mend__descriptor_want(mend__descriptor *descriptor, bool reads, bool writes);
/* Sets the pointer to NULL; NULL is allowed. The descriptor stays open. */
void mend__descriptor_unwatch(mend__descriptor **descriptor);

#endif
