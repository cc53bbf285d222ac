#include "core/columns.h"
#include "core/text.h"

typedef struct block {
  uint32_t first, last;
} block;

static const block combining[] = {
    {0x300, 0x36F}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F},
};

static const block wide[] = {
    {0x1100, 0x115F},                       /* Hangul jamo */
    {0x2E80, 0x303E},   {0x3041, 0xA4CF},   /* CJK, kana, Yi */
    {0xA960, 0xA97F},   {0xAC00, 0xD7A3},   /* Hangul */
    {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   /* CJK, compatible */
    {0xFF01, 0xFF60},   {0xFFE0, 0xFFE6},   /* full width */
    {0x16FE0, 0x18DFF}, {0x1B000, 0x1B2FF}, /* Tangut, kana */
    {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, /* pictures */
    {0x1F900, 0x1F9FF}, {0x1FA70, 0x1FAFF}, /* pictures */
    {0x20000, 0x3FFFD},                     /* CJK */
};

static bool is_in(const block *blocks, size_t count, uint32_t code) {
  for (size_t i = 0; i < count; i++) {
    if (code >= blocks[i].first && code <= blocks[i].last) return true;
  }
  return false;
}

static size_t columns_of(uint32_t code) {
  if (code < combining[0].first) return 1;
  if (is_in(combining, sizeof combining / sizeof combining[0], code)) return 0;
  return is_in(wide, sizeof wide / sizeof wide[0], code) ? 2 : 1;
}

size_t mend__columns(mend_str text) {
  size_t columns = 0;
  while (text.len > 0) {
    const mend__prefix character = mend__utf8_prefix(text.ptr, text.len);
    const size_t len = character.len > 0 ? character.len : 1;
    columns += character.whole ? columns_of(mend__utf8_decode((mend_str){text.ptr, len})) : 1;
    text = (mend_str){text.ptr + len, text.len - len};
  }
  return columns;
}
