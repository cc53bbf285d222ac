#include "journal/journal_internal.h"

#include "core/reason.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Opening and closing ---- */

static bool is_pipe(const char *path) {
  struct stat about;
  return stat(path, &about) == 0 && S_ISFIFO(about.st_mode);
}

/* A pipe is never waited for, neither here until somebody reads it nor by a write until there is room. */
static int open_path(const char *path, const char **ret_reason) {
  bool pipe = is_pipe(path);
  int fd =
      pipe ? open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC) : open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) *ret_reason = pipe && errno == ENXIO ? "nobody reads this pipe" : mend__reason(errno);
  return fd;
}

bool mend__journal_file_open(mend__journal_file *file, const char *path, int fd) {
  *file = (mend__journal_file){.fd = fd, .owned = path != NULL, .end = -1};
  if (path != NULL) file->fd = open_path(path, &file->reason);
  if (file->fd < 0) return false;
  struct stat about;
  if (fstat(file->fd, &about) != 0) {
    file->reason = mend__reason(errno);
    if (file->owned) close(file->fd);
    return false;
  }
  file->regular = S_ISREG(about.st_mode);
  file->named = file->owned && file->regular && about.st_nlink > 0;
  file->appends = (fcntl(file->fd, F_GETFL) & O_APPEND) != 0;
  return true;
}

bool mend__journal_file_close(mend__journal_file *file) {
  if (!file->owned || close(file->fd) == 0 || errno == EINTR) return true;
  file->reason = mend__reason(errno);
  return false;
}

bool mend__journal_file_is_deleted(const mend__journal_file *file) {
  struct stat about;
  return file->named && fstat(file->fd, &about) == 0 && about.st_nlink == 0;
}

/* ---- The line before ---- */

/* Where the next write goes; only of a regular file. */
static off_t write_position(const mend__journal_file *file) {
  struct stat about;
  if (!file->appends) return lseek(file->fd, 0, SEEK_CUR);
  return fstat(file->fd, &about) == 0 ? about.st_size : -1;
}

enum { UNKNOWN = -1 }; /* a byte one may not read */

static int byte_before(const mend__journal_file *file, off_t position) {
  char byte;
  return pread(file->fd, &byte, 1, position - 1) == 1 ? (unsigned char)byte : UNKNOWN;
}

/* Whether the next line must begin with a line feed. Any other writer may have been killed since the last one, so
 * whatever we did not leave ourselves is looked at again. A byte one may not read counts as the middle of a line, and
 * so does the end of a line that is being written this moment: a blank line does no harm, a line glued to another one
 * does. */
static bool needs_feed(mend__journal_file *file) {
  if (!file->regular) return file->unended;
  off_t position = write_position(file);
  if (position != file->end) {
    file->end = position;
    file->unended = position > 0 && byte_before(file, position) != '\n';
  }
  return file->unended;
}

/* The same, of a line that is written already at `start`: a writer may have been killed after needs_feed looked. */
static bool is_glued(const mend__journal_file *file, off_t start, char first) {
  if (start <= 0 || start == file->end || first == '\n') return false;
  int before = byte_before(file, start);
  return before != '\n' && before != UNKNOWN;
}

/* ---- Blanking out ---- */

static bool set_appending(int fd, bool appending) {
  int flags = fcntl(fd, F_GETFL);
  return flags != -1 && fcntl(fd, F_SETFL, appending ? flags | O_APPEND : flags & ~O_APPEND) == 0;
}

/* True when at least the line feed, which counts, is there. */
static bool write_blank_line(int fd, off_t start, size_t len) {
  char blanks[4096];
  memset(blanks, ' ', sizeof blanks);
  size_t left = len - 1;
  if (pwrite(fd, "\n", 1, start + (off_t)left) != 1) return false;
  while (left > 0) {
    ssize_t written = pwrite(fd, blanks, left < sizeof blanks ? left : sizeof blanks, start);
    if (written <= 0) break;
    start += written;
    left -= (size_t)written;
  }
  return true;
}

/* Makes a blank line of what this file's descriptor wrote at `start`. Cutting it off instead would, now and then, cut
 * off what somebody else has appended this moment; these bytes are nobody else's. A borrowed descriptor that appends
 * is left alone: its owner may be writing to it. */
static bool blank_out(const mend__journal_file *file, off_t start, size_t len) {
  struct stat about;
  if (!file->regular || (file->appends && !file->owned)) return false;
  if (fstat(file->fd, &about) != 0 || about.st_size < start + (off_t)len) return false;
  if (file->appends && !set_appending(file->fd, false)) return false;
  bool blank = write_blank_line(file->fd, start, len);
  if (file->appends) set_appending(file->fd, true);
  return blank;
}

/* ---- Writing ---- */

/* What one write took of a line. */
typedef struct piece {
  off_t start; /* meaningless but for regular files */
  size_t len;  /* 0 when the write failed */
} piece;

static piece write_piece(mend__journal_file *file, const char *text, size_t len) {
  ssize_t written;
  do {
    written = write(file->fd, text, len);
  } while (written < 0 && errno == EINTR);
  if (written <= 0) {
    file->reason = mend__reason(written < 0 ? errno : EIO);
    return (piece){0, 0};
  }
  off_t end = file->regular ? lseek(file->fd, 0, SEEK_CUR) : 0;
  return (piece){end - written, (size_t)written};
}

/* Leaves the file behind a piece whose last character is `last`, and which is of no use. */
static void abandon(mend__journal_file *file, piece of_line, char last) {
  if (of_line.len == 0) return;
  file->end = of_line.start + (off_t)of_line.len;
  file->unended = !blank_out(file, of_line.start, of_line.len) && last != '\n';
}

typedef enum outcome {
  WHOLE,
  FAILED,
  DISTURBED /* by somebody who wrote before or into it */
} outcome;

/* One write nearly always: there is more than one piece when a pipe or a disk is full. */
static outcome write_line(mend__journal_file *file, const char *text, size_t len) {
  piece line = {0, 0};
  while (line.len < len) {
    piece more = write_piece(file, text + line.len, len - line.len);
    if (more.len == 0) {
      abandon(file, line, line.len > 0 ? text[line.len - 1] : '\0');
      return FAILED;
    }
    if (line.len == 0) line.start = more.start;
    if (file->regular && more.start != line.start + (off_t)line.len) {
      abandon(file, line, text[line.len - 1]);
      abandon(file, more, text[line.len + more.len - 1]);
      file->reason = "another process wrote into the line";
      return DISTURBED;
    }
    line.len += more.len;
  }
  if (is_glued(file, line.start, text[0])) {
    abandon(file, line, '\n');
    return DISTURBED;
  }
  file->end = line.start + (off_t)line.len;
  file->unended = false;
  return WHOLE;
}

size_t mend__journal_file_append(mend__journal_file *file, const char *text, size_t len) {
  size_t skipped = needs_feed(file) ? 0 : 1;
  outcome result = write_line(file, text + skipped, len - skipped);
  if (result == DISTURBED) {
    skipped = 0;
    result = write_line(file, text, len);
  }
  if (result != WHOLE) return 0;
  file->unsynced = true;
  return len - skipped;
}

bool mend__journal_file_sync(mend__journal_file *file) {
  if (!file->unsynced) return true;
  int result;
  do {
    result = fdatasync(file->fd);
  } while (result != 0 && errno == EINTR);
  if (result != 0 && errno != EINVAL && errno != EROFS) {
    file->reason = mend__reason(errno);
    return false;
  }
  file->unsynced = false;
  return true;
}
