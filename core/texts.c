#include "core/texts.h"
#include "core/memory.h"

mend__text_block *mend__text_block_new(mend_str text, const mend_allocator *allocator) {
  if (text.len > SIZE_MAX - sizeof(mend__text_block) - 1) return NULL;
  mend__text_block *block = mend__alloc(allocator, sizeof *block + text.len + 1);
  if (block == NULL) return NULL;
  char *copy = (char *)(block + 1);
  if (text.len > 0) memcpy(copy, text.ptr, text.len);
  copy[text.len] = '\0';
  *block = (mend__text_block){.allocator = allocator, .memory = block, .text = copy};
  return block;
}

void mend__text_block_free(mend__text_block *block) { mend__free(block->allocator, block->memory); }

void mend__texts_take(void **texts, mend__text_block *block) {
  block->next = *texts;
  *texts = block;
}

static void free_text(void **texts, const char *text) {
  mend__text_block *previous = NULL, *each = *texts;
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
  mend__text_block_free(each);
}

mend_status mend__texts_set(void **texts, const mend_allocator *allocator, mend_str *member, mend_str text) {
  mend__text_block *kept = NULL;
  if (text.ptr != NULL) {
    kept = mend__text_block_new(text, allocator);
    if (kept == NULL) return MEND_ENOMEM;
  }
  free_text(texts, member->ptr);
  *member = (mend_str){NULL, 0};
  if (kept == NULL) return MEND_OK;
  mend__texts_take(texts, kept);
  *member = (mend_str){kept->text, text.len};
  return MEND_OK;
}

void mend__texts_free(void **texts) {
  for (mend__text_block *each = *texts, *next; each != NULL; each = next) {
    next = each->next;
    mend__text_block_free(each);
  }
  *texts = NULL;
}
