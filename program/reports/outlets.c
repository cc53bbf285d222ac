#include "program/reports/outlets.h"

#include <errno.h>

/* So much is held of a file. */
static const size_t HELD_MAX = 256 * 1024;

/* What stands before each piece that is held. */
typedef struct piece_head {
  size_t outlet, len;
} piece_head;

void outlets_init(outlets *of, progress_line *shown) {
  *of = (outlets){.progress = shown};
  pthread_mutex_init(&of->lock, NULL);
  pthread_cond_init(&of->turned, NULL);
}

void outlets_free(outlets *of) {
  pthread_mutex_destroy(&of->lock);
  pthread_cond_destroy(&of->turned);
}

int outlets_reason(const outlets *of) {
  for (size_t i = 0; i < of->stream_count; i++) {
    if (of->streams[i].status != MEND_OK) return of->streams[i].reason;
  }
  return 0;
}

size_t outlets_add(outlets *of, FILE *file) {
  of->streams[of->stream_count] = (struct outlet_stream){.file = file, .empty = true};
  return of->stream_count++;
}

void file_outlets_open(file_outlets *file, outlets *of, size_t turn) {
  *file = (file_outlets){.of = of, .turn = turn};
  mend__buffer_init(&file->held, NULL);
  for (size_t i = 0; i < of->stream_count; i++)
    file->each[i] = (outlet){.file = file, .stream = &of->streams[i]};
}

void file_outlets_close(file_outlets *file) { mend__buffer_free(&file->held); }

void outlet_begin(outlet *to, outlet_shape shape) { to->shape = shape; }

/* ---- Holding ----------------------------------------------------------------------------------------------- */

static void hold(outlet *to, mend_str text) {
  file_outlets *file = to->file;
  mend__buffer *held = &file->held;
  piece_head head = {(size_t)(to - file->each), 0};
  if (held->len > 0) memcpy(&head, held->data + file->last_head, sizeof head);
  if (held->len == 0 || head.outlet != (size_t)(to - file->each)) {
    file->last_head = held->len;
    head = (piece_head){(size_t)(to - file->each), 0};
    mend__buffer_bytes(held, (const char *)&head, sizeof head);
  }
  mend__buffer_str(held, text);
  head.len += text.len;
  if (!held->failed) memcpy(held->data + file->last_head, &head, sizeof head);
}

/* ---- Writing: under the lock, when it is the file's turn ---------------------------------------------------- */

static bool needs_blank_line(const outlet *to) {
  const struct outlet_stream *stream = to->stream;
  if (to->begun || stream->empty || to->shape == OUTLET_FLOW || stream->last == OUTLET_FLOW) return false;
  return to->shape == OUTLET_BLOCK || stream->last == OUTLET_BLOCK;
}

static mend_status pour(outlet *to, mend_str text) {
  struct outlet_stream *stream = to->stream;
  if (stream->status != MEND_OK || text.len == 0) return stream->status;
  progress_hide(to->file->of->progress);
  const bool blank = needs_blank_line(to);
  const bool written = (!blank || fputc('\n', stream->file) != EOF) &&
                       fwrite(text.ptr, 1, text.len, stream->file) == text.len && fflush(stream->file) == 0;
  stream->last = to->shape;
  stream->empty = false;
  to->begun = true;
  if (written) return MEND_OK;
  stream->reason = errno;
  return stream->status = MEND_ECLOSED;
}

static mend_status pour_held(file_outlets *file) {
  mend__buffer *held = &file->held;
  mend_status status = held->failed ? MEND_ENOMEM : MEND_OK;
  piece_head head;
  for (size_t at = 0; at < held->len && !held->failed; at += sizeof head + head.len) {
    memcpy(&head, held->data + at, sizeof head);
    const mend_status poured = pour(&file->each[head.outlet], (mend_str){held->data + at + sizeof head, head.len});
    if (status == MEND_OK) status = poured;
  }
  mend__buffer_clear(held);
  return status;
}

mend_status file_outlets_finish(file_outlets *file) {
  outlets *of = file->of;
  pthread_mutex_lock(&of->lock);
  const mend_status status = pour_held(file);
  of->turn++;
  pthread_cond_broadcast(&of->turned);
  pthread_mutex_unlock(&of->lock);
  return status;
}

mend_status outlet_write(outlet *to, mend_str text) {
  file_outlets *file = to->file;
  outlets *of = file->of;
  mend_status status = MEND_OK;
  pthread_mutex_lock(&of->lock);
  while (of->turn != file->turn && file->held.len + text.len > HELD_MAX)
    pthread_cond_wait(&of->turned, &of->lock);
  if (of->turn != file->turn) {
    hold(to, text);
    status = file->held.failed ? MEND_ENOMEM : MEND_OK;
  } else {
    pour_held(file); /* an outlet that has failed says so below */
    status = file->held.failed ? MEND_ENOMEM : pour(to, text);
  }
  pthread_mutex_unlock(&of->lock);
  return status;
}

mend_status outlet_put(outlet *to, const mend__buffer *text) {
  return text->failed ? MEND_ENOMEM : outlet_write(to, mend__buffer_text(text));
}
