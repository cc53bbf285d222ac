#include "core/deadlines_internal.h"
#include "core/memory.h"

mend_status mend_deadlines_new(const mend_allocator *allocator, mend_waker waker, mend_deadlines **ret_deadlines) {
  mend_deadlines *deadlines = mend__alloc_zero(allocator, sizeof *deadlines);
  if (deadlines == NULL) return MEND_ENOMEM;
  deadlines->allocator = allocator;
  deadlines->waker = waker;
  deadlines->known_ns = MEND_NEVER;
  *ret_deadlines = deadlines;
  return MEND_OK;
}

static void fifo_append(mend__fifo *queue, mend_deadline *deadline) {
  deadline->next = NULL;
  deadline->previous = queue->last;
  if (queue->last != NULL) {
    queue->last->next = deadline;
  } else {
    queue->first = deadline;
  }
  queue->last = deadline;
}

static void fifo_remove(mend__fifo *queue, mend_deadline *deadline) {
  if (deadline->previous != NULL) {
    deadline->previous->next = deadline->next;
  } else {
    queue->first = deadline->next;
  }
  if (deadline->next != NULL) {
    deadline->next->previous = deadline->previous;
  } else {
    queue->last = deadline->previous;
  }
}

/* The timeout's FIFO, else an empty one, which becomes the timeout's; NULL when all are others'. */
static mend__fifo *fifo_for(mend_deadlines *deadlines, uint64_t timeout_ns) {
  mend__fifo *empty = NULL;
  for (size_t i = 0; i < deadlines->fifo_count; i++) {
    mend__fifo *queue = &deadlines->fifos[i];
    if (queue->timeout_ns == timeout_ns) return queue;
    if (empty == NULL && queue->first == NULL) empty = queue;
  }
  if (empty == NULL && deadlines->fifo_count < MEND__FIFO_COUNT) empty = &deadlines->fifos[deadlines->fifo_count++];
  if (empty != NULL) empty->timeout_ns = timeout_ns;
  return empty;
}

static void put_in(mend_deadlines *deadlines, mend_deadline *deadline, uint64_t timeout_ns) {
  mend__fifo *queue = fifo_for(deadlines, timeout_ns);
  if (queue != NULL && (queue->last == NULL || queue->last->due_ns <= deadline->due_ns)) {
    fifo_append(queue, deadline);
    deadline->queue = queue;
  } else {
    mend__heap_push(&deadlines->heap, deadline);
    deadline->queue = &deadlines->heap;
  }
  deadlines->count++;
}

static void take_out(mend_deadlines *deadlines, mend_deadline *deadline) {
  if (deadline->queue == &deadlines->heap) {
    mend__heap_remove(&deadlines->heap, deadline);
  } else {
    fifo_remove(deadline->queue, deadline);
  }
  deadline->queue = NULL;
  deadlines->count--;
  if (deadlines->head == deadline) deadlines->head = NULL;
}

static mend_deadline *earlier(mend_deadline *a, mend_deadline *b) {
  if (a == NULL || b == NULL) return a != NULL ? a : b;
  return mend__deadline_precedes(b, a) ? b : a;
}

mend_deadline *mend__deadlines_earliest(const mend_deadlines *deadlines) {
  mend_deadline *head = mend__heap_min(&deadlines->heap);
  for (size_t i = 0; i < deadlines->fifo_count; i++)
    head = earlier(head, deadlines->fifos[i].first);
  return head;
}

static mend_deadline *find_head(mend_deadlines *deadlines) {
  if (deadlines->head == NULL && deadlines->count > 0) deadlines->head = mend__deadlines_earliest(deadlines);
  return deadlines->head;
}

void mend_deadlines_free(mend_deadlines *deadlines) {
  if (deadlines == NULL) return;
  for (mend_deadline *head; (head = find_head(deadlines)) != NULL;)
    take_out(deadlines, head);
  mend__free(deadlines->allocator, deadlines);
}

static uint64_t due_after(uint64_t start_ns, uint64_t timeout_ns) {
  if (timeout_ns >= MEND_NEVER - start_ns) return MEND_NEVER;
  return start_ns + timeout_ns + 1;
}

static void wake_if_earlier(mend_deadlines *deadlines, uint64_t due_ns) {
  if (due_ns >= deadlines->known_ns) return;
  deadlines->known_ns = due_ns;
  if (deadlines->waker.wake != NULL) deadlines->waker.wake(deadlines->waker.ctx);
}

void mend_deadlines_arm(mend_deadlines *deadlines, mend_deadline *deadline, uint64_t start_ns, uint64_t timeout_ns) {
  mend_deadlines_disarm(deadlines, deadline);
  deadline->due_ns = due_after(start_ns, timeout_ns);
  deadline->order = ++deadlines->order;
  const bool first = deadlines->count == 0;
  put_in(deadlines, deadline, timeout_ns);
  if (first || (deadlines->head != NULL && mend__deadline_precedes(deadline, deadlines->head)))
    deadlines->head = deadline;
  wake_if_earlier(deadlines, deadline->due_ns);
}

void mend_deadlines_disarm(mend_deadlines *deadlines, mend_deadline *deadline) {
  if (mend_deadline_is_armed(deadline)) take_out(deadlines, deadline);
}

bool mend_deadline_is_armed(const mend_deadline *deadline) { return deadline->queue != NULL; }

uint64_t mend_deadlines_next(mend_deadlines *deadlines) {
  const mend_deadline *head = find_head(deadlines);
  return head != NULL ? head->due_ns : MEND_NEVER;
}

/* Never later than what the waiter knew: a call that ended before it came to ask would have it forget that time, and be
 * woken for the next call, and the next. */
uint64_t mend_deadlines_wait(mend_deadlines *deadlines) {
  const uint64_t next_ns = mend_deadlines_next(deadlines);
  if (next_ns < deadlines->known_ns) deadlines->known_ns = next_ns;
  return deadlines->known_ns;
}

mend_deadline *mend_deadlines_expire(mend_deadlines *deadlines, uint64_t now_ns) {
  if (deadlines->known_ns <= now_ns) deadlines->known_ns = MEND_NEVER;
  mend_deadline *head = find_head(deadlines);
  if (head == NULL || head->due_ns > now_ns || head->due_ns == MEND_NEVER) return NULL;
  take_out(deadlines, head);
  return head;
}

size_t mend_deadlines_count(const mend_deadlines *deadlines) { return deadlines->count; }
