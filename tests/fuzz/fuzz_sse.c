/* The parser of event streams: however a text is cut, the events are the same. */
#include "fuzz/fuzz.h"
#include "http/sse.h"

enum { LIMIT = 64 };

/* The events as text, each part behind its length. */
static bool note_event(void *ctx, mend_str name, mend_str data) {
  MUST(name.ptr != NULL && name.len > 0 && data.ptr != NULL);
  MUST(name.len <= LIMIT && data.len <= LIMIT);
  mend__buffer *log = ctx;
  mend__buffer_printf(log, "%zu:", name.len);
  mend__buffer_str(log, name);
  mend__buffer_printf(log, "%zu:", data.len);
  mend__buffer_str(log, data);
  return true;
}

/* Feeds `first` bytes, then pieces of `step` bytes. */
static mend_status parse(mend_str text, size_t first, size_t step, mend__buffer *log) {
  mend__sse sse;
  mend__sse_init(&sse, NULL, LIMIT);
  mend_status status = MEND_OK;
  for (size_t len = first; status == MEND_OK && text.len > 0; len = step) {
    const mend_str piece = {text.ptr, len < text.len ? len : text.len};
    char *copy = malloc(piece.len + 1); /* of its size, so that a sanitizer sees who reads beyond it */
    MUST(copy != NULL);
    memcpy(copy, piece.ptr, piece.len);
    status = mend__sse_feed(&sse, (mend_str){copy, piece.len}, note_event, log);
    free(copy);
    text = (mend_str){text.ptr + piece.len, text.len - piece.len};
  }
  mend__sse_free(&sse);
  return status;
}

static void compare(mend_str text, size_t first, size_t step, const mend__buffer *wanted, mend_status status) {
  mend__buffer log;
  mend__buffer_init(&log, NULL);
  MUST(parse(text, first, step, &log) == status);
  MUST(log.len == wanted->len && (log.len == 0 || memcmp(log.data, wanted->data, log.len) == 0));
  mend__buffer_free(&log);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const mend_str text = fuzz_text(data, size);
  mend__buffer whole;
  mend__buffer_init(&whole, NULL);
  const mend_status status = parse(text, size, 1, &whole);
  MUST(status == MEND_OK || status == MEND_ELIMIT);
  compare(text, 1, 1, &whole, status);
  for (size_t first = 1; first < size && size <= 512; first++)
    compare(text, first, size, &whole, status);
  mend__buffer_free(&whole);
  return 0;
}
