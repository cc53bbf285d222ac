#include "program/replay/journal_writer.h"

#include "bus/event_json.h"
#include "mend/journal.h"

void journal_writer_init(journal_writer *writer, FILE *out) {
  *writer = (journal_writer){.out = out};
  mend__buffer_init(&writer->line, NULL);
}

void journal_writer_free(journal_writer *writer) { mend__buffer_free(&writer->line); }

static mend_status write_line(journal_writer *writer, mend_str text) {
  const bool written = fwrite(text.ptr, 1, text.len, writer->out) == text.len && putc('\n', writer->out) != EOF;
  return written ? MEND_OK : MEND_ECLOSED;
}

mend_status journal_writer_begin(journal_writer *writer, bool has_clock, bool tells_progress) {
  writer->has_clock = has_clock;
  if (tells_progress || !has_clock) return MEND_OK;
  return write_line(writer, MEND_STR("{\"topic\":\"recording.source\",\"tells_progress\":false}"));
}

/* Without its first member, which is the time. */
static void leave_out_time(mend__buffer *line) {
  const mend_str begin = MEND_STR("{\"ts\":");
  const char *comma = line->failed ? NULL : memchr(line->data, ',', line->len);
  if (comma == NULL || memcmp(line->data, begin.ptr, begin.len) != 0) return;
  const size_t from = (size_t)(comma + 1 - line->data);
  memmove(line->data + 1, line->data + from, line->len - from);
  line->len -= from - 1;
}

mend_status journal_writer_event(void *ctx, const mend_event *event) {
  journal_writer *writer = ctx;
  mend__buffer *line = &writer->line;
  mend__buffer_clear(line);
  mend__event_write(line, event, true);
  if (line->len >= MEND_JOURNAL_LINE_MAX) {
    mend__buffer_clear(line);
    mend__event_write(line, event, false);
  }
  if (!writer->has_clock) leave_out_time(line);
  writer->last_ns = event->wall_ns;
  return line->failed ? MEND_ENOMEM : write_line(writer, mend__buffer_text(line));
}

/* A line that moves the time. */
static mend_status write_time(journal_writer *writer, uint64_t wall_ns, const char *topic) {
  mend__buffer *line = &writer->line;
  if (!writer->has_clock) return MEND_OK;
  mend__buffer_clear(line);
  mend__buffer_str(line, MEND_STR("{\"ts\":"));
  mend__buffer_seconds(line, wall_ns);
  mend__buffer_printf(line, ",\"topic\":\"%s\"}", topic);
  writer->last_ns = wall_ns;
  return line->failed ? MEND_ENOMEM : write_line(writer, mend__buffer_text(line));
}

mend_status journal_writer_tick(journal_writer *writer, uint64_t wall_ns) {
  return write_time(writer, wall_ns, "tick");
}

mend_status journal_writer_finish(journal_writer *writer, uint64_t end_ns) {
  return end_ns > writer->last_ns ? write_time(writer, end_ns, "recording.source") : MEND_OK;
}
