#include "bench/peers/peers.h"

#include <glib-object.h>
#include <malloc.h>
#include <stdio.h>

enum { HANDLERS = 20000 };

static struct {
  GObject *object;
  guint plain, detailed;
  GQuark detail;
  uint64_t calls;
} with;

static void on_signal(GObject *object, gpointer event, gpointer ctx) {
  (void)object;
  *(uint64_t *)ctx += ((const mend_event *)event)->call;
}

static guint new_signal(const char *name, GSignalFlags flags) {
  const guint known = g_signal_lookup(name, G_TYPE_OBJECT);
  if (known != 0) return known;
  return g_signal_new(name, G_TYPE_OBJECT, flags | G_SIGNAL_RUN_LAST | G_SIGNAL_NO_RECURSE | G_SIGNAL_NO_HOOKS, 0, NULL,
                      NULL, g_cclosure_marshal_VOID__POINTER, G_TYPE_NONE, 1, G_TYPE_POINTER);
}

static void open_object(void) {
  with.object = g_object_new(G_TYPE_OBJECT, NULL);
  with.plain = new_signal("bench-event", 0);
  with.detailed = new_signal("bench-topic", G_SIGNAL_DETAILED);
}

void bench_glib_open(const bench_row *row) {
  open_object();
  for (int64_t i = 0; i < row->argument; i++)
    g_signal_connect(with.object, "bench-event", G_CALLBACK(on_signal), &with.calls);
}

static void emit(guint signal, GQuark detail, uint64_t count) {
  mend_tool_before_event event = MEND_TOOL_BEFORE_EVENT_INIT;
  event.event.call = 1;
  for (uint64_t i = 0; i < count; i++)
    g_signal_emit(with.object, signal, detail, &event.event);
}

void bench_glib_run(const bench_row *row, uint64_t count) {
  (void)row;
  emit(with.plain, 0, count);
}

void bench_glib_close(const bench_row *row) {
  (void)row;
  g_object_unref(with.object);
}

void bench_glib_detail_open(const bench_row *row) {
  char name[32];
  open_object();
  for (int64_t i = 0; i < row->argument; i++) {
    snprintf(name, sizeof name, "own-topic-%d", (int)i);
    with.detail = g_quark_from_string(name);
  }
  g_signal_connect(with.object, "bench-topic", G_CALLBACK(on_signal), &with.calls);
}

void bench_glib_detail_run(const bench_row *row, uint64_t count) {
  (void)row;
  emit(with.detailed, with.detail, count);
}

void bench_glib_detail_close(const bench_row *row) { bench_glib_close(row); }
void bench_glib_detail_named_open(const bench_row *row) { bench_glib_detail_open(row); }

void bench_glib_detail_named_run(const bench_row *row, uint64_t count) {
  (void)row;
  mend_tool_before_event event = MEND_TOOL_BEFORE_EVENT_INIT;
  for (uint64_t i = 0; i < count; i++)
    g_signal_emit_by_name(with.object, "bench-topic::own-topic-777", &event.event);
}

void bench_glib_detail_named_close(const bench_row *row) { bench_glib_close(row); }

size_t bench_glib_bytes_a_handler(void) {
  open_object();
  const size_t before = mallinfo2().uordblks;
  for (int i = 0; i < HANDLERS; i++)
    g_signal_connect(with.object, "bench-event", G_CALLBACK(on_signal), &with.calls);
  const size_t bytes = (mallinfo2().uordblks - before) / HANDLERS;
  g_object_unref(with.object);
  return bytes;
}
