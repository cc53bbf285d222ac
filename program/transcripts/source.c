#include "program/transcripts/source.h"

#include "core/memory.h"
#include "program/base/interrupt.h"

#include <errno.h>
#include <unistd.h>

enum { FIRST_CAPACITY = 256 * 1024 };

void source_init(source *bytes, int fd) { *bytes = (source){.fd = fd}; }

void source_free(source *bytes) {
  mend__free(NULL, bytes->data);
  bytes->data = NULL;
}

static mend_status make_room(source *bytes, size_t want) {
  if (bytes->begin > 0) {
    memmove(bytes->data, bytes->data + bytes->begin, bytes->end - bytes->begin);
    bytes->end -= bytes->begin;
    bytes->begin = 0;
  }
  size_t capacity = bytes->capacity != 0 ? bytes->capacity : FIRST_CAPACITY;
  while (capacity < want)
    capacity *= 2;
  if (capacity > SOURCE_WINDOW_MAX) capacity = SOURCE_WINDOW_MAX;
  if (capacity == bytes->capacity) return MEND_OK;
  char *data = mend__realloc(NULL, bytes->data, capacity);
  if (data == NULL) return MEND_ENOMEM;
  bytes->data = data;
  bytes->capacity = capacity;
  return MEND_OK;
}

/* An interrupt is the end of the input. */
static mend_status read_more(source *bytes) {
  ssize_t got;
  bytes->ended = !interrupt_wait(bytes->fd);
  if (bytes->ended) return MEND_OK;
  do {
    got = read(bytes->fd, bytes->data + bytes->end, bytes->capacity - bytes->end);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return MEND_EIO;
  bytes->ended = got == 0;
  bytes->end += (size_t)got;
  return MEND_OK;
}

mend_status source_peek(source *bytes, size_t want, mend_str *ret_window) {
  if (want > SOURCE_WINDOW_MAX) return MEND_ELIMIT;
  if (bytes->end - bytes->begin < want && !bytes->ended) {
    mend_status status = make_room(bytes, want);
    while (status == MEND_OK && bytes->end < want && !bytes->ended)
      status = read_more(bytes);
    if (status != MEND_OK) return status;
  }
  *ret_window = (mend_str){bytes->data + bytes->begin, bytes->end - bytes->begin};
  return MEND_OK;
}

void source_take(source *bytes, size_t len) {
  bytes->begin += len;
  bytes->taken += len;
}
