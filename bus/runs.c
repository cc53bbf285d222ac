#include "bus/bus_internal.h"
#include "core/options_size.h"
#include "mend/json.h"

/* ---- Making ---- */

static mend_run *run_alloc(mend_bus *bus, const mend_run_options *options) {
  mend_str parent_id = options->parent != NULL ? options->parent->id : options->parent_id;
  size_t text = options->id.len + parent_id.len + options->parent_call.len + options->agent.len +
                options->session_id.len + options->project_id.len + 6;
  mend_run *run = mend__alloc_zero(bus->allocator, sizeof *run + text);
  if (run == NULL) return NULL;
  if (!mend__run_lock_init(run)) {
    mend__free(bus->allocator, run);
    return NULL;
  }
  char *place = run->text;
  run->bus = bus;
  run->id = mend__keep_text(&place, options->id);
  run->parent_id = mend__keep_text(&place, parent_id);
  run->parent_call = mend__keep_text(&place, options->parent_call);
  run->agent = mend__keep_text(&place, options->agent);
  run->session_id = mend__keep_text(&place, options->session_id);
  run->project_id = mend__keep_text(&place, options->project_id);
  return run;
}

static void free_memory(mend_run *run) {
  pthread_mutex_destroy(&run->mutex);
  mend__free(run->bus->allocator, run);
}

static mend_status link_run(mend_run *run) {
  mend_bus *bus = run->bus;
  mend_status status = mend__strmap_put(&bus->runs_by_id, run->id, run);
  if (status != MEND_OK) return status;
  run->next = bus->runs;
  if (bus->runs != NULL) bus->runs->previous = run;
  bus->runs = run;
  run->linked = true;
  bus->run_count++;
  if (run->kept) bus->kept_count++;
  return MEND_OK;
}

static void unlink_run(mend_run *run) {
  mend_bus *bus = run->bus;
  *(run->previous != NULL ? &run->previous->next : &bus->runs) = run->next;
  if (run->next != NULL) run->next->previous = run->previous;
  mend__strmap_remove(&bus->runs_by_id, run->id);
  bus->run_count--;
  if (run->kept) bus->kept_count--;
}

/* A run that nobody can find yet, with one reference, which holds one to the bus. */
static mend_status make_run(mend_bus *bus, const mend_run_options *options, mend_run **ret_run) {
  mend_run_options with_id = *options;
  char made_id[MEND_HASH_TEXT_SIZE];
  pthread_mutex_lock(&bus->mutex);
  if (options->id.ptr == NULL) {
    mend_hash_format(mend__id_next(bus), made_id);
    with_id.id = mend_str_from(made_id);
  }
  const bool closing = bus->closing;
  mend_run *run = closing ? NULL : run_alloc(bus, &with_id);
  if (run != NULL) mend__trace_begin(run, options);
  pthread_mutex_unlock(&bus->mutex);
  if (run == NULL) return closing ? MEND_ECLOSED : MEND_ENOMEM;
  atomic_store(&run->references, 1);
  atomic_store(&run->last_event_ns, mend_clock_now(bus->clock).mono_ns);
  mend_bus_retain(bus);
  mend__readers_make_spare(bus); /* what this run begins is to have an end, also without memory */
  *ret_run = run;
  return MEND_OK;
}

/* ---- Runs that stay known: those without references wait in order of their last event ---- */

/* Without references nothing is published, so its place stays right. */
static void idle_insert(mend_run *run) {
  run->idle.due_ns = atomic_load_explicit(&run->last_event_ns, memory_order_relaxed);
  run->idle.order = run->bus->idle_order++;
  mend__heap_push(&run->bus->idle, &run->idle);
}

static void idle_remove(mend_run *run) { mend__heap_remove(&run->bus->idle, &run->idle); }

/* Taken out; NULL when there is none. */
static mend_run *idle_take_oldest(mend_bus *bus) {
  mend_deadline *oldest = mend__heap_min(&bus->idle);
  if (oldest == NULL) return NULL;
  mend__heap_remove(&bus->idle, oldest);
  return MEND__CONTAINER(oldest, mend_run, idle);
}

/* Under the mutex: nobody has a reference and nobody can get one any more. */
static void retire_run(mend_run *run) {
  run->ended = true;
  mend__run_close_subscriptions(run);
  if (run->linked) unlink_run(run);
  mend__retire(run->bus, &run->bus->limbo_runs, &run->retired);
}

static void evict_beyond_limit(mend_bus *bus) {
  mend_run *run;
  while (bus->kept_count > bus->run_limit && (run = idle_take_oldest(bus)) != NULL) {
    retire_run(run);
    bus->runs_evicted++;
  }
}

void mend__run_retain_known(mend_run *run) {
  if (atomic_fetch_add(&run->references, 1) > 0) return;
  idle_remove(run);
  mend_bus_retain(run->bus);
}

/* ---- Public ---- */

#define ID_LEN_MAX 255

static mend_status check_options(mend_bus *bus, const mend_run_options *given, mend_run_options *ret_options,
                                 mend_error *error) {
  *ret_options = (mend_run_options)MEND_RUN_OPTIONS_INIT;
  if (bus == NULL) return mend_error_set(error, MEND_EINVAL, "a run: no bus");
  mend_status status = mend__options_take(ret_options, given, "mend_run_options", error);
  if (status != MEND_OK) return status;
  const mend_str id = ret_options->id;
  if (id.ptr != NULL && (id.len == 0 || id.len > ID_LEN_MAX)) {
    return mend_error_set(error, MEND_EINVAL, "a run's id is 1 to %d bytes long, this one has %zu", ID_LEN_MAX, id.len);
  }
  const mend_run *parent = ret_options->parent;
  if (parent != NULL && parent->bus != bus) {
    return mend__name_refuse(error, MEND_EINVAL, "parent", parent->id, "is a run of another bus");
  }
  return MEND_OK;
}

