/* The journal's reader: it tells of every line, ends, and says where what is broken is. */
#include "fuzz/fuzz.h"
#include "mend/journal.h"

#include <sys/mman.h>
#include <unistd.h>

static void check_line(const mend_journal_line *line, mend_status status, const mend_error *error) {
  MUST(status == MEND_OK || status == MEND_ESYNTAX);
  MUST(line->text.ptr != NULL && memchr(line->text.ptr, '\n', line->text.len) == NULL);
  if (status != MEND_OK) MUST(error->line == line->number && error->column >= 1);
  if (status == MEND_OK) MUST(line->topic.len > 0 && !line->torn);
  if (status == MEND_OK && line->event != NULL)
    MUST(mend_str_equal(line->topic, mend_event_kind_topic(line->event->event.kind)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char path[32];
  int fd = memfd_create("journal", MFD_CLOEXEC);
  MUST(fd >= 0 && write(fd, data, size) == (ssize_t)size);
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  mend_journal_reader *reader;
  mend_journal_line line = MEND_JOURNAL_LINE_INIT;
  mend_error error;
  MUST(mend_journal_reader_open(NULL, path, &reader, &error) == MEND_OK);
  uint64_t before = 0;
  for (mend_status status; (status = mend_journal_reader_next(reader, &line, &error)) != MEND_ENOENT;) {
    check_line(&line, status, &error);
    MUST(line.number > before && line.number <= size);
    before = line.number;
  }
  mend_journal_reader_free(reader);
  close(fd);
  return 0;
}
