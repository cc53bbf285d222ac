#include "mend/journal.h"

#include "bus/event_json.h"
#include "bus/room.h"
#include "core/given.h"
#include "core/memory.h"
#include "core/options_size.h"
#include "core/seconds.h"
#include "journal/journal_internal.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>

/* What the buffer may keep between events; a larger one was needed by a rare event and is given back. */
#define BUFFER_KEPT ((size_t)1024 * 1024)

struct mend_journal {
  mend_bus *bus;
  mend_subscription *subscription;
  char *name; /* of the file, for sentences */
  bool content;
  mend_fsync fsync;
  uint64_t interval_ns;
  pthread_mutex_t mutex; /* covers the rest */
  mend__journal_file file;
  mend__buffer buffer;
  uint64_t lines, bytes, lost;
  mend_status last_loss;
  uint64_t synced_ns; /* when, on the bus's clock */
  bool sync_failed;   /* the last one */
};

/* ---- Writing ---- */

/* The line, between two line feeds: see mend__journal_file_append. */
static void render(mend_journal *journal, const mend_event *event, bool content) {
  mend__buffer_clear(&journal->buffer);
  mend__buffer_char(&journal->buffer, '\n');
  mend__event_write(&journal->buffer, event, content);
  mend__buffer_char(&journal->buffer, '\n');
}

static bool is_too_long(const mend__buffer *buffer) { return buffer->len - 2 > MEND_JOURNAL_LINE_MAX; }

static mend_status write_event(mend_journal *journal, const mend_event *event) {
  mend__buffer *buffer = &journal->buffer;
  render(journal, event, journal->content);
  /* Rather without content than not at all. */
  if (!buffer->failed && is_too_long(buffer) && journal->content) render(journal, event, false);
  if (buffer->failed) return MEND_ENOMEM;
  if (is_too_long(buffer)) return MEND_ELIMIT;
  size_t written = mend__journal_file_append(&journal->file, buffer->data, buffer->len);
  if (written == 0) return MEND_EIO;
  journal->lines++;
  journal->bytes += written;
  return MEND_OK;
}

static mend_status sync_file(mend_journal *journal) {
  if (mend__journal_file_is_deleted(&journal->file)) return MEND_EIO;
  journal->sync_failed = !mend__journal_file_sync(&journal->file);
  return journal->sync_failed ? MEND_EIO : MEND_OK;
}

static mend_status sync_as_policy_says(mend_journal *journal) {
  if (journal->fsync == MEND_FSYNC_NONE) return MEND_OK;
  if (journal->fsync == MEND_FSYNC_INTERVAL) {
    uint64_t now_ns = mend_clock_now(mend_bus_clock(journal->bus)).mono_ns;
    if (now_ns - journal->synced_ns < journal->interval_ns) return MEND_OK;
    journal->synced_ns = now_ns;
  }
  return sync_file(journal);
}

static mend_status on_event(void *ctx, const mend_event *event) {
  mend_journal *journal = ctx;
  pthread_mutex_lock(&journal->mutex);
  mend_status status = write_event(journal, event);
  if (status == MEND_OK) {
    status = sync_as_policy_says(journal);
  } else {
    journal->lost++;
    journal->last_loss = status;
  }
  if (journal->buffer.capacity > BUFFER_KEPT) mend__buffer_free(&journal->buffer);
  pthread_mutex_unlock(&journal->mutex);
  return status;
}

/* ---- Opening and closing ---- */

static mend_status check(const mend_journal_options *options, mend_error *error) {
  if (options->path == NULL && options->fd < 0) {
    return mend_error_set(error, MEND_EINVAL,
                          "mend_journal_options.path: NULL, expected a path, or an open descriptor in fd, not %d",
                          options->fd);
  }
  if (options->fsync != MEND_FSYNC_NONE && options->fsync != MEND_FSYNC_INTERVAL &&
      options->fsync != MEND_FSYNC_EVERY) {
    return mend_error_set(error, MEND_EINVAL, "mend_journal_options.fsync: %d, expected none, interval or every",
                          (int)options->fsync);
  }
  if (!(options->interval_s > 0) || !isfinite(options->interval_s)) {
    return mend__options_refuse_number("mend_journal_options.interval_s", options->interval_s, "seconds > 0", error);
  }
  return MEND_OK;
}

static char *name_of(const mend_allocator *allocator, const mend_journal_options *options) {
  char descriptor[32];
  snprintf(descriptor, sizeof descriptor, "descriptor %d", options->fd);
  return mend__str_copy(allocator, mend_str_from(options->path != NULL ? options->path : descriptor));
}

