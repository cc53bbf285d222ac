/* Spans as a tree with a time line:
 *
 *   researcher                       |--------------------------------------->|  1 min 30 s  open        run a
 *     search                         |##########                              |      22.5 s  ok
 *       fetch                        | #######                                |      15.7 s  error       3 attempts
 */
#include "core/buffer.h"
#include "core/columns.h"
#include "core/memory.h"
#include "core/text.h"
#include "healing_runner/tracer_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NAME_WIDTH = 32, BAR_WIDTH = 40, DURATION_WIDTH = 12, STATUS_WIDTH = 10, INDENT_MAX = 16 };

/* ---- The tree ---- */

typedef struct node {
  mend__span *span;
  struct node *parent, *first_child, *last_child, *next;
  size_t depth;
} node;

typedef struct tree {
  node *nodes; /* in the order they began */
  size_t count;
  mend__strmap by_id;
  uint64_t now_ns;
} tree;

static int compare_order(const void *a, const void *b) {
  const uint64_t x = ((const mend__span *)a)->order, y = ((const mend__span *)b)->order;
  return (x > y) - (x < y);
}

static mend_str key_of(const uint8_t id[8]) { return (mend_str){(const char *)id, 8}; }

/* Its parent or, where nothing is known of that, its run. */
static node *find_parent(const tree *t, const mend__span *span) {
  node *parent = mend__strmap_get(&t->by_id, key_of(span->parent_id));
  return parent != NULL || span->call == 0 ? parent : mend__strmap_get(&t->by_id, key_of(span->run->span_id));
}

static void join(const tree *t, node *child) {
  node *parent = find_parent(t, child->span);
  if (parent == NULL) return;
  child->parent = parent;
  child->depth = parent->depth + 1;
  *(parent->last_child != NULL ? &parent->last_child->next : &parent->first_child) = child;
  parent->last_child = child;
}

/* In the order they began, so nothing finds a parent that began after it, whatever it claims: there are no circles. Of
 * two spans with one id, which a run has that was forgotten and heard of again, the first counts as parent. */
static mend_status plant(tree *t, mend__span *spans, const mend_allocator *allocator) {
  qsort(spans, t->count, sizeof *spans, compare_order);
  mend__strmap_init(&t->by_id, allocator);
  t->nodes = mend__alloc_zero(allocator, t->count * sizeof *t->nodes);
  if (t->nodes == NULL) return MEND_ENOMEM;
  for (size_t i = 0; i < t->count; i++) {
    node *planted = &t->nodes[i];
    planted->span = &spans[i];
    join(t, planted);
    if (mend__strmap_put(&t->by_id, key_of(spans[i].span_id), planted) == MEND_ENOMEM) return MEND_ENOMEM;
  }
  return MEND_OK;
}

static void fell(tree *t, const mend_allocator *allocator) {
  mend__free(allocator, t->nodes);
  mend__strmap_free(&t->by_id);
}

/* The next node of the tree under `root`, children before siblings. */
static const node *next_node(const node *root, const node *at) {
  if (at->first_child != NULL) return at->first_child;
  while (at != root && at->next == NULL)
    at = at->parent;
  return at != root ? at->next : NULL;
}

/* ---- Texts of a certain width ---- */

static void fill(mend__buffer *out, char c, size_t count) {
  while (count-- > 0)
    mend__buffer_char(out, c);
}

static mend_str first_character(mend_str text) { return (mend_str){text.ptr, mend__character_len(text)}; }

static mend_str behind(mend_str text, mend_str piece) { return (mend_str){text.ptr + piece.len, text.len - piece.len}; }

/* At most `width` columns, the last ones ".." where that is not all. What cannot be printed becomes "?". Returns how
 * many were written. */
static size_t write_text(mend__buffer *out, mend_str text, size_t width) {
  const size_t room = mend__columns(text) <= width ? width : width - 2;
  size_t written = 0;
  while (text.len > 0) {
    const mend_str character = first_character(text);
    const size_t columns = mend__columns(character);
    if (columns > room - written) break;
    mend__buffer_str(out, mend__is_printable(character) ? character : MEND_STR("?"));
    written += columns;
    text = behind(text, character);
  }
  if (text.len == 0) return written;
  mend__buffer_str(out, MEND_STR(".."));
  return written + 2;
}

static void write_column(mend__buffer *out, mend_str text, size_t width) {
  const size_t written = write_text(out, text, width);
  fill(out, ' ', width - written);
}

/* ---- Durations: three digits and a unit, such as 1.24 s, or two units, such as 2 min 05 s ---- */

typedef struct unit {
  uint64_t ns;
  const char *name;
} unit;

static const unit small_units[] = {{MEND_SECOND_NS, "s"}, {1000000, "ms"}, {1000, "us"}, {1, "ns"}};
static const unit large_units[] = {
    {86400 * MEND_SECOND_NS, "d"}, {3600 * MEND_SECOND_NS, "h"}, {60 * MEND_SECOND_NS, "min"}, {MEND_SECOND_NS, "s"}};

static int print_small(char *text, size_t size, uint64_t ns) {
  const unit *chosen = small_units;
  while (chosen->ns > ns && chosen->ns > 1)
    chosen++;
  const uint64_t whole = ns / chosen->ns, thousandths = chosen->ns > 1 ? ns % chosen->ns * 1000 / chosen->ns : 0;
  if (whole >= 100 || chosen->ns == 1) return snprintf(text, size, "%" PRIu64 " %s", whole, chosen->name);
  if (whole >= 10) return snprintf(text, size, "%" PRIu64 ".%" PRIu64 " %s", whole, thousandths / 100, chosen->name);
  return snprintf(text, size, "%" PRIu64 ".%02" PRIu64 " %s", whole, thousandths / 10, chosen->name);
}

