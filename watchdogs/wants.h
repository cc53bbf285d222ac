/* Private to watchdogs/: which events a watchdog wants. */
#ifndef MEND_WATCHDOGS_WANTS_H
#define MEND_WATCHDOGS_WANTS_H

#include "mend/bus.h"

#define MEND__KIND_WORDS ((MEND_EVENT_KIND_COUNT + 63) / 64)

typedef struct mend__wants {
  uint64_t kinds[MEND__KIND_WORDS]; /* a bit a kind; that of MEND_EVENT_CUSTOM: some custom topics may be wanted */
  mend_str *patterns;
  size_t count;
} mend__wants;

/* text: NULL is "*". Errors: MEND_EINVAL, MEND_ENOMEM. */
mend_status mend__wants_init(mend__wants *wants, const char *text, const mend_allocator *allocator);
void mend__wants_free(mend__wants *wants, const mend_allocator *allocator);
bool mend__wants_match(const mend__wants *wants, mend_str name);

static inline bool mend__wants_kind(const mend__wants *wants, mend_event_kind kind) {
  return (wants->kinds[kind / 64] >> (kind % 64) & 1) != 0;
}

#endif
