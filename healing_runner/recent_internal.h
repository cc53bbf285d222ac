/* Private to healing_runner/: the ring of recent events. */
#ifndef MEND_RECENT_INTERNAL_H
#define MEND_RECENT_INTERNAL_H

#include "mend/bus.h"

typedef struct mend__recent mend__recent;

/* Keeps the JSON views of the latest `limit` events of the bus (0: of none). Errors: MEND_ENOMEM, MEND_ECLOSED. */
mend_status mend__recent_new(mend_bus *bus, size_t limit, bool content, mend__recent **ret_recent);
/* Before the caller drops its reference to the bus. NULL is allowed. */
void mend__recent_close(mend__recent *recent);
/* Calls `visit` for each, oldest first, until it returns false; returns how often. No lock is held: `visit` may
 * publish. */
size_t mend__recent_each(mend__recent *recent, bool (*visit)(void *ctx, mend_str line), void *ctx);

#endif