static void discard(mend_journal *journal) {
  const mend_allocator *allocator = mend_bus_allocator(journal->bus);
  mend_bus *bus = journal->bus;
  pthread_mutex_destroy(&journal->mutex);
  mend__buffer_free(&journal->buffer);
  mend__free(allocator, journal->name);
  mend__free(allocator, journal);
  mend_bus_release(bus);
}

static mend_journal *make(mend_bus *bus, const mend_journal_options *options) {
  const mend_allocator *allocator = mend_bus_allocator(bus);
  char *name = name_of(allocator, options);
  mend_journal *journal = name != NULL ? mend__alloc_zero(allocator, sizeof *journal) : NULL;
  if (journal == NULL || pthread_mutex_init(&journal->mutex, NULL) != 0) {
    mend__free(allocator, journal);
    mend__free(allocator, name);
    return NULL;
  }
  journal->bus = mend_bus_retain(bus);
  journal->name = name;
  journal->content = options->content;
  journal->fsync = options->fsync;
  journal->interval_ns = mend__seconds_to_ns(options->interval_s);
  journal->synced_ns = mend_clock_now(mend_bus_clock(bus)).mono_ns;
  mend__buffer_init(&journal->buffer, allocator);
  return journal;
}

mend_status mend_journal_open(mend_bus *bus, const mend_journal_options *given, mend_journal **ret_journal,
                              mend_error *error) {
  if (bus == NULL) return mend__refuse_null(error, "the bus");
  mend_journal_options options = MEND_JOURNAL_OPTIONS_INIT;
  mend_status status = mend__options_take(&options, given, "mend_journal_options", error);
  if (status == MEND_OK) status = check(&options, error);
  if (status != MEND_OK) return status;
  mend_journal *journal = make(bus, &options);
  if (journal == NULL) return mend_error_set(error, MEND_ENOMEM, "%s", mend_status_message(MEND_ENOMEM));

  if (!mend__journal_file_open(&journal->file, options.path, options.fd)) {
    status = mend_error_set(error, MEND_EIO, "%s: %s", journal->name[0] != '\0' ? journal->name : "the path \"\"",
                            journal->file.reason);
    goto failed;
  }
  const char *pattern = options.pattern != NULL ? options.pattern : "*";
  status = mend_bus_subscribe(bus, pattern, on_event, journal, NULL, &journal->subscription, error);
  if (status != MEND_OK) {
    mend__journal_file_close(&journal->file);
    goto failed;
  }
  *ret_journal = journal;
  return MEND_OK;

failed:
  discard(journal);
  return status;
}

/* What is to be said at the end. */
static mend_status verdict(const mend_journal *journal, bool deleted, bool closed, mend_error *error) {
  const char *reason = journal->file.reason;
  if (deleted) return mend_error_set(error, MEND_EIO, "%s: was deleted while it was written", journal->name);
  if (journal->lost > 0) {
    return mend_error_set(error, MEND_EIO, "%s: %llu events could not be written, the last: %s", journal->name,
                          (unsigned long long)journal->lost,
                          journal->last_loss == MEND_EIO ? reason : mend_status_message(journal->last_loss));
  }
  if (journal->sync_failed) return mend_error_set(error, MEND_EIO, "%s: cannot be synced: %s", journal->name, reason);
  if (!closed) return mend_error_set(error, MEND_EIO, "%s: cannot be closed: %s", journal->name, reason);
  return MEND_OK;
}

mend_status mend_journal_close(mend_journal *journal, mend_error *error) {
  if (journal == NULL) return MEND_OK;
  if (mend__would_wait_for_itself(journal->bus)) {
    return mend_error_set(error, MEND_EDEADLK, "%s: a handler cannot close a journal", journal->name);
  }
  mend_subscription_close(&journal->subscription);
  mend_bus_quiesce(journal->bus); /* no thread is in on_event any more */
  if (journal->fsync != MEND_FSYNC_NONE) sync_file(journal);
  bool deleted = mend__journal_file_is_deleted(&journal->file);
  bool closed = mend__journal_file_close(&journal->file);
  const mend_status status = verdict(journal, deleted, closed, error);
  discard(journal);
  return status;
}

void mend_journal_get_stats(mend_journal *journal, mend_journal_stats *ret_stats) {
  pthread_mutex_lock(&journal->mutex);
  mend_journal_stats stats = {
      .size = sizeof stats, .lines = journal->lines, .bytes = journal->bytes, .lost = journal->lost};
  pthread_mutex_unlock(&journal->mutex);
  mend__options_give(ret_stats, &stats);
}
