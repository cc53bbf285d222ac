/* A loop as text: where it is, what waits. */
#include "core/buffer.h"
#include "loop/loop_internal.h"

#include <event2/event.h>
#include <inttypes.h>

static const char *thread_of(const mend_loop *loop) {
  if (loop->owns_thread) return "a thread of its own";
  return loop->thread_known ? "a caller's base" : "a caller's base, not dispatched yet";
}

static void write_head(mend__buffer *text, const mend_loop *loop) {
  mend__buffer_printf(text, "loop, %s: %s; turns %zu, references %zu\n", thread_of(loop),
                      loop->running ? "in a turn" : "waiting", atomic_load(&loop->turns),
                      atomic_load(&loop->references));
  mend__buffer_printf(text, "%s clock: it is ", loop->is_virtual ? "virtual" : "real");
  mend__buffer_time(text, mend_clock_now(loop->clock).mono_ns);
  if (!loop->is_virtual) {
    mend__buffer_str(text, MEND_STR(", it looks again at "));
    mend__buffer_time(text, loop->wake_at_ns);
  }
  mend__buffer_char(text, '\n');
}

static void write_call(mend__buffer *text, const mend_loop *loop) {
  if (!loop->calling) return;
  mend__buffer_printf(text, "under way: the driver or timer %#" PRIxPTR "\n", (uintptr_t)loop->called);
}

static void write_posted(mend__buffer *text, const mend_loop *loop) {
  size_t count = 0;
  for (const mend__posted *posted = loop->first_posted; posted != NULL; posted = posted->next)
    count++;
  mend__buffer_printf(text, "posted: %zu\n", count);
  for (const mend__posted *posted = loop->first_posted; posted != NULL; posted = posted->next) {
    mend__buffer_printf(text, "  function %#" PRIxPTR ", context %#" PRIxPTR "\n", (uintptr_t)posted->function,
                        (uintptr_t)posted->ctx);
  }
}

static void write_drivers(mend__buffer *text, const mend_loop *loop) {
  mend__buffer_printf(text, "drivers: %zu%s\n", loop->driver_count,
                      atomic_load(&loop->stale) ? ", to be asked anew" : "");
  for (size_t i = 0; i < loop->driver_count; i++) {
    mend__buffer_printf(text, "  context %#" PRIxPTR ", deadline ", (uintptr_t)loop->drivers[i].given.ctx);
    mend__buffer_time(text, loop->drivers[i].next_ns);
    mend__buffer_char(text, '\n');
  }
}

static void write_timers(mend__buffer *text, const mend_loop *loop) {
  mend__buffer_printf(text, "timers: %zu, deadline ", mend_deadlines_count(loop->deadlines));
  mend__buffer_time(text, mend_deadlines_next(loop->deadlines));
  mend__buffer_char(text, '\n');
}

static const char *wanted_of(const mend__descriptor *descriptor) {
  switch (descriptor->wanted) {
  case EV_READ: return "to be read";
  case EV_WRITE: return "to be written";
  case EV_READ | EV_WRITE: return "to be read or written";
  default: return "for nothing now";
  }
}

static void write_descriptors(mend__buffer *text, const mend_loop *loop) {
  size_t count = 0;
  for (const mend__descriptor *each = loop->first_descriptor; each != NULL; each = each->next)
    count++;
  mend__buffer_printf(text, "descriptors: %zu\n", count);
  for (const mend__descriptor *each = loop->first_descriptor; each != NULL; each = each->next) {
    mend__buffer_printf(text, "  %d (%s), waits %s, context %#" PRIxPTR ", since ", each->fd, each->use,
                        wanted_of(each), (uintptr_t)each->ctx);
    mend__buffer_time(text, each->since_ns);
    mend__buffer_char(text, '\n');
  }
}

static void write_loop(mend__buffer *text, mend_loop *loop) {
  pthread_mutex_lock(&loop->lock);
  write_head(text, loop);
  write_call(text, loop);
  write_posted(text, loop);
  write_drivers(text, loop);
  write_timers(text, loop);
  write_descriptors(text, loop);
  pthread_mutex_unlock(&loop->lock);
}

mend_status mend_loop_dump(mend_loop *loop, const mend_allocator *allocator, char **ret_text) {
  if (loop == NULL) return MEND_EINVAL;
  mend__buffer text;
  mend__buffer_init(&text, allocator);
  write_loop(&text, loop);
  return mend__buffer_take(&text, ret_text, NULL);
}
