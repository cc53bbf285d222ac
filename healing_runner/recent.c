/* Recent events as lines of text, which, unlike copies of events, keep no run alive. Lines are used again, and written
 * without the lock, so that publishing threads do not wait for each other. */
#include "bus/event_json.h"
#include "core/memory.h"
#include "healing_runner/recent_internal.h"

#include <pthread.h>

/* What an unused line may keep; a larger one was needed by a rare event and is given back. */
#define LINE_KEPT ((size_t)16 * 1024)

typedef struct line {
  mend__buffer text;
  struct line *next;
} line;

struct mend__recent {
  const mend_allocator *allocator;
  mend_subscription *subscription;
  size_t limit;
  bool content;

  pthread_mutex_t lock; /* covers all below */
  line *oldest, *latest;
  size_t count;
  line *unused; /* at most as many as threads have been in write_event at once */
};

/* ---- Lines ---- */

static line *take_unused(mend__recent *recent) {
  pthread_mutex_lock(&recent->lock);
  line *taken = recent->unused;
  if (taken != NULL) recent->unused = taken->next;
  pthread_mutex_unlock(&recent->lock);
  if (taken != NULL) return taken;
  taken = mend__alloc_zero(recent->allocator, sizeof *taken);
  if (taken != NULL) mend__buffer_init(&taken->text, recent->allocator);
  return taken;
}

static void put_unused(mend__recent *recent, line *unused) {
  mend__buffer_clear(&unused->text);
  if (unused->text.capacity > LINE_KEPT) mend__buffer_free(&unused->text);
  unused->next = recent->unused;
  recent->unused = unused;
}

static void append(mend__recent *recent, line *added) {
  added->next = NULL;
  *(recent->latest != NULL ? &recent->latest->next : &recent->oldest) = added;
  recent->latest = added;
  if (recent->count < recent->limit) {
    recent->count++;
    return;
  }
  line *oldest = recent->oldest;
  recent->oldest = oldest->next;
  put_unused(recent, oldest);
}

static mend_status write_event(void *ctx, const mend_event *event) {
  mend__recent *recent = ctx;
  line *written = take_unused(recent);
  if (written == NULL) return MEND_ENOMEM;
  mend__event_write(&written->text, event, recent->content);
  const bool failed = written->text.failed;
  pthread_mutex_lock(&recent->lock);
  if (failed) {
    put_unused(recent, written);
  } else {
    append(recent, written);
  }
  pthread_mutex_unlock(&recent->lock);
  return failed ? MEND_ENOMEM : MEND_OK;
}

/* ---- Life ---- */

static void free_lines(mend__recent *recent, line *first) {
  for (line *next; first != NULL; first = next) {
    next = first->next;
    mend__buffer_free(&first->text);
    mend__free(recent->allocator, first);
  }
}

/* No thread is in write_event any more. */
static void destroy(void *ctx) {
  mend__recent *recent = ctx;
  free_lines(recent, recent->oldest);
  free_lines(recent, recent->unused);
  pthread_mutex_destroy(&recent->lock);
  mend__free(recent->allocator, recent);
}

mend_status mend__recent_new(mend_bus *bus, size_t limit, bool content, mend__recent **ret_recent) {
  const mend_allocator *allocator = mend_bus_allocator(bus);
  mend__recent *recent = mend__alloc_zero(allocator, sizeof *recent);
  if (recent == NULL) return MEND_ENOMEM;
  if (pthread_mutex_init(&recent->lock, NULL) != 0) {
    mend__free(allocator, recent);
    return MEND_ENOMEM;
  }
  recent->allocator = allocator;
  recent->limit = limit;
  recent->content = content;
  const mend_status status =
      limit > 0 ? mend_bus_subscribe(bus, "*", write_event, recent, destroy, &recent->subscription, NULL) : MEND_OK;
  if (status == MEND_OK) {
    *ret_recent = recent;
  } else {
    destroy(recent);
  }
  return status;
}

void mend__recent_close(mend__recent *recent) {
  if (recent == NULL) return;
  mend_subscription *subscription = recent->subscription;
  if (subscription == NULL) {
    destroy(recent);
  } else {
    mend_subscription_close(&subscription);
  }
}

/* ---- Looking ---- */

/* All lines, each with a line feed behind it: there is none in a JSON view. */
static void copy_lines(mend__recent *recent, mend__buffer *copy) {
  pthread_mutex_lock(&recent->lock);
  for (const line *next = recent->oldest; next != NULL; next = next->next) {
    mend__buffer_str(copy, mend__buffer_text(&next->text));
    mend__buffer_char(copy, '\n');
  }
  pthread_mutex_unlock(&recent->lock);
}

static size_t visit_lines(const mend__buffer *copy, bool (*visit)(void *ctx, mend_str line), void *ctx) {
  size_t visited = 0;
  const char *end = copy->data + copy->len;
  for (const char *text = copy->data, *feed; text < end; text = feed + 1) {
    feed = memchr(text, '\n', (size_t)(end - text));
    visited++;
    if (!visit(ctx, (mend_str){text, (size_t)(feed - text)})) break;
  }
  return visited;
}

size_t mend__recent_each(mend__recent *recent, bool (*visit)(void *ctx, mend_str line), void *ctx) {
  mend__buffer copy;
  mend__buffer_init(&copy, recent->allocator);
  copy_lines(recent, &copy);
  const size_t visited = copy.failed || copy.len == 0 ? 0 : visit_lines(&copy, visit, ctx);
  mend__buffer_free(&copy);
  return visited;
}
