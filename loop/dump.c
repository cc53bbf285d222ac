/* A loop as text: where it is, what waits. */
#include "core/buffer.h"
#include "loop/loop_internal.h"

static void write_text(mend__buffer *text, const char *literal) { mend__buffer_str(text, mend_str_from(literal)); }

static void write_time(mend__buffer *text, uint64_t mono_ns) {
  if (mono_ns == MEND_NEVER) {
    write_text(text, "never");
    return;
  }
  mend__buffer_seconds(text, mono_ns);
  write_text(text, " s");
}

static void write_address(mend__buffer *text, uintptr_t address) {
  write_text(text, "0x");
  mend__buffer_printf(text, "%llx", (unsigned long long)address);
}

static const char *thread_of(const mend_loop *loop) {
  if (loop->owns_thread) return "a thread of its own";
  return loop->thread_known ? "a caller's base" : "a caller's base, not dispatched yet";
}

static const char *stage_of(const mend_loop *loop) {
  if (loop->ended) return "ended";
  if (loop->ending) return "ending";
  return loop->running ? "in a turn" : "waiting";
}

static void write_head(mend__buffer *text, const mend_loop *loop) {
  mend__buffer_printf(text, "loop, %s: %s; turns %zu, references %zu\n", thread_of(loop), stage_of(loop),
                      atomic_load(&loop->turns), atomic_load(&loop->references));
  write_text(text, loop->is_virtual ? "virtual clock: it is " : "real clock: it is ");
  write_time(text, mend_clock_now(loop->clock).mono_ns);
  if (!loop->is_virtual) {
    write_text(text, ", it looks again at ");
    write_time(text, loop->wake_at_ns);
  }
  mend__buffer_char(text, '\n');
}

static void write_call(mend__buffer *text, const mend_loop *loop) {
  if (!loop->calling) return;
  write_text(text, "under way: the driver or timer ");
  write_address(text, (uintptr_t)loop->called);
  mend__buffer_char(text, '\n');
}

static void write_posted(mend__buffer *text, const mend_loop *loop) {
  size_t count = 0;
  for (const mend__posted *posted = loop->first_posted; posted != NULL; posted = posted->next)
    count++;
  mend__buffer_printf(text, "posted: %zu\n", count);
  for (const mend__posted *posted = loop->first_posted; posted != NULL; posted = posted->next) {
    write_text(text, "  function ");
    write_address(text, (uintptr_t)posted->function);
    write_text(text, ", context ");
    write_address(text, (uintptr_t)posted->ctx);
    mend__buffer_char(text, '\n');
  }
}

static void write_drivers(mend__buffer *text, const mend_loop *loop) {
  mend__buffer_printf(text, "drivers: %zu%s\n", loop->driver_count,
                      atomic_load(&loop->stale) ? ", to be asked anew" : "");
  for (size_t i = 0; i < loop->driver_count; i++) {
    write_text(text, "  context ");
    write_address(text, (uintptr_t)loop->drivers[i].given.ctx);
    write_text(text, ", deadline ");
    write_time(text, loop->drivers[i].next_ns);
    mend__buffer_char(text, '\n');
  }
}

static void write_timers(mend__buffer *text, const mend_loop *loop) {
  const bool there_are = loop->deadlines != NULL;
  mend__buffer_printf(text, "timers: %zu, deadline ", there_are ? mend_deadlines_count(loop->deadlines) : 0);
  write_time(text, there_are ? mend_deadlines_next(loop->deadlines) : MEND_NEVER);
  mend__buffer_char(text, '\n');
}

static void write_loop(mend__buffer *text, mend_loop *loop) {
  pthread_mutex_lock(&loop->lock);
  write_head(text, loop);
  write_call(text, loop);
  write_posted(text, loop);
  write_drivers(text, loop);
  write_timers(text, loop);
  pthread_mutex_unlock(&loop->lock);
}

mend_status mend_loop_dump(mend_loop *loop, const mend_allocator *allocator, char **ret_text) {
  mend__buffer text;
  mend__buffer_init(&text, allocator);
  write_loop(&text, loop);
  mend__buffer_char(&text, '\0');
  if (text.failed) {
    mend__buffer_free(&text);
    return MEND_ENOMEM;
  }
  *ret_text = text.data;
  return MEND_OK;
}
