#include "core/lines.h"

#include "core/memory.h"
#include "core/reason.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_CAPACITY = 64 * 1024 };

struct mend__lines {
  const mend_allocator *allocator;
  int fd;
  size_t max_line;
  char *data;
  size_t capacity;
  size_t start;    /* of the line being looked for, in data */
  size_t scanned;  /* up to here there is no line feed */
  size_t end;      /* of what has been read */
  uint64_t number; /* of the last line handed out */
  bool at_end;
  bool skipping; /* the line being looked for is too long: what came before `start` is gone */
};

mend_status mend__lines_new(const mend_allocator *allocator, int fd, size_t max_line, mend__lines **ret_lines) {
  mend__lines *lines = mend__alloc_zero(allocator, sizeof *lines);
  if (lines == NULL) return MEND_ENOMEM;
  lines->allocator = allocator;
  lines->fd = fd;
  lines->max_line = max_line;
  *ret_lines = lines;
  return MEND_OK;
}

void mend__lines_free(mend__lines *lines) {
  if (lines == NULL) return;
  mend__free(lines->allocator, lines->data);
  mend__free(lines->allocator, lines);
}

static void move_to_front(mend__lines *lines) {
  if (lines->start == 0) return;
  memmove(lines->data, lines->data + lines->start, lines->end - lines->start);
  lines->scanned -= lines->start;
  lines->end -= lines->start;
  lines->start = 0;
}

static mend_status make_room(mend__lines *lines) {
  move_to_front(lines);
  if (lines->end < lines->capacity) return MEND_OK;
  if (lines->capacity > SIZE_MAX / 2) return MEND_ENOMEM;
  const size_t capacity = lines->capacity != 0 ? lines->capacity * 2 : FIRST_CAPACITY;
  char *data = mend__realloc(lines->allocator, lines->data, capacity);
  if (data == NULL) return MEND_ENOMEM;
  lines->data = data;
  lines->capacity = capacity;
  return MEND_OK;
}

static mend_status read_more(mend__lines *lines) {
  const mend_status status = make_room(lines);
  if (status != MEND_OK) return status;
  ssize_t got;
  do {
    got = read(lines->fd, lines->data + lines->end, lines->capacity - lines->end);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return MEND_EIO;
  lines->at_end = got == 0;
  lines->end += (size_t)got;
  return MEND_OK;
}

static void drop(mend__lines *lines, size_t to) {
  lines->start = to;
  lines->scanned = to;
}

/* Hands out the line from start to stop, the next one starting at `next`. */
static mend_status hand_out(mend__lines *lines, size_t stop, size_t next, bool unfinished, mend__line *ret_line) {
  size_t len = stop - lines->start;
  if (!unfinished && len > 0 && lines->data[stop - 1] == '\r') len--;
  const bool too_long = lines->skipping || len > lines->max_line;
  *ret_line = (mend__line){.number = ++lines->number, .unfinished = unfinished};
  if (!too_long) ret_line->text = (mend_str){lines->data + lines->start, len};
  lines->skipping = false;
  drop(lines, next);
  return too_long ? MEND_ELIMIT : MEND_OK;
}

/* Nothing of a line that is too long is kept, so memory stays flat. One byte more than the limit may still be the
 * carriage return. */
static void forget_if_too_long(mend__lines *lines) {
  lines->scanned = lines->end;
  if (!lines->skipping && lines->end - lines->start <= lines->max_line + (lines->max_line < SIZE_MAX)) return;
  lines->skipping = true;
  drop(lines, lines->end);
}

mend_status mend__lines_next(mend__lines *lines, mend__line *ret_line) {
  for (;;) {
    const size_t fresh = lines->end - lines->scanned;
    const char *feed = fresh != 0 ? memchr(lines->data + lines->scanned, '\n', fresh) : NULL;
    if (feed != NULL) {
      const size_t stop = (size_t)(feed - lines->data);
      return hand_out(lines, stop, stop + 1, false, ret_line);
    }
    forget_if_too_long(lines);
    if (lines->at_end) break;
    const mend_status status = read_more(lines);
    if (status != MEND_OK) return status;
  }
  if (lines->start == lines->end && !lines->skipping) return MEND_ENOENT;
  return hand_out(lines, lines->end, lines->end, true, ret_line);
}

static int open_or_dup(const char *path) {
  if (strcmp(path, "-") == 0) return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
  return open(path, O_RDONLY | O_CLOEXEC);
}

mend_status mend__open_input(const char *path, int *ret_fd, mend_error *error) {
  struct stat about;
  const int fd = open_or_dup(path);
  int failure = 0;
  if (fd < 0 || fstat(fd, &about) != 0) {
    failure = errno;
  } else if (S_ISDIR(about.st_mode)) {
    failure = EISDIR;
  }
  if (failure == 0) {
    *ret_fd = fd;
    return MEND_OK;
  }
  if (fd >= 0) close(fd);
  return mend_error_set(error, failure == ENOENT ? MEND_ENOENT : MEND_EIO, "%s: %s",
                        path[0] != '\0' ? path : "the path \"\"", mend__reason(failure));
}
