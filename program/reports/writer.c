#include "program/reports/writer.h"

#include "program/base/plain.h"

void writer_styled(const writer *to, mend__buffer *page, style as, const char *text) {
  static const char *const codes[] = {"1", "2", "1;31", "32"};
  if (to->colour) {
    mend__buffer_printf(page, "\x1b[%sm%s\x1b[0m", codes[as], text);
  } else {
    mend__buffer_str(page, mend_str_from(text));
  }
}

static void label(const writer *to, mend__buffer *page, const char *name) {
  char padded[WRITER_VALUE + 1];
  snprintf(padded, sizeof padded, "%*s%-*s", WRITER_INDENT, "", WRITER_VALUE - WRITER_INDENT, name);
  writer_styled(to, page, DIM, padded);
}

void writer_put(writer *to, mend__buffer *page, const char *name) {
  label(to, page, name);
  plain_wrap(page, mend__buffer_text(&to->line), to->width, WRITER_VALUE, WRITER_VALUE);
  page->failed |= to->line.failed;
}

mend__buffer *writer_begin(writer *to) {
  mend__buffer_clear(&to->line);
  return &to->line;
}

mend_str writer_plain(writer *to, mend_str text, size_t max_chars) {
  plain_text(writer_begin(to), text, max_chars);
  return mend__buffer_text(&to->line);
}

void writer_put_item(writer *to, mend__buffer *page) {
  mend__buffer_printf(page, "%*s", WRITER_INDENT, "");
  plain_wrap(page, mend__buffer_text(&to->line), to->width, WRITER_INDENT, WRITER_INDENT + 2);
  page->failed |= to->line.failed;
}

void writer_put_paragraph(writer *to, mend__buffer *page) {
  plain_wrap(page, mend__buffer_text(&to->line), to->width, 0, 0);
  page->failed |= to->line.failed;
}

void writer_row(writer *to, mend__buffer *page, uint64_t row) {
  mend__buffer_printf(page, "%s %llu", to->file->row, (unsigned long long)row);
}

void writer_put_more(mend__buffer *page, uint64_t more) {
  if (more == 0) return;
  mend__buffer_printf(page, "%*sand ", WRITER_INDENT, "");
  plain_number(page, more);
  mend__buffer_str(page, MEND_STR(" more\n"));
}
