#include "bus/bus_internal.h"
#include "core/options_size.h"
#include "mend/json.h"

/* ---- Making ---- */

/* A new 128-bit id: the bus's seed and a counter, hashed. Under the mutex. */
static mend_hash next_id(mend_bus *bus) {
  uint64_t block[2] = {bus->id_seed, ++bus->id_counter};
  return mend_hash_bytes((mend_str){(const char *)block, sizeof block});
}

static void put_big_endian(uint64_t value, uint8_t *ret_bytes) {
  for (int i = 0; i < 8; i++)
    ret_bytes[i] = (uint8_t)(value >> (56 - 8 * i));
}

static bool is_zero(const uint8_t *bytes, size_t len) {
  for (size_t i = 0; i < len; i++) {
    if (bytes[i] != 0) return false;
  }
  return true;
}

static void choose_trace_id(mend_run *run, const mend_run_options *options) {
  if (!is_zero(options->trace_id, sizeof options->trace_id)) {
    memcpy(run->trace_id, options->trace_id, sizeof run->trace_id);
  } else if (options->parent != NULL) {
    memcpy(run->trace_id, options->parent->trace_id, sizeof run->trace_id);
  } else {
    mend_hash id = next_id(run->bus);
    put_big_endian(id.hi, run->trace_id);
    put_big_endian(id.lo, run->trace_id + 8);
  }
}

static mend_str copy_text(char **free_text, mend_str text) {
  if (text.ptr == NULL) return text;
  char *copy = *free_text;
  memcpy(copy, text.ptr, text.len);
  copy[text.len] = '\0';
  *free_text += text.len + 1;
  return (mend_str){copy, text.len};
}

static mend_run *run_alloc(mend_bus *bus, const mend_run_options *options) {
  mend_str parent_id = options->parent != NULL ? options->parent->id : options->parent_id;
  size_t text = options->id.len + parent_id.len + options->parent_call.len + options->agent.len +
                options->session_id.len + options->project_id.len + 6;
  mend_run *run = mend__alloc_zero(bus->allocator, sizeof *run + text);
  if (run == NULL) return NULL;
  if (pthread_mutex_init(&run->mutex, NULL) != 0) {
    mend__free(bus->allocator, run);
    return NULL;
  }
  char *free_text = run->text;
  run->bus = bus;
  run->id = copy_text(&free_text, options->id);
  run->parent_id = copy_text(&free_text, parent_id);
  run->parent_call = copy_text(&free_text, options->parent_call);
  run->agent = copy_text(&free_text, options->agent);
  run->session_id = copy_text(&free_text, options->session_id);
  run->project_id = copy_text(&free_text, options->project_id);
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
    mend_hash_format(next_id(bus), made_id);
    with_id.id = mend_str_from(made_id);
  }
  const bool closing = bus->closing;
  mend_run *run = closing ? NULL : run_alloc(bus, &with_id);
  if (run != NULL) choose_trace_id(run, options);
  pthread_mutex_unlock(&bus->mutex);
  if (run == NULL) return closing ? MEND_ECLOSED : MEND_ENOMEM;
  atomic_store(&run->references, 1);
  atomic_store(&run->last_event_ns, mend_clock_now(bus->clock).mono_ns);
  mend_bus_retain(bus);
  *ret_run = run;
  return MEND_OK;
}

/* ---- Runs that stay known: those without references wait in order of their last event ---- */

static uint64_t last_event_of(mend_run *run) { return atomic_load_explicit(&run->last_event_ns, memory_order_relaxed); }

/* A run is let go of soon after its last event, so its place is near the end; or all are, the latest first. */
static void idle_insert(mend_run *run) {
  mend_bus *bus = run->bus;
  const bool is_oldest = bus->least_recent != NULL && last_event_of(run) < last_event_of(bus->least_recent);
  mend_run *before = is_oldest ? NULL : bus->most_recent;
  while (before != NULL && last_event_of(before) > last_event_of(run))
    before = before->less_recent;
  run->less_recent = before;
  run->more_recent = before != NULL ? before->more_recent : bus->least_recent;
  *(before != NULL ? &before->more_recent : &bus->least_recent) = run;
  *(run->more_recent != NULL ? &run->more_recent->less_recent : &bus->most_recent) = run;
}

