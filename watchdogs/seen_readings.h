/* Private to watchdogs/: readings that are told twice. A reading is known by its call, attempt and source, and by the
 * id that its publisher gave it; one that has none of these cannot be told twice. The last 256 are remembered. */
#ifndef MEND_WATCHDOGS_SEEN_READINGS_H
#define MEND_WATCHDOGS_SEEN_READINGS_H

#include "mend/bus.h"

/* One run's. Zero it before first use. */
typedef struct mend__seen_readings {
  uint64_t *keys; /* NULL until there is one */
  uint64_t count; /* ever */
} mend__seen_readings;

/* By which a reading is known; 0: not by this. */
uint64_t mend__reading_key(const mend_confidence_event *reading);
uint64_t mend__reading_id_key(const mend_confidence_event *reading);

/* 0 was never seen. */
bool mend__seen_readings_has(const mend__seen_readings *seen, uint64_t key);
/* Room to add keys. MEND_ENOMEM. */
mend_status mend__seen_readings_reserve(mend__seen_readings *seen, const mend_allocator *allocator);
/* In room that was made; 0 is not added. */
void mend__seen_readings_add(mend__seen_readings *seen, uint64_t key);
void mend__seen_readings_free(mend__seen_readings *seen, const mend_allocator *allocator);

#endif
