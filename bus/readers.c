#include "bus/bus_internal.h"

#include <sched.h>
#include <time.h>

/* A publisher finds its record in one comparison as long as it stays with one bus. initial-exec keeps that comparison
 * cheap in the shared library too; 24 bytes fit the static TLS that is left for libraries loaded later. */
static _Thread_local struct {
  uint64_t bus_id;
  mend__reader *reader;
  const mend_bus *reclaims; /* the bus whose destroy functions this thread is in */
} cache __attribute__((tls_model("initial-exec")));

/* Records stay in the list as long as the bus, so walking needs no lock. */
static mend__reader *find_in_list(const mend_bus *bus) {
  mend__reader *reader = atomic_load_explicit(&((mend_bus *)bus)->readers, memory_order_acquire);
  while (reader != NULL && reader->thread != &cache)
    reader = reader->next;
  /* A thread that had our address before and is gone has left the record with a release store to its epoch. */
  if (reader != NULL) atomic_load_explicit(&reader->epoch, memory_order_acquire);
  return reader;
}

mend__reader *mend__reader_find(const mend_bus *bus) {
  if (cache.bus_id == bus->id) return cache.reader;
  mend__reader *reader = find_in_list(bus);
  if (reader != NULL) {
    cache.bus_id = bus->id;
    cache.reader = reader;
  }
  return reader;
}

/* The processor fetches pairs of 64-byte lines: 128 keeps two threads' records apart. */
#define RECORD_ALIGNMENT ((uintptr_t)128)

static mend__reader *record_new(const mend_bus *bus) {
  size_t size = (sizeof(mend__reader) + RECORD_ALIGNMENT - 1) & ~(size_t)(RECORD_ALIGNMENT - 1);
  void *block = mend__alloc_zero(bus->allocator, size + RECORD_ALIGNMENT);
  if (block == NULL) return NULL;
  mend__reader *record = (mend__reader *)(((uintptr_t)block + RECORD_ALIGNMENT - 1) & ~(RECORD_ALIGNMENT - 1));
  record->block = block;
  return record;
}

mend_status mend__readers_make_spare(mend_bus *bus) {
  if (atomic_load_explicit(&bus->spare_reader, memory_order_relaxed) != NULL) return MEND_OK;
  mend__reader *made = record_new(bus), *none = NULL;
  if (made == NULL) return MEND_ENOMEM;
  if (!atomic_compare_exchange_strong(&bus->spare_reader, &none, made)) mend__free(bus->allocator, made->block);
  return MEND_OK;
}

/* A call that began while there was memory may end on a thread that comes when there is none. */
static mend__reader *record_take(mend_bus *bus) {
  mend__reader *record = record_new(bus);
  if (record == NULL) return atomic_exchange(&bus->spare_reader, NULL);
  mend__readers_make_spare(bus);
  return record;
}

static mend_status reader_new(mend_bus *bus) {
  mend__reader *reader = record_take(bus);
  if (reader == NULL) return MEND_ENOMEM;
  reader->thread = &cache;
  reader->next = atomic_load_explicit(&bus->readers, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(&bus->readers, &reader->next, reader, memory_order_release,
                                                memory_order_relaxed)) {
  }
  return MEND_OK;
}

mend_status mend__reader_get(mend_bus *bus, mend__reader **ret_reader) {
  mend__reader *reader = mend__reader_find(bus);
  if (reader == NULL) {
    mend_status status = reader_new(bus);
    if (status != MEND_OK) {
      atomic_fetch_add_explicit(&bus->unrecorded, 1, memory_order_relaxed);
      return status;
    }
    reader = mend__reader_find(bus);
  }
  *ret_reader = reader;
  return MEND_OK;
}

/* The exchange is a full barrier: an updater that finds 0 here after it has taken something out of reach knows that we
 * will load what replaced it. (A shared reference count would cost 15 ns, 51 with two threads; a mutex 20 and 80.) */
void mend__reader_enter(mend_bus *bus, mend__reader *reader) {
  if (reader->holds++ > 0) return;
  uint64_t epoch = atomic_load_explicit(&bus->epoch, memory_order_acquire);
  atomic_exchange_explicit(&reader->epoch, epoch, memory_order_seq_cst);
}

/* We hold nothing older than now, so what waits for us can go. Done while our record still keeps the bus alive. */
static void leave_slowly(mend_bus *bus, mend__reader *reader) {
  atomic_store_explicit(&reader->epoch, atomic_load(&bus->epoch), memory_order_seq_cst);
  mend__reclaim(bus);
  reader->holds--;
  bool dies = reader->last_reference_gone;
  atomic_store_explicit(&reader->epoch, 0, memory_order_release);
  if (dies) mend__bus_destroy(bus);
}

void mend__reader_leave(mend_bus *bus, mend__reader *reader) {
  if (reader->holds > 1) {
    reader->holds--;
    return;
  }
  /* Looked at before the record is cleared, because afterwards the bus may be gone. What is retired between the two
   * waits for the next one who leaves, subscribes, closes or quiesces. */
  if (atomic_load_explicit(&bus->limbo_waits, memory_order_relaxed) || reader->last_reference_gone) {
    leave_slowly(bus, reader);
    return;
  }
  reader->holds--;
  atomic_store_explicit(&reader->epoch, 0, memory_order_release);
}

/* Most handlers are over in a moment; one that is not is no reason to keep a processor busy. */
void mend__pause(unsigned *turns) {
  enum { YIELDS = 64 };
  const struct timespec nap = {0, 50 * 1000};
  if (++*turns <= YIELDS) {
    sched_yield();
  } else {
    nanosleep(&nap, NULL);
  }
}

void mend__readers_wait(mend_bus *bus, uint64_t until_epoch) {
  unsigned turns = 0;
  for (mend__reader *reader = atomic_load(&bus->readers); reader != NULL; reader = reader->next) {
    if (reader->thread == &cache) continue;
    for (;;) {
      const uint64_t epoch = atomic_load(&reader->epoch);
      if (epoch == 0 || epoch > until_epoch) break;
      mend__pause(&turns);
    }
  }
}

const mend_bus *mend__reclaims_here(void) { return cache.reclaims; }
void mend__reclaims_set(const mend_bus *bus) { cache.reclaims = bus; }

void mend__readers_free(mend_bus *bus) {
  mend__reader *reader = atomic_load(&bus->readers), *spare = atomic_load(&bus->spare_reader);
  if (spare != NULL) mend__free(bus->allocator, spare->block);
  while (reader != NULL) {
    mend__reader *next = reader->next;
    mend__free(bus->allocator, reader->block);
    reader = next;
  }
}