static void idle_remove(mend_run *run) {
  mend_bus *bus = run->bus;
  *(run->less_recent != NULL ? &run->less_recent->more_recent : &bus->least_recent) = run->more_recent;
  *(run->more_recent != NULL ? &run->more_recent->less_recent : &bus->most_recent) = run->less_recent;
}

/* Under the mutex: nobody has a reference and nobody can get one any more. */
static void retire_run(mend_run *run) {
  mend__run_close_subscriptions(run);
  if (run->linked) unlink_run(run);
  mend__retire(run->bus, &run->bus->limbo_runs, &run->retired);
}

static void evict_beyond_limit(mend_bus *bus) {
  while (bus->kept_count > bus->run_limit && bus->least_recent != NULL) {
    mend_run *run = bus->least_recent;
    idle_remove(run);
    retire_run(run);
    bus->runs_evicted++;
  }
}

/* Under the mutex: one more reference to a run that is alive or kept. */
static void retain_known(mend_run *run) {
  if (atomic_fetch_add(&run->references, 1) > 0) return;
  idle_remove(run);
  mend_bus_retain(run->bus);
}

/* ---- Public ---- */

static mend_status check_options(mend_bus *bus, const mend_run_options *given, mend_run_options *ret_options) {
  *ret_options = (mend_run_options)MEND_RUN_OPTIONS_INIT;
  mend_status status = mend__options_take(ret_options, given, "mend_run_options", NULL);
  if (status != MEND_OK) return status;
  if (ret_options->id.ptr != NULL && (ret_options->id.len == 0 || ret_options->id.len > 255)) return MEND_EINVAL;
  if (ret_options->parent != NULL && ret_options->parent->bus != bus) return MEND_EINVAL;
  return MEND_OK;
}

static void notify_observer(mend_run *run, mend__run_observer observer) {
  if (observer.opened == NULL) return;
  mend_status status = observer.opened(observer.ctx, run);
  if (status == MEND_OK) return;
  mend__frame frame = {.failures = 1, .first_failure = status};
  mend__report_failure(run, NULL, &frame);
}

/* Tells the rooms above of a run before anybody can find it, and leaves the bus's mutex locked. Who began to observe
 * meanwhile is told too: observers take being told twice for once. */
static void notify_observers_and_lock(mend_run *run) {
  mend_bus *bus = run->bus;
  uint32_t version = 0;
  pthread_mutex_lock(&bus->mutex);
  while (bus->observers_version != version) {
    mend__run_observer observers[MEND__SLOT_COUNT];
    memcpy(observers, bus->observers, sizeof observers);
    version = bus->observers_version;
    pthread_mutex_unlock(&bus->mutex);
    for (int slot = 0; slot < MEND__SLOT_COUNT; slot++)
      notify_observer(run, observers[slot]);
    pthread_mutex_lock(&bus->mutex);
  }
}

mend_status mend_run_new(mend_bus *bus, const mend_run_options *options, mend_run **ret_run) {
  mend_run_options checked;
  mend_run *run;
  mend_status status = check_options(bus, options, &checked);
  if (status == MEND_OK) status = make_run(bus, &checked, &run);
  if (status != MEND_OK) return status;
  notify_observers_and_lock(run);
  status = link_run(run);
  pthread_mutex_unlock(&bus->mutex);
  if (status != MEND_OK) {
    mend_run_release(run);
    return status;
  }
  *ret_run = run;
  return MEND_OK;
}

