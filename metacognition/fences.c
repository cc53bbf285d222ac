#include "core/text.h"
#include "metacognition/room.h"

mend_str mend__without_fences(mend_str text) {
  static const size_t fence = 3;
  text = mend__trim(text);
  if (text.len < fence || memcmp(text.ptr, "```", fence) != 0) return text;
  const char *line_end = memchr(text.ptr, '\n', text.len);
  if (line_end == NULL) return text;
  text.len -= (size_t)(line_end + 1 - text.ptr);
  text.ptr = line_end + 1;
  if (text.len >= fence && memcmp(text.ptr + text.len - fence, "```", fence) == 0) text.len -= fence;
  return mend__trim(text);
}
