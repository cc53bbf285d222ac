/* House header: a growing buffer and the JSON writer on top of it. Running out of memory is remembered in `failed`,
 * later appends do nothing, and the writer asks once at the end. */
#ifndef MEND_CORE_BUFFER_H
#define MEND_CORE_BUFFER_H

#include "mend/core.h"

typedef struct mend__buffer {
  const mend_allocator *allocator;
  char *data;
  size_t len, capacity;
  bool failed;
} mend__buffer;

void mend__buffer_init(mend__buffer *buffer, const mend_allocator *allocator);
void mend__buffer_free(mend__buffer *buffer);
/* Keeps the memory. */
void mend__buffer_clear(mend__buffer *buffer);
/* Makes room for `more` bytes; false (and failed) when out of memory. */
bool mend__buffer_reserve(mend__buffer *buffer, size_t more);

/* What it holds. */
static inline mend_str mend__buffer_text(const mend__buffer *buffer) { return (mend_str){buffer->data, buffer->len}; }
/* Hands the text over, NUL-terminated, to whoever frees it with the buffer's allocator; *ret_len may be NULL. The
 * buffer is empty afterwards, also after MEND_ENOMEM, when it had failed. */
mend_status mend__buffer_take(mend__buffer *buffer, char **ret_text, size_t *ret_len);

void mend__buffer_bytes(mend__buffer *buffer, const char *bytes, size_t len);
void mend__buffer_str(mend__buffer *buffer, mend_str text);
void mend__buffer_char(mend__buffer *buffer, char c);
void mend__buffer_printf(mend__buffer *buffer, const char *format, ...) MEND_PRINTF(2, 3);

/* JSON. A string with its quotes, escaped; bytes that are not UTF-8 become U+FFFD, so the result is always valid. */
void mend__buffer_json_string(mend__buffer *buffer, mend_str text);
/* The same cut to max_chars characters and then "..." when it was longer (display cuts of the JSON view). */
void mend__buffer_json_string_cut(mend__buffer *buffer, mend_str text, size_t max_chars);
/* A string, or null for an absent text. */
void mend__buffer_json_text(mend__buffer *buffer, mend_str text);
/* For people: as a JSON string, where what does not show as itself (core/text.h) is escaped too. */
void mend__buffer_quoted(mend__buffer *buffer, mend_str text);
void mend__buffer_u64(mend__buffer *buffer, uint64_t value);
/* The shortest of 15, 16 or 17 digits that read back as the same double, in any locale; not finite: null. */
void mend__buffer_f64(mend__buffer *buffer, double value);
/* Nanoseconds as seconds in decimal, exact, without trailing zeros but with at least one decimal: 1009.86, 1002.0 */
void mend__buffer_seconds(mend__buffer *buffer, uint64_t ns);
/* A point in time for people: "1009.86 s", or "never" for MEND_NEVER. */
void mend__buffer_time(mend__buffer *buffer, uint64_t mono_ns);
void mend__buffer_hex(mend__buffer *buffer, const uint8_t *bytes, size_t len);

#endif
