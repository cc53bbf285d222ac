#include "core/text.h"
#include "fallback/scripted.h"

/* The first so many characters; all of it when there is no limit. */
static size_t cut_len(mend_str text, uint64_t characters) {
  if (characters == 0) return text.len;
  size_t len = 0;
  while (characters-- > 0 && len < text.len)
    len += mend__character_len((mend_str){text.ptr + len, text.len - len});
  return len;
}

/* Takes the next piece of `text`, which is done afterwards when the cursor has moved on. */
static mend_str take(mend__script_cursor *cursor, mend_str text, uint64_t characters) {
  const mend_str rest = {text.ptr + cursor->offset, text.len - cursor->offset};
  const size_t len = cut_len(rest, characters);
  cursor->offset += len;
  if (len == rest.len) {
    cursor->piece++;
    cursor->offset = 0;
  }
  return (mend_str){rest.ptr, len};
}

static void take_text(mend__script_cursor *cursor, const mend__script_text *text, mend_part_kind kind,
                      mend_delta *ret_delta) {
  const mend_str piece = cursor->script->pieces[text->pieces.first + cursor->piece];
  ret_delta->kind = kind;
  ret_delta->text = take(cursor, piece, text->is_whole ? cursor->reply->cut : 0);
}

static void take_call(mend__script_cursor *cursor, mend_delta *ret_delta) {
  const size_t index = cursor->piece;
  const mend__script_call *call = &cursor->script->calls[cursor->reply->calls.first + index];
  ret_delta->kind = MEND_PART_CALL;
  ret_delta->index = (uint32_t)index;
  if (cursor->offset == 0) {
    ret_delta->call_id = call->id;
    ret_delta->name = call->name;
  }
  ret_delta->text = take(cursor, call->args, cursor->reply->cut);
}

bool mend__script_next(mend__script_cursor *cursor, mend_delta *ret_delta) {
  const mend__script_reply *reply = cursor->reply;
  const size_t counts[] = {reply->thinking.pieces.count, reply->text.pieces.count, reply->calls.count};
  enum { STAGES = sizeof counts / sizeof counts[0] };
  while (cursor->stage < STAGES && cursor->piece == counts[cursor->stage]) {
    cursor->stage++;
    cursor->piece = 0;
  }
  if (cursor->stage == STAGES) return false;
  *ret_delta = (mend_delta)MEND_DELTA_INIT;
  switch (cursor->stage) {
  case 0: take_text(cursor, &reply->thinking, MEND_PART_THINKING, ret_delta); break;
  case 1: take_text(cursor, &reply->text, MEND_PART_TEXT, ret_delta); break;
  default: take_call(cursor, ret_delta); break;
  }
  return true;
}
