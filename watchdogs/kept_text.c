#include "watchdogs/kept_text.h"

#include "core/memory.h"
#include "mend/options.h"

static char *place(mend__kept_text *kept) { return kept->allocated != NULL ? kept->allocated : kept->inside; }

static bool reserve(mend__kept_text *kept, size_t len, const mend_allocator *allocator) {
  const size_t room = kept->allocated != NULL ? kept->capacity : sizeof kept->inside;
  if (len <= room) return true;
  if (len > UINT32_MAX) return false;
  char *larger = mend__realloc(allocator, kept->allocated, len);
  if (larger == NULL) return false;
  if (kept->allocated == NULL) memcpy(larger, kept->inside, sizeof kept->inside);
  kept->allocated = larger;
  kept->capacity = (uint32_t)len;
  return true;
}

bool mend__kept_text_set(mend__kept_text *kept, mend_str first, mend_str second, const mend_allocator *allocator) {
  if (first.len > SIZE_MAX - second.len || !reserve(kept, first.len + second.len, allocator)) return false;
  if (first.len != 0) memcpy(place(kept), first.ptr, first.len);
  if (second.len != 0) memcpy(place(kept) + first.len, second.ptr, second.len);
  kept->first_len = (uint32_t)first.len;
  kept->second_len = (uint32_t)second.len;
  return true;
}

static mend_str present(const char *text, size_t len) {
  return len != 0 ? (mend_str){text, len} : (mend_str)MEND_ABSENT;
}

mend_str mend__kept_text_first(const mend__kept_text *kept) {
  return present(place((mend__kept_text *)kept), kept->first_len);
}

mend_str mend__kept_text_second(const mend__kept_text *kept) {
  return present(place((mend__kept_text *)kept) + kept->first_len, kept->second_len);
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
