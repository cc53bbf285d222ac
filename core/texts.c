#include "core/texts.h"
#include "core/memory.h"

typedef struct block {
  struct block *next;
  const mend_allocator *allocator;
  char text[];
} block;

static block *block_new(mend_str text, const mend_allocator *allocator) {
  if (text.len > SIZE_MAX - sizeof(block) - 1) return NULL;
  block *made = mend__alloc(allocator, sizeof *made + text.len + 1);
  if (made == NULL) return NULL;
  made->allocator = allocator;
  if (text.len > 0) memcpy(made->text, text.ptr, text.len);
  made->text[text.len] = '\0';
  return made;
}

static void free_text(void **texts, const char *text) {
  block *previous = NULL, *each = *texts;
  while (each != NULL && each->text != text) {
    previous = each;
    each = each->next;
  }
  if (each == NULL) return;
  if (previous != NULL) {
    previous->next = each->next;
  } else {
    *texts = each->next;
  }
  mend__free(each->allocator, each);
}

mend_status mend__texts_set(void **texts, const mend_allocator *allocator, mend_str *member, mend_str text) {
  block *kept = NULL;
  if (text.ptr != NULL) {
    kept = block_new(text, allocator);
    if (kept == NULL) return MEND_ENOMEM;
  }
  free_text(texts, member->ptr);
  *member = (mend_str){NULL, 0};
  if (kept == NULL) return MEND_OK;
  kept->next = *texts;
  *texts = kept;
  *member = (mend_str){kept->text, text.len};
  return MEND_OK;
}

void mend__texts_free(void **texts) {
  for (block *each = *texts, *next; each != NULL; each = next) {
    next = each->next;
    mend__free(each->allocator, each);
  }
  *texts = NULL;
}
