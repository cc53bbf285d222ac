#include "hooks/hooks_internal.h"

const char *mend_outcome_name(mend_outcome outcome) {
  switch (outcome) {
  case MEND_OUTCOME_OK: return "ok";
  case MEND_OUTCOME_SKIPPED: return "skipped";
  case MEND_OUTCOME_ESCALATED: return "escalated";
  case MEND_OUTCOME_REDIRECTED: return "redirected";
  case MEND_OUTCOME_FAILED: return "failed";
  case MEND_OUTCOME_ABORTED: return "aborted";
  case MEND_OUTCOME_CANCELLED: return "cancelled";
  }
  return "unknown";
}

/* What a result holds: a list of blocks, one a member that is set. Each knows its allocator, which may be another for
 * every call a result is used for. */
typedef struct block {
  struct block *next;
  const mend_allocator *allocator;
  char text[];
} block;

static block *new_block(mend_str text, const mend_allocator *allocator) {
  if (text.len > SIZE_MAX - sizeof(block) - 1) return NULL;
  block *made = mend__alloc(allocator, sizeof *made + text.len + 1);
  if (made == NULL) return NULL;
  made->allocator = allocator;
  if (text.len > 0) memcpy(made->text, text.ptr, text.len);
  made->text[text.len] = '\0';
  return made;
}

static void free_text(mend_result *result, const char *text) {
  block *previous = NULL, *each = result->memory;
  while (each != NULL && each->text != text) {
    previous = each;
    each = each->next;
  }
  if (each == NULL) return;
  if (previous != NULL) {
    previous->next = each->next;
  } else {
    result->memory = each->next;
  }
  mend__free(each->allocator, each);
}

mend_status mend__result_set(mend_result *result, const mend_allocator *allocator, mend_str *field, mend_str text) {
  block *kept = NULL;
  if (text.ptr != NULL) {
    kept = new_block(text, allocator);
    if (kept == NULL) return MEND_ENOMEM;
  }
  free_text(result, field->ptr);
  *field = (mend_str)MEND_ABSENT;
  if (kept == NULL) return MEND_OK;
  kept->next = result->memory;
  result->memory = kept;
  *field = (mend_str){kept->text, text.len};
  return MEND_OK;
}

void mend__result_move(mend_result *to, mend_result *from) {
  mend_result_clear(to);
  const size_t size = to->size;
  *to = *from;
  to->size = size;
  *from = (mend_result)MEND_RESULT_INIT;
}

void mend_result_clear(mend_result *result) {
  if (result == NULL) return;
  for (block *each = result->memory, *next; each != NULL; each = next) {
    next = each->next;
    mend__free(each->allocator, each);
  }
  const size_t size = result->size;
  *result = (mend_result)MEND_RESULT_INIT;
  result->size = size;
}
