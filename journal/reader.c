#include "mend/journal.h"

#include "bus/event_json.h"
#include "core/given.h"
#include "core/lines.h"
#include "core/memory.h"
#include "core/options_size.h"
#include "core/reason.h"
#include "core/text.h"

#include <errno.h>
#include <unistd.h>

struct mend_journal_reader {
  const mend_allocator *allocator;
  int fd;
  mend__lines *lines;
  mend__buffer scratch;
  mend__event_line parsed;
  char name[]; /* of the file, for sentences */
};

mend_status mend_journal_reader_open(const mend_allocator *allocator, const char *path,
                                     mend_journal_reader **ret_reader, mend_error *error) {
  if (path == NULL) return mend__refuse_null(error, "the path");
  int fd;
  mend_status status = mend__open_input(path, &fd, error);
  if (status != MEND_OK) return status;
  size_t name_size = strlen(path) + 1;
  mend_journal_reader *reader = mend__alloc_zero(allocator, sizeof *reader + name_size);
  if (reader == NULL || mend__lines_new(allocator, fd, MEND_JOURNAL_LINE_MAX, &reader->lines) != MEND_OK) {
    mend__free(allocator, reader);
    close(fd);
    return mend_error_set(error, MEND_ENOMEM, "%s", mend_status_message(MEND_ENOMEM));
  }
  reader->allocator = allocator;
  reader->fd = fd;
  mend__buffer_init(&reader->scratch, allocator);
  memcpy(reader->name, path, name_size);
  *ret_reader = reader;
  return MEND_OK;
}

void mend_journal_reader_free(mend_journal_reader *reader) {
  if (reader == NULL) return;
  mend__lines_free(reader->lines);
  mend__buffer_free(&reader->scratch);
  close(reader->fd);
  mend__free(reader->allocator, reader);
}

static mend_status next_line(mend_journal_reader *reader, mend__line *ret_line, mend_error *error) {
  mend_status status;
  do {
    status = mend__lines_next(reader->lines, ret_line);
  } while (status == MEND_OK && mend__trim(ret_line->text).len == 0);
  switch (status) {
  case MEND_OK: return MEND_OK;
  case MEND_ELIMIT:
    return mend_error_set_at(error, status, (unsigned)ret_line->number, 0, "line %llu is longer than %zu bytes",
                             (unsigned long long)ret_line->number, MEND_JOURNAL_LINE_MAX);
  case MEND_EIO: return mend_error_set(error, status, "%s: %s", reader->name, mend__reason(errno));
  default: return mend_error_set(error, status, "%s", mend_status_message(status));
  }
}

static void show(mend_journal_reader *reader, mend_journal_line *line) {
  mend__event_line *parsed = &reader->parsed;
  line->topic = parsed->topic;
  line->has_ts = parsed->has_ts;
  line->ts_ns = parsed->ts_ns;
  line->run_id = parsed->run_id;
  line->parent_run_id = parsed->parent_run_id;
  line->parent_call = parsed->parent_call;
  line->agent = parsed->agent;
  line->session_id = parsed->session_id;
  line->project_id = parsed->project_id;
  line->seq = parsed->seq;
  line->event = parsed->custom ? NULL : &parsed->event;
}

/* A place in the line becomes one in the file. What is JSON but no event is a broken line like any other. */
static mend_status broken(mend_status status, uint64_t number, mend_error *error) {
  if (status == MEND_EINVAL) status = MEND_ESYNTAX;
  if (error == NULL) return status;
  error->status = status;
  if (error->line != 0) error->line = number < UINT32_MAX ? (unsigned)number : UINT32_MAX;
  return status;
}

mend_status mend_journal_reader_next(mend_journal_reader *reader, mend_journal_line *ret_line, mend_error *error) {
  if (reader == NULL) return mend__refuse_null(error, "the reader");
  if (ret_line == NULL) return mend__refuse_null(error, "ret_line");
  if (ret_line->size == 0) {
    return mend_error_set(error, MEND_EINVAL, "mend_journal_line: size is 0, start from MEND_JOURNAL_LINE_INIT");
  }
  mend__line line;
  mend_status status = next_line(reader, &line, error);
  if (status != MEND_OK && status != MEND_ELIMIT) return status;
  mend_journal_line result = {.size = sizeof result, .number = line.number, .text = line.text};
  if (status == MEND_OK) {
    status = mend__event_read(line.text, (mend_str){NULL, 0}, true, &reader->scratch, &reader->parsed, NULL, error);
    if (status == MEND_OK) {
      show(reader, &result);
    } else if (status != MEND_ENOMEM) {
      result.torn = line.unfinished && status == MEND_ESYNTAX;
      status = broken(status, line.number, error);
    }
  }
  mend__options_give(ret_line, &result);
  return status;
}
