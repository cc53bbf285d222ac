/* The hooks of a boundary or of a foreign runner. */
#include "core/options_size.h"
#include "core/seconds.h"
#include "hooks/hooks_internal.h"

#include <math.h>

/* ---- Life ---- */

mend_status mend_hooks_new(const mend_allocator *allocator, mend_hooks **ret_hooks) {
  if (ret_hooks == NULL) return MEND_EINVAL;
  mend_hooks *hooks = mend__alloc(allocator, sizeof *hooks);
  if (hooks == NULL) return MEND_ENOMEM;
  hooks->allocator = allocator;
  atomic_init(&hooks->references, 1);
  atomic_init(&hooks->first, NULL);
  atomic_init(&hooks->count, 0);
  hooks->used = false;
  hooks->end = &hooks->first;
  if (pthread_mutex_init(&hooks->lock, NULL) != 0) {
    mend__free(allocator, hooks);
    return MEND_ENOMEM;
  }
  *ret_hooks = hooks;
  return MEND_OK;
}

mend_hooks *mend_hooks_retain(mend_hooks *hooks) {
  atomic_fetch_add_explicit(&hooks->references, 1, memory_order_relaxed);
  return hooks;
}

void mend_hooks_release(mend_hooks *hooks) {
  if (hooks == NULL || atomic_fetch_sub_explicit(&hooks->references, 1, memory_order_acq_rel) > 1) return;
  for (mend__hook_entry *entry = mend__hooks_first(hooks), *next; entry != NULL; entry = next) {
    next = mend__hooks_next(entry);
    if (entry->hook.destroy != NULL) entry->hook.destroy(entry->ctx);
    mend__free(hooks->allocator, entry);
  }
  pthread_mutex_destroy(&hooks->lock);
  mend__free(hooks->allocator, hooks);
}

/* ---- Adding ---- */

static mend_status check_hook(const mend_hook *hook, const mend_hook_options *options, mend_error *error) {
  const mend_status status = mend__name_check_c("mend_hook.name", hook->name, MEND__HOOK_NAME_SIZE - 1, error);
  if (status != MEND_OK) return status;
  if (isfinite(options->time_limit_s) && options->time_limit_s >= 0) return MEND_OK;
  return mend__options_refuse_number("mend_hook_options.time_limit_s", options->time_limit_s,
                                     "seconds > 0, or 0 for none", error);
}

/* A hook is known by its functions. */
static bool is_same(const mend_hook *a, const mend_hook *b) {
  return a->before == b->before && a->after == b->after && a->on_error == b->on_error;
}

static bool publishes(const mend_hook *hook) { return is_same(hook, &mend__publishing_hook); }

static bool is_there(mend_hooks *hooks, const char *name) {
  mend__hook_entry *entry = mend__hooks_first(hooks);
  while (entry != NULL && strcmp(entry->name, name) != 0)
    entry = mend__hooks_next(entry);
  return entry != NULL;
}

/* Under the lock. */
static mend_status check_place(mend_hooks *hooks, const mend__hook_entry *entry, mend_error *error) {
  if (hooks->used && publishes(&entry->hook)) {
    return mend_error_set(error, MEND_EINVAL,
                          "hook %s: a boundary uses these hooks and publishes by itself, every event would come twice",
                          entry->name);
  }
  if (!is_there(hooks, entry->name)) return MEND_OK;
  return mend_error_set(error, MEND_EEXIST,
                        "hook %s: one of this name is there already, and events and results tell hooks by their names",
                        entry->name);
}

static mend_status append(mend_hooks *hooks, mend__hook_entry *entry, mend_error *error) {
  pthread_mutex_lock(&hooks->lock);
  const mend_status status = check_place(hooks, entry, error);
  if (status == MEND_OK) {
    atomic_store_explicit(hooks->end, entry, memory_order_release);
    hooks->end = &entry->next;
    atomic_fetch_add_explicit(&hooks->count, 1, memory_order_release);
  }
  pthread_mutex_unlock(&hooks->lock);
  return status;
}

mend_status mend_hooks_add(mend_hooks *hooks, const mend_hook *hook, void *ctx, const mend_hook_options *options,
                           mend_error *error) {
  mend_hook taken = {.size = sizeof taken};
  mend_hook_options how = MEND_HOOK_OPTIONS_INIT;
  if (hooks == NULL) return mend_error_set(error, MEND_EINVAL, "mend_hooks_add: the hooks are NULL");
  mend_status status = mend__options_require(&taken, hook, "mend_hook", error);
  if (status == MEND_OK) status = mend__options_take(&how, options, "mend_hook_options", error);
  if (status == MEND_OK) status = check_hook(&taken, &how, error);
  if (status != MEND_OK) return status;
  mend__hook_entry *entry = mend__alloc(hooks->allocator, sizeof *entry);
  if (entry == NULL) return mend_error_set(error, MEND_ENOMEM, "hook %s: out of memory", taken.name);
  *entry = (mend__hook_entry){.hook = taken, .ctx = ctx, .fail_closed = how.fail_closed};
  entry->limit_ns = how.time_limit_s > 0 ? mend__seconds_to_ns(how.time_limit_s) : MEND_NEVER;
  memcpy(entry->name, taken.name, strlen(taken.name) + 1);
  entry->hook.name = entry->name;
  status = append(hooks, entry, error);
  if (status != MEND_OK) mend__free(hooks->allocator, entry);
  return status;
}

bool mend__hooks_contain(mend_hooks *hooks, const mend_hook *hook) {
  mend__hook_entry *entry = mend__hooks_first(hooks);
  while (entry != NULL && !is_same(&entry->hook, hook))
    entry = mend__hooks_next(entry);
  return entry != NULL;
}

const mend_allocator *mend__hooks_allocator(const mend_hooks *hooks) { return hooks->allocator; }

bool mend__hooks_publish(mend_hooks *hooks) { return mend__hooks_contain(hooks, &mend__publishing_hook); }

bool mend__hooks_use(mend_hooks *hooks) {
  pthread_mutex_lock(&hooks->lock);
  const bool fits = !mend__hooks_publish(hooks);
  if (fits) hooks->used = true;
  pthread_mutex_unlock(&hooks->lock);
  return fits;
}

/* ---- Attaching ---- */

static mend_status attach(const mend__hook_entry *entry, mend_run *run, mend_error *error) {
  mend_error own = MEND_ERROR_INIT;
  const mend_status status = entry->hook.attach != NULL ? entry->hook.attach(entry->ctx, run, &own) : MEND_OK;
  if (status == MEND_OK) return MEND_OK;
  return mend_error_set(error, status, "hook %s: %s", entry->hook.name, mend_error_sentence(&own, status));
}

mend_status mend__hooks_attach(mend_hooks *hooks, mend_run *run, size_t *ret_count, mend_error *error) {
  const size_t count = mend__hooks_count(hooks);
  mend__hook_entry *entry = mend__hooks_first(hooks);
  for (size_t done = 0; done < count; done++, entry = mend__hooks_next(entry)) {
    const mend_status status = attach(entry, run, error);
    if (status == MEND_OK) continue;
    mend__hooks_detach(hooks, run, done);
    return status;
  }
  *ret_count = count;
  return MEND_OK;
}

void mend__hooks_detach(mend_hooks *hooks, mend_run *run, size_t count) {
  mend__hook_entry *entry = mend__hooks_first(hooks);
  for (; count > 0; count--, entry = mend__hooks_next(entry)) {
    if (entry->hook.detach != NULL) entry->hook.detach(entry->ctx, run);
  }
}
