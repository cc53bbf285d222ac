#include "core/texts.h"
#include "fallback/fallback_internal.h"

const char *mend_finish_name(mend_finish finish) {
  switch (finish) {
  case MEND_FINISH_UNKNOWN: return "unknown";
  case MEND_FINISH_STOP: return "stop";
  case MEND_FINISH_LENGTH: return "length";
  case MEND_FINISH_CALLS: return "tool_calls";
  case MEND_FINISH_FILTER: return "content_filter";
  }
  return "unknown";
}

/* Members behind the first, which is its size, as far as both know them; of one that is all zeroes nothing. */
static void copy_members(mend_reply *to, const mend_reply *from) {
  const size_t size = to->size < from->size ? to->size : from->size;
  if (size <= sizeof size) return;
  memcpy((char *)to + sizeof size, (const char *)from + sizeof size, size - sizeof size);
}

void mend_reply_clear(mend_reply *reply) {
  if (reply == NULL) return;
  const mend_reply empty = MEND_REPLY_INIT;
  mend__draft_free(reply->memory);
  copy_members(reply, &empty);
}

void mend_reply_move(mend_reply *to, mend_reply *from) {
  if (to == from) return;
  const mend_reply empty = MEND_REPLY_INIT;
  mend__draft_free(to->memory);
  copy_members(to, from);
  copy_members(from, &empty);
}

mend_status mend__reply_set(mend_reply *reply, mend_str *member, mend_str text) {
  mend__draft *draft = reply->memory;
  return draft != NULL ? mend__texts_set(&draft->texts, draft->allocator, member, text) : MEND_EINVAL;
}
