#include "metacognition/room.h"

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

static mend_str trim(mend_str text) {
  for (; text.len > 0 && is_blank(text.ptr[0]); text.len--)
    text.ptr++;
  while (text.len > 0 && is_blank(text.ptr[text.len - 1]))
    text.len--;
  return text;
}

mend_str mend__without_fences(mend_str text) {
  static const size_t fence = 3;
  text = trim(text);
  if (text.len < fence || memcmp(text.ptr, "```", fence) != 0) return text;
  const char *line_end = memchr(text.ptr, '\n', text.len);
  if (line_end == NULL) return text;
  text.len -= (size_t)(line_end + 1 - text.ptr);
  text.ptr = line_end + 1;
  if (text.len >= fence && memcmp(text.ptr + text.len - fence, "```", fence) == 0) text.len -= fence;
  return trim(text);
}