static int print_large(char *text, size_t size, uint64_t ns) {
  const unit *chosen = large_units;
  while (chosen->ns > ns)
    chosen++;
  const unit *smaller = chosen + 1;
  return snprintf(text, size, "%" PRIu64 " %s %02" PRIu64 " %s", ns / chosen->ns, chosen->name,
                  ns % chosen->ns / smaller->ns, smaller->name);
}

static void write_duration(mend__buffer *out, uint64_t ns) {
  char text[64];
  const int len = ns < 60 * MEND_SECOND_NS ? print_small(text, sizeof text, ns) : print_large(text, sizeof text, ns);
  if (len < DURATION_WIDTH) fill(out, ' ', (size_t)(DURATION_WIDTH - len));
  mend__buffer_bytes(out, text, (size_t)len);
}

/* ---- Rows ---- */

/* The time that the tree under a root takes. */
typedef struct scale {
  uint64_t start_ns, end_ns;
} scale;

static uint64_t end_of(const mend__span *span, uint64_t now_ns) {
  return span->start.mono_ns + mend__span_duration_ns(span, now_ns);
}

static scale measure(const tree *t, const node *root) {
  scale s = {root->span->start.mono_ns, 0};
  for (const node *n = root; n != NULL; n = next_node(root, n)) {
    const uint64_t end_ns = end_of(n->span, t->now_ns);
    if (n->span->start.mono_ns < s.start_ns) s.start_ns = n->span->start.mono_ns;
    if (end_ns > s.end_ns) s.end_ns = end_ns;
  }
  return s;
}

static double place_in(scale s, uint64_t ns) {
  return s.end_ns > s.start_ns ? (double)(ns - s.start_ns) / (double)(s.end_ns - s.start_ns) * BAR_WIDTH : 0;
}

static size_t column_of(scale s, uint64_t ns) { return (size_t)lround(place_in(s, ns)); }

/* Both ends at the nearest column, so that calls one after another do not overlap; at least one character, however
 * short the span; the end of an open one is an arrow. */
static void write_bar(mend__buffer *out, const mend__span *span, uint64_t now_ns, scale s) {
  size_t from = column_of(s, span->start.mono_ns), to = column_of(s, end_of(span, now_ns));
  if (from >= BAR_WIDTH) from = BAR_WIDTH - 1;
  if (to <= from) to = from + 1;
  mend__buffer_char(out, '|');
  fill(out, ' ', from);
  fill(out, span->is_open ? '-' : '#', to - from - 1);
  mend__buffer_char(out, span->is_open ? '>' : '#');
  fill(out, ' ', BAR_WIDTH - to);
  mend__buffer_char(out, '|');
}

static void write_count(mend__buffer *out, uint32_t count, const char *one) {
  mend__buffer_printf(out, "  %" PRIu32 " %s%s", count, one, count == 1 ? "" : "s");
}

static bool is_run(const mend__span *span) { return span->call == 0; }

static mend_str status_of(const mend__span *span) {
  if (span->is_open) return MEND_STR("open");
  const mend_str status = mend__span_status(span);
  const bool is_success = mend_str_equal(status, MEND_STR("after")) || mend_str_equal(status, MEND_STR("response"));
  return is_success && !is_run(span) ? MEND_STR("ok") : status;
}

static void write_row(mend__buffer *out, const node *n, uint64_t now_ns, scale s) {
  const mend__span *span = n->span;
  const size_t indent = 2 * (n->depth < INDENT_MAX / 2 ? n->depth : INDENT_MAX / 2);
  const mend_str name = mend__span_name(span);
  fill(out, ' ', indent);
  write_column(out, name.len > 0 ? name : mend_str_from(span->kind), NAME_WIDTH - indent);
  mend__buffer_char(out, ' ');
  write_bar(out, span, now_ns, s);
  write_duration(out, mend__span_duration_ns(span, now_ns));
  mend__buffer_str(out, MEND_STR("  "));
  write_column(out, status_of(span), STATUS_WIDTH);
  if (span->attempts > 1) write_count(out, span->attempts, "attempt");
  if (span->detections > 0) write_count(out, span->detections, "detection");
  if (is_run(span)) {
    mend__buffer_str(out, MEND_STR("  run "));
    write_text(out, mend__span_run_id(span), SIZE_MAX);
  }
  while (!out->failed && out->data[out->len - 1] == ' ')
    out->len--;
  mend__buffer_char(out, '\n');
}

static void write_tree(mend__buffer *out, const tree *t, const node *root) {
  const scale s = measure(t, root);
  for (const node *n = root; n != NULL; n = next_node(root, n))
    write_row(out, n, t->now_ns, s);
}

mend_status mend__trace_draw(mend__span *copies, size_t count, uint64_t now_ns, const mend_allocator *allocator,
                             char **ret_text) {
  tree t = {.count = count, .now_ns = now_ns};
  mend__buffer out;
  mend__buffer_init(&out, allocator);
  mend_status status = plant(&t, copies, allocator);
  for (size_t i = 0; i < count && status == MEND_OK; i++) {
    if (t.nodes[i].parent == NULL) write_tree(&out, &t, &t.nodes[i]);
  }
  fell(&t, allocator);
  if (status == MEND_OK) return mend__buffer_take(&out, ret_text, NULL);
  mend__buffer_free(&out);
  return status;
}
