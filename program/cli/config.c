#include "program/cli/arguments.h"

#include "core/buffer.h"
#include "core/lines.h"
#include "core/reason.h"

#include <errno.h>
#include <unistd.h>

/* A file with options is read whole. */
static const size_t CONFIG_MAX = 1024 * 1024;

static mend_status read_whole(int fd, mend__buffer *text) {
  for (;;) {
    if (text->len > CONFIG_MAX) return MEND_ELIMIT;
    if (!mend__buffer_reserve(text, 16 * 1024)) return MEND_ENOMEM;
    const ssize_t got = read(fd, text->data + text->len, 16 * 1024);
    if (got == 0) return MEND_OK;
    if (got < 0 && errno != EINTR) return MEND_EIO;
    if (got > 0) text->len += (size_t)got;
  }
}

static int read_file(const char *path, mend__buffer *text) {
  mend_error error;
  int fd;
  if (mend__open_input(path, &fd, &error) != MEND_OK) return cli_fail("%s", error.message);
  const mend_status status = read_whole(fd, text);
  const int reason = errno;
  close(fd);
  if (status == MEND_OK) return CLI_FINE;
  return cli_fail("%s: %s", path, status == MEND_EIO ? mend__reason(reason) : mend_status_message(status));
}

static int fail_at(const char *path, const mend_error *error) {
  return error->line > 0 ? cli_fail("%s:%u:%u: %s", path, error->line, error->column, error->message)
                         : cli_fail("%s: %s", path, error->message);
}

int cli_load_config(mend_option_tree *tree, const char *path) {
  mend_error error = MEND_ERROR_INIT;
  mend__buffer text;
  mend__buffer_init(&text, NULL);
  int result = read_file(path, &text);
  if (result == CLI_FINE && mend_option_tree_load(tree, mend__buffer_text(&text), &error) != MEND_OK) {
    result = fail_at(path, &error);
  }
  mend__buffer_free(&text);
  return result;
}

int cli_load_models(const char *path, mend_model_table **ret_table) {
  mend_error error = MEND_ERROR_INIT;
  mend__buffer text;
  mend__buffer_init(&text, NULL);
  int result = read_file(path, &text);
  if (result == CLI_FINE && mend_model_table_new(mend__buffer_text(&text), NULL, ret_table, &error) != MEND_OK) {
    result = fail_at(path, &error);
  }
  mend__buffer_free(&text);
  return result;
}
