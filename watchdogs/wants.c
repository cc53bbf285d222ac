#include "watchdogs/wants.h"

#include "bus/room.h"
#include "core/memory.h"
#include "core/text.h"
#include "mend/options.h"

/* Cuts the next word off the front of *rest; absent at the end. */
static mend_str next_word(const char **rest) {
  const char *begin = *rest;
  while (mend__is_blank(*begin))
    begin++;
  const char *end = begin;
  while (*end != '\0' && !mend__is_blank(*end))
    end++;
  *rest = end;
  return end == begin ? (mend_str)MEND_ABSENT : (mend_str){begin, (size_t)(end - begin)};
}

static size_t count_words(const char *text) {
  size_t count = 0;
  while (next_word(&text).ptr != NULL)
    count++;
  return count;
}

/* "*", or dotted parts of which none is empty and only the last may be "*". A comma between topics is a mistake. */
static bool is_pattern(mend_str word) {
  size_t part = 0;
  for (size_t i = 0; i < word.len; i++) {
    const char c = word.ptr[i];
    if (c == '*' && (part != 0 || i + 1 != word.len)) return false;
    if ((c == '.' && part == 0) || c == ',' || c == ';') return false;
    part = c == '.' ? 0 : part + 1;
  }
  return part != 0;
}

static bool is_wildcard(mend_str pattern) { return pattern.ptr[pattern.len - 1] == '*'; }

static bool pattern_matches(mend_str pattern, mend_str name) {
  if (!is_wildcard(pattern)) return mend_str_equal(pattern, name);
  const size_t prefix = pattern.len - 1;
  return name.len > prefix && memcmp(name.ptr, pattern.ptr, prefix) == 0;
}

bool mend__wants_match(const mend__wants *wants, mend_str name) {
  for (size_t i = 0; i < wants->count; i++) {
    if (pattern_matches(wants->patterns[i], name)) return true;
  }
  return false;
}

static void want_kind(mend__wants *wants, unsigned kind) { wants->kinds[kind / 64] |= UINT64_C(1) << (kind % 64); }

static void find_kinds(mend__wants *wants) {
  for (unsigned kind = 1; kind < MEND_EVENT_KIND_COUNT; kind++) {
    if (mend__wants_match(wants, mend_event_kind_topic((mend_event_kind)kind))) want_kind(wants, kind);
  }
  for (size_t i = 0; i < wants->count; i++) {
    if (mend__kind_from_topic(wants->patterns[i]) == MEND_EVENT_CUSTOM) want_kind(wants, MEND_EVENT_CUSTOM);
  }
}

/* Patterns and their text share one block. */
mend_status mend__wants_init(mend__wants *wants, const char *text, const mend_allocator *allocator) {
  *wants = (mend__wants){{0}, NULL, 0};
  if (text == NULL) text = "*";
  const size_t count = count_words(text), size = strlen(text) + 1;
  mend_str *patterns = mend__alloc(allocator, count * sizeof *patterns + size);
  if (patterns == NULL) return MEND_ENOMEM;
  const char *rest = memcpy(patterns + count, text, size);
  for (size_t i = 0; i < count; i++) {
    patterns[i] = next_word(&rest);
    if (!is_pattern(patterns[i])) {
      mend__free(allocator, patterns);
      return MEND_EINVAL;
    }
  }
  wants->patterns = patterns;
  wants->count = count;
  find_kinds(wants);
  return MEND_OK;
}

void mend__wants_free(mend__wants *wants, const mend_allocator *allocator) {
  mend__free(allocator, wants->patterns);
  wants->patterns = NULL;
}
