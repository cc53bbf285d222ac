/* For tests and debuggers: whether a set of deadlines is as it should be, and what is in it. */
#include "core/buffer.h"
#include "core/deadlines_internal.h"
#include "core/given.h"

#include <inttypes.h>

/* ---- The heap, parents first ---- */

typedef struct heap_place {
  const mend_deadline *node;
  size_t depth;
} heap_place;

/* A node's parent is what the first of its siblings has as its previous. */
static const mend_deadline *parent_of(const mend_deadline *node) {
  while (node->previous->child != node)
    node = node->previous;
  return node->previous;
}

static void step(heap_place *at) {
  if (at->node->child != NULL) {
    at->node = at->node->child;
    at->depth++;
    return;
  }
  for (; at->depth > 0 && at->node->next == NULL; at->depth--)
    at->node = parent_of(at->node);
  at->node = at->node->next;
}

/* ---- Validating ---- */

typedef struct check {
  const mend_deadlines *deadlines;
  size_t found;
  mend_error *error;
} check;

/* What every armed deadline fulfils, wherever it is. NULL when it does. */
static const char *fault_of(check *checked, const mend_deadline *deadline, const void *queue) {
  if (++checked->found > checked->deadlines->count) return "is one more than the count says";
  if (deadline->queue != queue) return "has the queue of another";
  if (deadline->order == 0 || deadline->order > checked->deadlines->order) return "has an order that was never given";
  return NULL;
}

static const char *fault_in_fifo(check *checked, const mend__fifo *fifo, const mend_deadline *deadline) {
  const mend_deadline *before = deadline->previous;
  if (before != NULL && deadline == fifo->first) return "is the first and has a previous";
  if (before != NULL && mend__deadline_precedes(deadline, before)) return "is due before its previous";
  if (deadline->next == NULL && deadline != fifo->last) return "has no next and is not the last";
  if (deadline->next != NULL && deadline->next->previous != deadline) return "is not the previous of its next";
  return fault_of(checked, deadline, fifo);
}

static mend_status check_fifo(check *checked, size_t number) {
  const mend__fifo *fifo = &checked->deadlines->fifos[number];
  size_t place = 1;
  for (const mend_deadline *deadline = fifo->first; deadline != NULL; deadline = deadline->next, place++) {
    const char *fault = fault_in_fifo(checked, fifo, deadline);
    if (fault == NULL) continue;
    return mend_error_set(checked->error, MEND_EINVAL, "FIFO %zu, deadline %zu %s", number, place, fault);
  }
  for (size_t other = 0; other < number; other++) {
    if (checked->deadlines->fifos[other].timeout_ns != fifo->timeout_ns) continue;
    return mend_error_set(checked->error, MEND_EINVAL, "FIFO %zu and %zu are for the same timeout", other, number);
  }
  if (fifo->first == NULL && fifo->last != NULL) {
    return mend_error_set(checked->error, MEND_EINVAL, "FIFO %zu has a last but no first", number);
  }
  return MEND_OK;
}

static const char *fault_in_children(const mend_deadline *parent) {
  const mend_deadline *child = parent->child;
  if (child != NULL && child->previous != parent) return "is not the previous of its first child";
  for (; child != NULL; child = child->next) {
    if (mend__deadline_precedes(child, parent)) return "is due after a child";
    const mend_deadline *next = child->next;
    if (next != NULL && next->previous != child) return "has a child that is not the previous of its next";
  }
  return NULL;
}

static mend_status check_heap(check *checked) {
  heap_place at = {checked->deadlines->heap.root, 0};
  if (at.node != NULL && (at.node->previous != NULL || at.node->next != NULL)) {
    return mend_error_set(checked->error, MEND_EINVAL, "heap: the root has siblings");
  }
  for (size_t place = 1; at.node != NULL; place++, step(&at)) {
    const char *fault = fault_in_children(at.node);
    if (fault == NULL) fault = fault_of(checked, at.node, &checked->deadlines->heap);
    if (fault != NULL) return mend_error_set(checked->error, MEND_EINVAL, "heap, deadline %zu %s", place, fault);
  }
  return MEND_OK;
}

mend_status mend_deadlines_validate(const mend_deadlines *deadlines, mend_error *error) {
  if (deadlines == NULL) return mend__refuse_null(error, "the deadlines");
  check checked = {deadlines, 0, error};
  mend_status status = check_heap(&checked);
  for (size_t number = 0; number < deadlines->fifo_count && status == MEND_OK; number++)
    status = check_fifo(&checked, number);
  if (status != MEND_OK) return status;
  if (checked.found != deadlines->count) {
    return mend_error_set(error, MEND_EINVAL, "the count is %zu, and %zu are linked", deadlines->count, checked.found);
  }
  if (deadlines->head != NULL && deadlines->head != mend__deadlines_earliest(deadlines)) {
    return mend_error_set(error, MEND_EINVAL, "the head, due at %" PRIu64 ", is not the first to expire",
                          deadlines->head->due_ns);
  }
  return MEND_OK;
}

/* ---- As text ---- */

static void dump_time(mend__buffer *text, uint64_t ns) {
  if (ns == MEND_NEVER) {
    mend__buffer_str(text, MEND_STR("never"));
  } else {
    mend__buffer_printf(text, "%" PRIu64 " ns", ns);
  }
}

static void dump_deadline(mend__buffer *text, const mend_deadline *deadline, size_t depth) {
  const int blanks = depth < 30 ? (int)depth * 2 + 2 : 62;
  mend__buffer_printf(text, "%*sdue at ", blanks, "");
  dump_time(text, deadline->due_ns);
  mend__buffer_printf(text, ", armed as number %" PRIu64 "\n", deadline->order);
}

static void dump_queues(mend__buffer *text, const mend_deadlines *deadlines) {
  for (size_t number = 0; number < deadlines->fifo_count; number++) {
    const mend__fifo *fifo = &deadlines->fifos[number];
    mend__buffer_printf(text, "FIFO %zu, timeout ", number);
    dump_time(text, fifo->timeout_ns);
    mend__buffer_char(text, '\n');
    for (const mend_deadline *at = fifo->first; at != NULL; at = at->next)
      dump_deadline(text, at, 0);
  }
  if (deadlines->heap.root != NULL) mend__buffer_str(text, MEND_STR("heap\n"));
  for (heap_place at = {deadlines->heap.root, 0}; at.node != NULL; step(&at))
    dump_deadline(text, at.node, at.depth);
}

mend_status mend_deadlines_dump(const mend_deadlines *deadlines, const mend_allocator *allocator, char **ret_text) {
  if (deadlines == NULL) return MEND_EINVAL;
  mend__buffer text;
  mend_error error;
  mend__buffer_init(&text, allocator);
  mend__buffer_printf(&text, "%zu armed, the waiter comes at ", deadlines->count);
  dump_time(&text, deadlines->known_ns);
  mend__buffer_char(&text, '\n');
  if (mend_deadlines_validate(deadlines, &error) == MEND_OK) {
    dump_queues(&text, deadlines);
  } else {
    mend__buffer_printf(&text, "broken: %s\n", error.message);
  }
  return mend__buffer_take(&text, ret_text, NULL);
}
