#include "core/memory.h"

#include <stdlib.h>

static void *default_allocate(void *ctx, size_t size) {
  (void)ctx;
  return malloc(size);
}

static void *default_reallocate(void *ctx, void *pointer, size_t size) {
  (void)ctx;
  return realloc(pointer, size);
}

static void default_release(void *ctx, void *pointer) {
  (void)ctx;
  free(pointer);
}

static const mend_allocator default_allocator = {
    sizeof(mend_allocator), NULL, default_allocate, default_reallocate, default_release,
};

const mend_allocator *mend_allocator_default(void) { return &default_allocator; }

static const mend_allocator *chosen(const mend_allocator *allocator) {
  return allocator != NULL ? allocator : &default_allocator;
}

/* Allocators promise nothing about size 0, so nothing asks them for it. */
static size_t at_least_one(size_t size) { return size != 0 ? size : 1; }

void *mend__alloc(const mend_allocator *allocator, size_t size) {
  allocator = chosen(allocator);
  return allocator->allocate(allocator->ctx, at_least_one(size));
}

void *mend__alloc_zero(const mend_allocator *allocator, size_t size) {
  void *pointer = mend__alloc(allocator, size);
  if (pointer != NULL) memset(pointer, 0, size);
  return pointer;
}

void *mend__realloc(const mend_allocator *allocator, void *pointer, size_t size) {
  allocator = chosen(allocator);
  return allocator->reallocate(allocator->ctx, pointer, at_least_one(size));
}

void mend__free(const mend_allocator *allocator, void *pointer) {
  if (pointer == NULL) return;
  allocator = chosen(allocator);
  allocator->release(allocator->ctx, pointer);
}

void mend_free(const mend_allocator *allocator, void *pointer) { mend__free(allocator, pointer); }

char *mend__str_copy(const mend_allocator *allocator, mend_str text) {
  if (text.len == SIZE_MAX) return NULL;
  char *copy = mend__alloc(allocator, text.len + 1);
  if (copy == NULL) return NULL;
  if (text.len != 0) memcpy(copy, text.ptr, text.len);
  copy[text.len] = '\0';
  return copy;
}

mend_str mend__keep_text(char **place, mend_str text) {
  if (text.ptr == NULL) return text;
  char *copy = *place;
  if (text.len > 0) memcpy(copy, text.ptr, text.len);
  copy[text.len] = '\0';
  *place += text.len + 1;
  return (mend_str){copy, text.len};
}

bool mend__is_zero(const void *bytes, size_t len) {
  const char *each = bytes;
  for (size_t i = 0; i < len; i++) {
    if (each[i] != 0) return false;
  }
  return true;
}

static bool is_continuation(char c) { return ((unsigned char)c & 0xC0u) == 0x80u; }

size_t mend__utf8_cut(mend_str text, size_t limit) {
  if (text.len <= limit) return text.len;
  size_t kept = limit;
  /* A character has at most three continuation bytes; a longer row of them is not UTF-8 and is cut anywhere. */
  for (int back = 0; back < 3 && kept > 0 && is_continuation(text.ptr[kept]); back++)
    kept--;
  return kept > 0 && is_continuation(text.ptr[kept]) ? limit : kept;
}