static mend_status refuse_run(mend_error *error, mend_status status, mend_str id) {
  if (id.ptr == NULL) return mend_error_set(error, status, "a run: %s", mend__bus_reason(status));
  const bool exists = status == MEND_EEXIST;
  return mend__name_refuse(error, status, "run", id, exists ? "the bus has one of this id" : mend__bus_reason(status));
}

mend_status mend_run_new(mend_bus *bus, const mend_run_options *options, mend_run **ret_run, mend_error *error) {
  mend_run_options checked;
  mend_run *run;
  mend_status status = check_options(bus, options, &checked, error);
  if (status != MEND_OK) return status;
  status = make_run(bus, &checked, &run);
  if (status != MEND_OK) return refuse_run(error, status, checked.id);
  mend__run_announce_and_lock(run);
  status = link_run(run);
  pthread_mutex_unlock(&bus->mutex);
  if (status != MEND_OK) {
    mend_run_release(run);
    return refuse_run(error, status, checked.id);
  }
  *ret_run = run;
  return MEND_OK;
}

/* NULL when the bus knows none of this id. */
static mend_run *find_run(mend_bus *bus, mend_str id) {
  pthread_mutex_lock(&bus->mutex);
  mend_run *run = mend__strmap_get(&bus->runs_by_id, id);
  if (run != NULL) mend__run_retain_known(run);
  pthread_mutex_unlock(&bus->mutex);
  return run;
}

mend_status mend_bus_run(mend_bus *bus, const mend_run_options *options, mend_run **ret_run, mend_error *error) {
  mend_run_options checked;
  mend_status status = check_options(bus, options, &checked, error);
  if (status != MEND_OK) return status;
  if (checked.id.ptr == NULL) return mend_error_set(error, MEND_EINVAL, "id: absent, expected that of the wanted run");
  mend_run *run = find_run(bus, checked.id);
  if (run != NULL) {
    *ret_run = run;
    return MEND_OK;
  }
  status = make_run(bus, &checked, &run);
  if (status != MEND_OK) return refuse_run(error, status, checked.id);
  mend__run_announce_and_lock(run);
  run->kept = true;
  status = link_run(run);
  if (status == MEND_OK) evict_beyond_limit(bus);
  pthread_mutex_unlock(&bus->mutex);
  if (status == MEND_OK) {
    *ret_run = run;
    mend__reclaim(bus);
    return MEND_OK;
  }
  run->kept = false;
  mend_run_release(run);
  /* Another thread was faster. */
  return status == MEND_EEXIST ? mend_bus_run(bus, &checked, ret_run, error) : refuse_run(error, status, checked.id);
}

static bool try_retain_bus(mend_bus *bus) {
  uint32_t references = atomic_load(&bus->references);
  while (references > 0) {
    if (atomic_compare_exchange_weak(&bus->references, &references, references + 1)) return true;
  }
  return false;
}

/* Under the mutex, where a run's references cannot become 0. One that is kept may be the last of a bus that is at its
   end. */
static bool try_retain_known(mend_run *run) {
  if (mend__strmap_get(&run->bus->runs_by_id, run->id) != run) return false;
  if (atomic_load(&run->references) == 0) {
    if (!try_retain_bus(run->bus)) return false;
    idle_remove(run);
  }
  atomic_fetch_add(&run->references, 1);
  return true;
}

bool mend__run_try_retain(mend_run *run) {
  uint32_t references = atomic_load(&run->references);
  while (references > 0) {
    if (atomic_compare_exchange_weak(&run->references, &references, references + 1)) return true;
  }
  pthread_mutex_lock(&run->bus->mutex);
  const bool known = try_retain_known(run);
  pthread_mutex_unlock(&run->bus->mutex);
  return known;
}

/* At its end a run has no references, nor gets any: it is there until the event is delivered, whoever lets go of it. */
mend_run *mend_run_retain(mend_run *run) {
  mend__run_try_retain(run);
  return run;
}

void mend_run_release(mend_run *run) {
  if (run == NULL) return;
  uint32_t references = atomic_load(&run->references);
  while (references > 1) {
    if (atomic_compare_exchange_weak(&run->references, &references, references - 1)) return;
  }
  if (references == 0) return;
  mend_bus *bus = run->bus;
  pthread_mutex_lock(&bus->mutex);
  bool was_last = atomic_fetch_sub(&run->references, 1) == 1;
  if (was_last && run->kept) {
    idle_insert(run);
    evict_beyond_limit(bus);
  } else if (was_last) {
    retire_run(run);
  }
  pthread_mutex_unlock(&bus->mutex);
  if (!was_last) return;
  mend__reclaim(bus);
  mend_bus_release(bus);
}

void mend__run_free(mend_run *run) {
  mend__slots_release(run->slots);
  free_memory(run);
}

void mend__runs_free_kept(mend_bus *bus) {
  for (mend_run *run; (run = idle_take_oldest(bus)) != NULL;)
    retire_run(run);
}

mend_bus *mend_run_bus(const mend_run *run) { return run->bus; }
mend_str mend_run_id(const mend_run *run) { return run->id; }
mend_str mend_run_parent_id(const mend_run *run) { return run->parent_id; }
mend_str mend_run_parent_call(const mend_run *run) { return run->parent_call; }
mend_str mend_run_agent(const mend_run *run) { return run->agent; }
mend_str mend_run_session_id(const mend_run *run) { return run->session_id; }
mend_str mend_run_project_id(const mend_run *run) { return run->project_id; }
uint64_t mend_run_next_call(mend_run *run) {
  return atomic_fetch_add_explicit(&run->calls, 1, memory_order_relaxed) + 1;
}
