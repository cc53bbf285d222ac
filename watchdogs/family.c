#include "watchdogs/family.h"

#include "mend/json.h"

/* So many are remembered whose last member has left: a call is judged at the latest one limit after that. */
enum { LEFT_MAX = 1024 };

struct mend__kin {
  mend_hash key;
  _Atomic uint64_t last_ns;
  atomic_uint busy;
  struct mend__kin *of_run; /* NULL: it is the run's itself */

  /* Under the family's lock. */
  size_t members;
  struct mend__kin *older, *newer; /* among those left */
};

/* A place of the table. */
typedef struct kin_place {
  mend_hash key;
  mend__kin *kin;
} kin_place;

/* ---- Beginning and end ---- */

mend_status mend__family_init(mend__family *family, const mend_allocator *allocator) {
  *family = (mend__family){.allocator = allocator};
  atomic_init(&family->count, 0);
  return pthread_mutex_init(&family->lock, NULL) == 0 ? MEND_OK : MEND_ENOMEM;
}

void mend__family_free(mend__family *family) {
  const kin_place *places = family->places.items;
  for (size_t i = 0; i < family->places.capacity; i++) {
    if (!mend_hash_is_none(places[i].key)) mend__free(family->allocator, places[i].kin);
  }
  mend__free(family->allocator, family->places.items);
  pthread_mutex_destroy(&family->lock);
}

/* ---- Under the lock ---- */

/* Ids of runs are unique on their bus. */
static mend_hash key_of(const mend_run *run, mend_str run_id, uint64_t call) {
  const mend_hash id = mend_hash_bytes(run_id);
  const uint64_t parts[] = {id.lo, id.hi, call, (uintptr_t)mend_run_bus(run)};
  return mend_hash_bytes((mend_str){(const char *)parts, sizeof parts});
}

static mend__kin *find(const mend__family *family, mend_hash key) {
  const kin_place *place = mend__table_find(&family->places, sizeof *place, key);
  return place != NULL ? place->kin : NULL;
}

static void remember(mend__family *family, mend__kin *kin) {
  kin->newer = NULL;
  kin->older = family->newest_left;
  *(kin->older != NULL ? &kin->older->newer : &family->oldest_left) = kin;
  family->newest_left = kin;
  family->left_count++;
}

static void take_back(mend__family *family, mend__kin *kin) {
  *(kin->older != NULL ? &kin->older->newer : &family->oldest_left) = kin->newer;
  *(kin->newer != NULL ? &kin->newer->older : &family->newest_left) = kin->older;
  family->left_count--;
}

static void forget_oldest(mend__family *family) {
  mend__kin *kin = family->oldest_left;
  take_back(family, kin);
  mend__table_take(&family->places, sizeof(kin_place), mend__table_find(&family->places, sizeof(kin_place), kin->key));
  atomic_fetch_sub(&family->count, 1);
  mend__free(family->allocator, kin);
}

static mend__kin *make(mend__family *family, mend_hash key) {
  if (mend__table_reserve(&family->places, sizeof(kin_place), family->allocator) != MEND_OK) return NULL;
  mend__kin *kin = mend__alloc_zero(family->allocator, sizeof *kin);
  if (kin == NULL) return NULL;
  kin->key = key;
  kin_place *place = mend__table_add(&family->places, sizeof *place, key);
  place->kin = kin;
  atomic_fetch_add(&family->count, 1);
  remember(family, kin);
  return kin;
}

/* Found or made; NULL when out of memory. */
static mend__kin *enter(mend__family *family, mend_hash key) {
  mend__kin *kin = find(family, key);
  if (kin == NULL) kin = make(family, key);
  if (kin != NULL && kin->members++ == 0) take_back(family, kin);
  return kin;
}

static void leave(mend__family *family, mend__kin *kin) {
  if (--kin->members > 0) return;
  remember(family, kin);
  if (family->left_count > LEFT_MAX) forget_oldest(family);
}

static mend__kin *enter_both(mend__family *family, mend_hash of_run, mend_hash of_call) {
  mend__kin *run = enter(family, of_run);
  if (run == NULL || mend_hash_equal(of_run, of_call)) return run;
  mend__kin *call = enter(family, of_call);
  if (call == NULL) {
    leave(family, run);
  } else if (call->members == 1) {
    call->of_run = run; /* others read it without the lock, and only they */
  }
  return call;
}

/* ---- Members ---- */

mend_status mend__family_join(mend__family *family, const mend_run *run, mend__kin **ret_kin) {
  const mend_str parent = mend_run_parent_id(run);
  *ret_kin = NULL;
  if (parent.len == 0) return MEND_OK;
  const mend_hash of_run = key_of(run, parent, 0);
  const mend_hash of_call = key_of(run, parent, mend_call_from_name(mend_run_parent_call(run)));
  pthread_mutex_lock(&family->lock);
  mend__kin *kin = enter_both(family, of_run, of_call);
  pthread_mutex_unlock(&family->lock);
  *ret_kin = kin;
  return kin != NULL ? MEND_OK : MEND_ENOMEM;
}

void mend__family_leave(mend__family *family, mend__kin *kin) {
  if (kin == NULL) return;
  pthread_mutex_lock(&family->lock);
  mend__kin *run = kin->of_run;
  leave(family, kin);
  if (run != NULL) leave(family, run);
  pthread_mutex_unlock(&family->lock);
}

/* Members are on several threads, and time does not run backwards. */
static void note(mend__kin *kin, uint64_t now_ns) {
  uint64_t last_ns = atomic_load_explicit(&kin->last_ns, memory_order_relaxed);
  while (last_ns < now_ns && !atomic_compare_exchange_weak_explicit(&kin->last_ns, &last_ns, now_ns,
                                                                    memory_order_relaxed, memory_order_relaxed)) {
  }
}

void mend__kin_note(mend__kin *kin, uint64_t now_ns) {
  for (; kin != NULL; kin = kin->of_run)
    note(kin, now_ns);
}

void mend__kin_set_busy(mend__kin *kin, bool is_busy) {
  for (; kin != NULL; kin = kin->of_run) {
    if (is_busy) {
      atomic_fetch_add(&kin->busy, 1);
    } else {
      atomic_fetch_sub(&kin->busy, 1);
    }
  }
}

/* ---- Who asks ---- */

bool mend__family_look(mend__family *family, const mend_run *run, uint64_t call, mend__kin_life *ret_life) {
  if (atomic_load(&family->count) == 0) return false;
  const mend_hash key = key_of(run, mend_run_id(run), call);
  pthread_mutex_lock(&family->lock);
  const mend__kin *kin = find(family, key);
  if (kin != NULL) *ret_life = (mend__kin_life){atomic_load(&kin->last_ns), atomic_load(&kin->busy) > 0};
  pthread_mutex_unlock(&family->lock);
  return kin != NULL;
}
