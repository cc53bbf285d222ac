/* Scripted models: their files. */
#include "core/lines.h"
#include "core/reason.h"
#include "fallback/scripted.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static mend_status read_all(int fd, const char *path, mend__buffer *source, mend_error *error) {
  enum { CHUNK = 64 * 1024 };
  while (source->len <= MEND__SCRIPT_MAX) {
    if (!mend__buffer_reserve(source, CHUNK)) return mend_error_set(error, MEND_ENOMEM, "%s: out of memory", path);
    const ssize_t len = read(fd, source->data + source->len, CHUNK);
    if (len == 0) return MEND_OK;
    if (len > 0) source->len += (size_t)len;
    if (len < 0 && errno != EINTR) return mend_error_set(error, MEND_EIO, "%s: %s", path, mend__reason(errno));
  }
  return mend_error_set(error, MEND_ELIMIT, "%s: more than %d bytes", path, (int)MEND__SCRIPT_MAX);
}

/* Nobody may ever write to a FIFO, and opening it would wait for that. */
static mend_status check_kind(const char *path, mend_error *error) {
  struct stat about;
  if (stat(path, &about) != 0 || S_ISREG(about.st_mode) || S_ISDIR(about.st_mode)) return MEND_OK;
  return mend_error_set(error, MEND_EIO, "%s: it is no regular file", path);
}

static mend_status read_file(const char *path, mend__buffer *source, mend_error *error) {
  int fd;
  mend_status status = check_kind(path, error);
  if (status == MEND_OK) status = mend__open_input(path, &fd, error);
  if (status != MEND_OK) return status;
  status = read_all(fd, path, source, error);
  close(fd);
  return status;
}

mend_status mend__scripted_open(const char *path, mend_loop *loop, const mend_allocator *allocator,
                                mend_classification *table, mend_model **ret_model, mend_error *error) {
  mend__buffer source;
  mend__buffer_init(&source, allocator);
  mend_status status = read_file(path, &source, error);
  if (status == MEND_OK) {
    const mend_str text = {source.data, source.len};
    status = mend__scripted_new(path, text, loop, allocator, table, ret_model, error);
  }
  mend__buffer_free(&source);
  return status;
}
