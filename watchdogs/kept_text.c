#include "watchdogs/watchdogs_internal.h"

bool mend__kept_text_set(mend__kept_text *kept, mend_str text, const mend_allocator *allocator) {
  if (text.len > UINT32_MAX) return false;
  const size_t room = kept->allocated != NULL ? kept->capacity : sizeof kept->inside;
  if (text.len > room) {
    char *larger = mend__realloc(allocator, kept->allocated, text.len);
    if (larger == NULL) return false;
    kept->allocated = larger;
    kept->capacity = (uint32_t)text.len;
  }
  if (text.len != 0) memcpy(kept->allocated != NULL ? kept->allocated : kept->inside, text.ptr, text.len);
  kept->len = (uint32_t)text.len;
  return true;
}

mend_str mend__kept_text_get(const mend__kept_text *kept) {
  if (kept->len == 0) return (mend_str)MEND_ABSENT;
  return (mend_str){kept->allocated != NULL ? kept->allocated : kept->inside, kept->len};
}

void mend__kept_text_free(mend__kept_text *kept, const mend_allocator *allocator) {
  mend__free(allocator, kept->allocated);
  kept->allocated = NULL;
}

mend_str mend__call_text(uint64_t call, mend_str name, char digits[MEND__CALL_DIGITS]) {
  if (name.len != 0) return name;
  if (call == 0) return (mend_str)MEND_ABSENT;
  char *end = digits + MEND__CALL_DIGITS, *begin = end;
  for (uint64_t rest = call; rest != 0; rest /= 10)
    *--begin = (char)('0' + rest % 10);
  return (mend_str){begin, (size_t)(end - begin)};
}
