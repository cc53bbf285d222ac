#include "core/nearest.h"

#include "core/text.h"

enum { NAME_MAX_LEN = 64 };

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* How many characters must be inserted, deleted, changed or swapped with their neighbour (none of them twice) to make
 * one text the other, ASCII letters of either case being equal. Both are at most NAME_MAX_LEN long. */
static size_t edit_distance(mend_str a, mend_str b) {
  size_t rows[3][NAME_MAX_LEN + 1];
  size_t *before = rows[0], *above = rows[1], *row = rows[2];
  for (size_t j = 0; j <= b.len; j++)
    above[j] = j;
  for (size_t i = 1; i <= a.len; i++) {
    row[0] = i;
    for (size_t j = 1; j <= b.len; j++) {
      const char p = mend__lower(a.ptr[i - 1]), q = mend__lower(b.ptr[j - 1]);
      row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + (p != q));
      const bool swapped = i > 1 && j > 1 && p == mend__lower(b.ptr[j - 2]) && q == mend__lower(a.ptr[i - 2]);
      if (swapped) row[j] = least(row[j], before[j - 2] + 1);
    }
    size_t *free_row = before;
    before = above;
    above = row;
    row = free_row;
  }
  return above[b.len];
}

mend__nearest mend__nearest_to(mend_str wanted) {
  return (mend__nearest){wanted, NULL, wanted.len <= NAME_MAX_LEN ? NAME_MAX_LEN + 1 : 0};
}

void mend__nearest_consider(mend__nearest *search, mend_str candidate, const char *answer) {
  if (candidate.len > NAME_MAX_LEN || search->distance == 0) return;
  const size_t shorter = least(candidate.len, search->wanted.len);
  const size_t allowed = shorter < 3 ? 1 : shorter / 3;
  const size_t distance = edit_distance(search->wanted, candidate);
  if (distance > allowed || distance >= shorter || distance >= search->distance) return;
  search->distance = distance;
  search->answer = answer;
}
