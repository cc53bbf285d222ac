/* Who publishes the confidence of a run, and what of it has been published. */
#include "bus/room.h"
#include "metacognition/metacognition_internal.h"

enum { READINGS_MAX = 1024, READINGS_FEW = 8 };

/* A result that was read, and the call in whose execution it was given, which may give the same. */
typedef struct reading {
  uint64_t around;
  mend_hash result;
} reading;

/* Hangs in the run's slot, covered by the run's lock. */
typedef struct claim {
  const mend_allocator *allocator;
  mend__publisher *owner; /* NULL: nobody */
  size_t boundaries;      /* of the owner; none: it publishes for a foreign runner, as long as its hooks live */
  reading *readings;      /* whose calls have not been read themselves: the oldest first */
  size_t count, capacity;
} claim;

/* ---- Publishers ---- */

mend__publisher *mend__publisher_new(const char *source, const mend_allocator *allocator) {
  const size_t size = strlen(source) + 1;
  mend__publisher *publisher = mend__alloc(allocator, sizeof *publisher + size);
  if (publisher == NULL) return NULL;
  atomic_init(&publisher->references, 1);
  atomic_init(&publisher->gone, false);
  publisher->allocator = allocator;
  memcpy(publisher->source, source, size);
  return publisher;
}

static void let_go_of(mend__publisher *publisher) {
  if (publisher == NULL || atomic_fetch_sub_explicit(&publisher->references, 1, memory_order_acq_rel) > 1) return;
  mend__free(publisher->allocator, publisher);
}

void mend__publisher_end(mend__publisher *publisher) {
  atomic_store(&publisher->gone, true);
  let_go_of(publisher);
}

/* ---- A run's claim ---- */

static void claim_free(void *object) {
  claim *claimed = object;
  let_go_of(claimed->owner);
  mend__free(claimed->allocator, claimed->readings);
  mend__free(claimed->allocator, claimed);
}

/* Made if need be; NULL when out of memory. */
static claim *claim_of(mend_run *run) {
  claim *claimed = mend__run_slot(run, MEND__SLOT_METACOGNITION);
  if (claimed != NULL) return claimed;
  const mend_allocator *allocator = mend_bus_allocator(mend_run_bus(run));
  claim *made = mend__alloc_zero(allocator, sizeof *made);
  if (made == NULL) return NULL;
  made->allocator = allocator;
  claimed = mend__run_slot_put(run, MEND__SLOT_METACOGNITION, made, claim_free);
  if (claimed != made) claim_free(made); /* another thread was faster */
  return claimed;
}

static void set_owner(claim *claimed, mend__publisher *owner) {
  let_go_of(claimed->owner);
  claimed->owner = owner;
  claimed->boundaries = 0;
  if (owner != NULL) atomic_fetch_add_explicit(&owner->references, 1, memory_order_relaxed);
}

/* Under the run's lock. */
static mend_status take(claim *claimed, mend__publisher *publisher) {
  if (claimed->owner == publisher) return MEND_OK;
  if (claimed->owner != NULL && !atomic_load(&claimed->owner->gone)) return MEND_EEXIST;
  set_owner(claimed, publisher);
  return MEND_OK;
}

mend_status mend__claim_attach(mend__publisher *publisher, mend_run *run) {
  claim *claimed = claim_of(run);
  if (claimed == NULL) return MEND_ENOMEM;
  mend__run_lock(run);
  const mend_status status = take(claimed, publisher);
  if (status == MEND_OK) claimed->boundaries++;
  mend__run_unlock(run);
  return status;
}

void mend__claim_detach(const mend__publisher *publisher, mend_run *run) {
  claim *claimed = mend__run_slot(run, MEND__SLOT_METACOGNITION);
  mend__run_lock(run);
  if (claimed->owner == publisher && --claimed->boundaries == 0) set_owner(claimed, NULL);
  mend__run_unlock(run);
}

/* ---- Readings ---- */

/* A plan's step gives what its tool gave, and its call is around the tool's. Now that it is read, what was read within
 * it is of no use any more. */
static bool is_passed_on(claim *claimed, const mend_hook_call *call, mend_hash result) {
  bool found = false;
  size_t kept = 0;
  for (size_t i = 0; i < claimed->count; i++) {
    const reading each = claimed->readings[i];
    if (each.around != call->call) {
      claimed->readings[kept++] = each;
    } else if (mend_hash_equal(each.result, result)) {
      found = true;
    }
  }
  claimed->count = kept;
  return found;
}

static mend_status grow(claim *claimed) {
  const size_t capacity = claimed->capacity > 0 ? 2 * claimed->capacity : READINGS_FEW;
  reading *larger = mend__realloc(claimed->allocator, claimed->readings, capacity * sizeof *larger);
  if (larger == NULL) return MEND_ENOMEM;
  claimed->readings = larger;
  claimed->capacity = capacity;
  return MEND_OK;
}

/* For one more. Beyond the limit the oldest is forgotten. */
static mend_status make_room(claim *claimed) {
  if (claimed->count < claimed->capacity) return MEND_OK;
  if (claimed->capacity < READINGS_MAX) return grow(claimed);
  memmove(claimed->readings, claimed->readings + 1, --claimed->count * sizeof *claimed->readings);
  return MEND_OK;
}

static mend_status read_result(claim *claimed, const mend_hook_call *call, mend_hash result, bool *ret_is_new) {
  const bool is_within = call->within != MEND_NONE;
  if (is_within && make_room(claimed) != MEND_OK) return MEND_ENOMEM;
  *ret_is_new = !is_passed_on(claimed, call, result);
  if (is_within) claimed->readings[claimed->count++] = (reading){call->within, result};
  return MEND_OK;
}

mend_status mend__claim_reading(mend__publisher *publisher, const mend_hook_call *call, bool *ret_is_new) {
  const mend_hash result = mend_hash_bytes(call->result);
  claim *claimed = claim_of(call->run);
  if (claimed == NULL) return MEND_ENOMEM;
  mend__run_lock(call->run);
  mend_status status = take(claimed, publisher);
  if (status == MEND_OK) status = read_result(claimed, call, result, ret_is_new);
  mend__run_unlock(call->run);
  return status;
}
