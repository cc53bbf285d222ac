#include "core/options_size.h"
#include "watchdogs/watchdogs_internal.h"

static bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
}

static bool is_name(const char *name) {
  size_t len = 0;
  while (is_name_char(name[len]))
    len++;
  return name[len] == '\0' && len > 0 && len < sizeof((mend_watchdog *)NULL)->name;
}

static mend_status check_name(const char *name, mend_error *error) {
  if (name != NULL && is_name(name)) return MEND_OK;
  return mend_error_set(error, MEND_EINVAL,
                        "mend_watchdog_vtable.name: \"%s\", expected 1 to 63 of a-z, 0-9, '_', '.' and '-'",
                        name != NULL ? name : "");
}

mend_status mend__watchdog_new_counting(const mend_watchdog_vtable *given, void *ctx, mend__counters *counters,
                                        const mend_allocator *allocator, mend_watchdog **ret_watchdog,
                                        mend_error *error) {
  mend_watchdog_vtable vtable = {.size = sizeof vtable};
  mend_status status = mend__options_require(&vtable, given, "mend_watchdog_vtable", error);
  if (status == MEND_OK) status = check_name(vtable.name, error);
  if (status != MEND_OK) return status;
  mend_watchdog *watchdog = mend__alloc_zero(allocator, sizeof *watchdog);
  status = watchdog != NULL ? mend__wants_init(&watchdog->wants, vtable.topics, allocator) : MEND_ENOMEM;
  if (status != MEND_OK) {
    mend__free(allocator, watchdog);
    if (status == MEND_ENOMEM) return mend_error_set(error, status, "watchdog %s: out of memory", vtable.name);
    return mend_error_set(
        error, status,
        "watchdog %s: topics: \"%s\", expected topics and prefixes with blanks between, such as \"tool.* model.usage\"",
        vtable.name, vtable.topics);
  }
  watchdog->allocator = allocator;
  atomic_init(&watchdog->references, 1);
  watchdog->ctx = ctx;
  watchdog->counters = counters;
  memcpy(watchdog->name, vtable.name, strlen(vtable.name) + 1);
  watchdog->vtable = vtable;
  watchdog->vtable.name = watchdog->name;
  watchdog->vtable.topics = NULL; /* the caller's text; what it says is in `topics` */
  *ret_watchdog = watchdog;
  return MEND_OK;
}

mend_status mend_watchdog_new(const mend_watchdog_vtable *vtable, void *ctx, const mend_allocator *allocator,
                              mend_watchdog **ret_watchdog, mend_error *error) {
  return mend__watchdog_new_counting(vtable, ctx, NULL, allocator, ret_watchdog, error);
}

mend_watchdog *mend_watchdog_retain(mend_watchdog *watchdog) {
  atomic_fetch_add_explicit(&watchdog->references, 1, memory_order_relaxed);
  return watchdog;
}

void mend_watchdog_release(mend_watchdog *watchdog) {
  if (watchdog == NULL || atomic_fetch_sub(&watchdog->references, 1) > 1) return;
  if (watchdog->vtable.destroy != NULL) watchdog->vtable.destroy(watchdog->ctx);
  mend__wants_free(&watchdog->wants, watchdog->allocator);
  mend__free(watchdog->allocator, watchdog);
}

const char *mend_watchdog_name(const mend_watchdog *watchdog) { return watchdog->name; }

mend_status mend_watchdog_get_stats(mend_watchdog *watchdog, mend_watchdog_stats *ret_stats) {
  if (watchdog == NULL || ret_stats == NULL) return MEND_EINVAL;
  if (watchdog->counters == NULL) return MEND_ENOTSUP;
  if (ret_stats->size < sizeof(size_t)) return MEND_EINVAL;
  mend_watchdog_stats stats = {
      .size = sizeof stats,
      .ignored = atomic_load_explicit(&watchdog->counters->ignored, memory_order_relaxed),
      .duplicates = atomic_load_explicit(&watchdog->counters->duplicates, memory_order_relaxed),
      .unwatched = atomic_load_explicit(&watchdog->counters->unwatched, memory_order_relaxed),
      .raw = atomic_load_explicit(&watchdog->counters->raw, memory_order_relaxed),
  };
  mend__options_give(ret_stats, &stats);
  return MEND_OK;
}
