#include "journal/journal_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where the next write goes; -1 where that has no meaning. */
static off_t write_position(int fd, const struct stat *about) {
  if (!S_ISREG(about->st_mode)) return -1;
  return (fcntl(fd, F_GETFL) & O_APPEND) != 0 ? about->st_size : lseek(fd, 0, SEEK_CUR);
}

/* A last line one may not read counts as unfinished: a blank line does no harm, a line glued to another one does. */
static bool last_line_is_unended(int fd, const struct stat *about) {
  off_t position = write_position(fd, about);
  char last;
  return position > 0 && (pread(fd, &last, 1, position - 1) != 1 || last != '\n');
}

bool mend__journal_file_open(mend__journal_file *file, const char *path, int fd) {
  *file = (mend__journal_file){.fd = fd, .owned = path != NULL};
  if (path != NULL) file->fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  struct stat about;
  if (file->fd < 0 || fstat(file->fd, &about) != 0) {
    file->failure = errno;
    if (file->owned && file->fd >= 0) close(file->fd);
    return false;
  }
  file->unended = last_line_is_unended(file->fd, &about);
  return true;
}

bool mend__journal_file_close(mend__journal_file *file) {
  if (!file->owned || close(file->fd) == 0 || errno == EINTR) return true;
  file->failure = errno;
  return false;
}

/* Returns how much was written; less than len when a write failed, with errno. */
static size_t write_all(int fd, const char *bytes, size_t len) {
  size_t done = 0;
  while (done < len) {
    ssize_t written = write(fd, bytes + done, len - done);
    if (written > 0) {
      done += (size_t)written;
    } else if (written == 0) {
      errno = EIO;
      break;
    } else if (errno != EINTR) {
      break;
    }
  }
  return done;
}

/* Cuts off the last `len` bytes, which this file's descriptor has just written, unless somebody else has appended
 * since. */
static bool take_back(int fd, size_t len) {
  struct stat about;
  off_t end = lseek(fd, 0, SEEK_CUR);
  if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode) || end != about.st_size) return false;
  off_t start = end - (off_t)len;
  return start >= 0 && ftruncate(fd, start) == 0 && lseek(fd, start, SEEK_SET) == start;
}

size_t mend__journal_file_append(mend__journal_file *file, const char *text, size_t len) {
  size_t skipped = file->unended ? 0 : 1;
  text += skipped;
  len -= skipped;
  size_t done = write_all(file->fd, text, len);
  if (done == len) {
    file->unended = false;
    file->unsynced = true;
    return done;
  }
  file->failure = errno;
  if (done > 0 && !take_back(file->fd, done)) file->unended = text[done - 1] != '\n';
  return 0;
}

bool mend__journal_file_sync(mend__journal_file *file) {
  if (!file->unsynced) return true;
  int result;
  do {
    result = fdatasync(file->fd);
  } while (result != 0 && errno == EINTR);
  if (result != 0 && errno != EINVAL && errno != EROFS) {
    file->failure = errno;
    return false;
  }
  file->unsynced = false;
  return true;
}
