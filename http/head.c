#include "core/memory.h"
#include "core/text.h"
#include "http/http_internal.h"

enum { HEAD_MAX = 256 * 1024 };

void mend__http_lines_init(mend__http_lines *lines, const mend_allocator *allocator) {
  *lines = (mend__http_lines){.count = 0};
  mend__buffer_init(&lines->text, allocator);
}

void mend__http_lines_free(mend__http_lines *lines) { mend__buffer_free(&lines->text); }

static mend_str without_end(mend_str line) {
  if (line.len > 0 && line.ptr[line.len - 1] == '\n') line.len--;
  if (line.len > 0 && line.ptr[line.len - 1] == '\r') line.len--;
  return line;
}

const mend__http_fault *mend__http_lines_add(mend__http_lines *lines, mend_str line, bool *ret_complete) {
  lines->total += line.len;
  if (lines->total > HEAD_MAX) return &mend__http_long_head;
  line = without_end(line);
  *ret_complete = line.len == 0;
  if (line.len == 0) return NULL;
  if (line.len >= 5 && memcmp(line.ptr, "HTTP/", 5) == 0) { /* the first line of an interim head or the real one */
    mend__buffer_clear(&lines->text);
    lines->count = 0;
    return NULL;
  }
  mend__buffer_str(&lines->text, line);
  mend__buffer_char(&lines->text, '\n');
  lines->count++;
  return lines->text.failed ? &mend__http_no_memory : NULL;
}

static mend__http_header parse(mend_str line) {
  const char *colon = memchr(line.ptr, ':', line.len);
  const size_t len = colon != NULL ? (size_t)(colon - line.ptr) : line.len;
  const size_t skipped = colon != NULL ? len + 1 : len;
  return (mend__http_header){{line.ptr, len}, mend__trim((mend_str){line.ptr + skipped, line.len - skipped})};
}

mend__http_header *mend__http_lines_headers(const mend__http_lines *lines, size_t *ret_count) {
  mend__http_header *headers = mend__alloc(lines->text.allocator, (lines->count + 1) * sizeof *headers);
  if (headers == NULL) return NULL;
  mend_str rest = {lines->text.data, lines->text.len};
  for (size_t i = 0; i < lines->count; i++) {
    const size_t len = (size_t)((const char *)memchr(rest.ptr, '\n', rest.len) - rest.ptr);
    headers[i] = parse((mend_str){rest.ptr, len});
    rest = (mend_str){rest.ptr + len + 1, rest.len - len - 1};
  }
  *ret_count = lines->count;
  return headers;
}

mend_str mend__http_find(const mend__http_head *head, const char *name) {
  const size_t len = strlen(name);
  for (size_t i = 0; i < head->header_count; i++) {
    const mend__http_header *header = &head->headers[i];
    if (header->name.len == len && curl_strnequal(header->name.ptr, name, len)) return header->value;
  }
  return (mend_str){NULL, 0};
}
