#include "core/option_internal.h"

enum { NAME_MAX_LEN = 64 };

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

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
      const char p = lower(a.ptr[i - 1]), q = lower(b.ptr[j - 1]);
      row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + (p != q));
      const bool swapped = i > 1 && j > 1 && p == lower(b.ptr[j - 2]) && q == lower(a.ptr[i - 2]);
      if (swapped) row[j] = least(row[j], before[j - 2] + 1);
    }
    size_t *free_row = before;
    before = above;
    above = row;
    row = free_row;
  }
  return above[b.len];
}

typedef struct nearest_search {
  mend_str wanted;
  const char *nearest;
  size_t distance; /* a candidate must be nearer than this */
} nearest_search;

/* A third of the letters may be wrong, one in short names, but never all. */
static void consider(nearest_search *search, mend_str candidate, const char *answer) {
  if (candidate.len > NAME_MAX_LEN || search->distance == 0) return;
  const size_t shorter = least(candidate.len, search->wanted.len);
  const size_t allowed = shorter < 3 ? 1 : shorter / 3;
  const size_t distance = edit_distance(search->wanted, candidate);
  if (distance > allowed || distance >= shorter || distance >= search->distance) return;
  search->distance = distance;
  search->nearest = answer;
}

static void consider_last_component(nearest_search *search, const char *name) {
  const char *dot = strrchr(name, '.');
  if (dot != NULL) consider(search, mend_str_from(dot + 1), name);
}

/* Of equally near ones full names win over aliases and those over last components. */
static const char *find_nearest(mend_str name, bool groups) {
  nearest_search search = {name, NULL, NAME_MAX_LEN + 1};
  if (name.len > NAME_MAX_LEN) return NULL;
  for (size_t i = 0; i < MEND__OPTIONS_COUNT; i++) {
    consider(&search, mend_str_from(mend__options[i].name), mend__options[i].name);
  }
  for (size_t i = 0; groups && i < MEND__GROUPS_COUNT; i++) {
    consider(&search, mend_str_from(mend__option_groups[i]), mend__option_groups[i]);
  }
  for (const mend__option_alias *each = mend__option_aliases; each->alias != NULL; each++) {
    consider(&search, mend_str_from(each->alias), each->alias);
  }
  for (size_t i = 0; i < MEND__OPTIONS_COUNT; i++)
    consider_last_component(&search, mend__options[i].name);
  for (const mend__option_alias *each = mend__option_aliases; each->alias != NULL; each++) {
    consider_last_component(&search, each->alias);
  }
  return search.nearest;
}

const char *mend_option_nearest(mend_str name) { return find_nearest(name, false); }

const char *mend__option_nearest_key(mend_str name) { return find_nearest(name, true); }
