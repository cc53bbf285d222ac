#include "fallback/call_id.h"

#include "core/text.h"

bool mend__call_id_is_made(mend_str id, uint64_t *ret_number) {
  const size_t before = sizeof MEND__CALL_ID_MADE - 1;
  uint64_t number = 0;
  if (id.len <= before || id.len > before + 18 || memcmp(id.ptr, MEND__CALL_ID_MADE, before) != 0) return false;
  for (size_t i = before; i < id.len; i++) {
    if (!mend__is_digit(id.ptr[i])) return false;
    number = number * 10 + (uint64_t)(id.ptr[i] - '0');
  }
  *ret_number = number;
  return true;
}

uint64_t mend__call_id_next(const mend_messages *messages) {
  uint64_t next = 1, number;
  mend_role role;
  const mend_part *parts;
  size_t count;
  for (size_t i = 0; mend_messages_get(messages, i, &role, &parts, &count) == MEND_OK; i++) {
    for (size_t j = 0; j < count; j++) {
      if (mend__call_id_is_made(parts[j].call_id, &number) && number >= next) next = number + 1;
    }
  }
  return next;
}