/* NULL when the bus knows none of this id. */
static mend_run *find_run(mend_bus *bus, mend_str id) {
  pthread_mutex_lock(&bus->mutex);
  mend_run *run = mend__strmap_get(&bus->runs_by_id, id);
  if (run != NULL) retain_known(run);
  pthread_mutex_unlock(&bus->mutex);
  return run;
}

mend_status mend_bus_run(mend_bus *bus, const mend_run_options *options, mend_run **ret_run) {
  mend_run_options checked;
  mend_status status = check_options(bus, options, &checked);
  if (status == MEND_OK && checked.id.ptr == NULL) status = MEND_EINVAL;
  if (status != MEND_OK) return status;
  mend_run *run = find_run(bus, checked.id);
  if (run != NULL) {
    *ret_run = run;
    return MEND_OK;
  }
  status = make_run(bus, &checked, &run);
  if (status != MEND_OK) return status;
  notify_observers_and_lock(run);
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
  return status == MEND_EEXIST ? mend_bus_run(bus, &checked, ret_run) : status;
}

mend_run *mend_run_retain(mend_run *run) {
  atomic_fetch_add_explicit(&run->references, 1, memory_order_relaxed);
  return run;
}

bool mend__run_try_retain(mend_run *run) {
  uint32_t references = atomic_load(&run->references);
  while (references > 0) {
    if (atomic_compare_exchange_weak(&run->references, &references, references + 1)) return true;
  }
  pthread_mutex_lock(&run->bus->mutex);
  bool known = mend__strmap_get(&run->bus->runs_by_id, run->id) == run;
  if (known) retain_known(run);
  pthread_mutex_unlock(&run->bus->mutex);
  return known;
}

void mend_run_release(mend_run *run) {
  if (run == NULL) return;
  uint32_t references = atomic_load(&run->references);
  while (references > 1) {
    if (atomic_compare_exchange_weak(&run->references, &references, references - 1)) return;
  }
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
  while (bus->least_recent != NULL) {
    mend_run *run = bus->least_recent;
    idle_remove(run);
    retire_run(run);
  }
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

void mend__run_lock(mend_run *run) { pthread_mutex_lock(&run->mutex); }
void mend__run_unlock(mend_run *run) { pthread_mutex_unlock(&run->mutex); }

/* ---- For the rooms above ---- */

typedef struct run_list {
  mend_run **runs;
  size_t count;
} run_list;

static mend_status list_runs(mend_bus *bus, run_list *ret_list) {
  *ret_list = (run_list){NULL, 0};
  if (bus->run_count == 0) return MEND_OK;
  ret_list->runs = mend__alloc(bus->allocator, bus->run_count * sizeof(mend_run *));
  if (ret_list->runs == NULL) return MEND_ENOMEM;
  for (mend_run *run = bus->runs; run != NULL; run = run->next) {
    retain_known(run);
    ret_list->runs[ret_list->count++] = run;
  }
  return MEND_OK;
}

static void forget_observer(mend_bus *bus, mend__slot slot) {
  pthread_mutex_lock(&bus->mutex);
  bus->observers[slot] = (mend__run_observer){NULL, NULL};
  pthread_mutex_unlock(&bus->mutex);
}

mend_status mend__bus_observe_runs(mend_bus *bus, mend__slot slot, mend__run_opened opened, void *ctx) {
  run_list list = {NULL, 0};
  pthread_mutex_lock(&bus->mutex);
  mend_status status = bus->observers[slot].opened != NULL ? MEND_EEXIST : list_runs(bus, &list);
  if (status == MEND_OK) {
    bus->observers[slot] = (mend__run_observer){opened, ctx};
    bus->observers_version++;
  }
  pthread_mutex_unlock(&bus->mutex);
  if (status != MEND_OK) return status;
  for (size_t i = 0; i < list.count; i++) {
    mend_status failure = opened(ctx, list.runs[i]);
    if (status == MEND_OK) status = failure;
    mend_run_release(list.runs[i]);
  }
  mend__free(bus->allocator, list.runs);
  if (status != MEND_OK) forget_observer(bus, slot);
  return status;
}
