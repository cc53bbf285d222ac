#include "core/text.h"
#include "program/transcripts/input_internal.h"

/* Takes the line of which `len` bytes are in the window, without keeping it. */
static mend_status skip_line(input *in, size_t len, input_row *ret_row) {
  mend_str window;
  const char *feed = NULL;
  do {
    source_take(&in->bytes, len);
    const mend_status status = source_peek(&in->bytes, 1, &window);
    if (status != MEND_OK) return status;
    if (window.len == 0) break;
    feed = memchr(window.ptr, '\n', window.len);
    len = feed != NULL ? (size_t)(feed - window.ptr) + 1 : window.len;
  } while (feed == NULL);
  if (feed != NULL) source_take(&in->bytes, len);
  return input_long_row(in, ret_row);
}

static mend_status take_line(input *in, input_row *ret_row) {
  mend_str window = {NULL, 0};
  const char *feed = NULL;
  size_t seen, len;
  do {
    seen = window.len;
    const mend_status status = source_peek(&in->bytes, seen + 1, &window);
    if (status != MEND_OK) return status;
    if (window.len > seen) feed = memchr(window.ptr + seen, '\n', window.len - seen);
    len = feed != NULL ? (size_t)(feed - window.ptr) : window.len;
    if (len > INPUT_ROW_MAX) return skip_line(in, len, ret_row);
  } while (feed == NULL && window.len > seen);
  if (window.len == 0) return MEND_ENOENT;
  *ret_row = (input_row){.text = {window.ptr, len}, .number = in->number, .unfinished = feed == NULL};
  source_take(&in->bytes, len + (feed != NULL));
  return MEND_OK;
}

mend_status input_next_line(input *in, input_row *ret_row) {
  for (;;) {
    in->number++;
    const mend_status status = take_line(in, ret_row);
    if (status != MEND_OK || ret_row->problem != NULL || mend__skip_blanks(ret_row->text).len > 0) return status;
  }
}
