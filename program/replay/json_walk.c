#include "program/replay/json_walk.h"

#include "core/text.h"

/* ---- Where a value ends; NULL when it is cut off ---- */

static const char *end_of_string(const char *quote, const char *end) {
  const char *place = mend__skip_plain(quote + 1, end);
  while (place < end && *place != '"')
    place = mend__skip_plain(place + (*place == '\\' && end - place > 1 ? 2 : 1), end);
  return place < end ? place + 1 : NULL;
}

static const char *end_of_container(const char *place, const char *end) {
  size_t open = 0;
  while (place != NULL && place < end) {
    const char c = *place;
    if (c == '"') {
      place = end_of_string(place, end);
      continue;
    }
    place++;
    if (c == '{' || c == '[') open++;
    if ((c == '}' || c == ']') && --open == 0) return place;
  }
  return NULL;
}

static bool ends_scalar(char c) { return c == ',' || c == '}' || c == ']' || mend__is_blank(c); }

static const char *end_of_value(const char *place, const char *end) {
  if (*place == '"') return end_of_string(place, end);
  if (*place == '{' || *place == '[') return end_of_container(place, end);
  while (place < end && !ends_scalar(*place))
    place++;
  return place;
}

/* ---- Walking ---- */

json_walk json_walk_into(mend_str text) { return (json_walk){text.ptr + 1, text.ptr + text.len}; }

static void skip_blanks(json_walk *walk) {
  while (walk->place < walk->end && mend__is_blank(*walk->place))
    walk->place++;
}

static bool take(json_walk *walk, char c) {
  skip_blanks(walk);
  const bool is_there = walk->place < walk->end && *walk->place == c;
  walk->place += is_there;
  return is_there;
}

static bool take_value(json_walk *walk, mend_str *ret_value) {
  skip_blanks(walk);
  if (walk->place == walk->end) return false;
  const char *begin = walk->place, *end = end_of_value(begin, walk->end);
  if (end == NULL || end == begin) return false;
  *ret_value = (mend_str){begin, (size_t)(end - begin)};
  walk->place = end;
  return true;
}

bool json_walk_element(json_walk *walk, mend_str *ret_element) {
  const bool is_there = take_value(walk, ret_element);
  if (is_there) take(walk, ',');
  return is_there;
}

bool json_walk_member(json_walk *walk, mend_str *ret_name, mend_str *ret_value) {
  if (!take_value(walk, ret_name) || ret_name->ptr[0] != '"' || !take(walk, ':')) return false;
  *ret_name = (mend_str){ret_name->ptr + 1, ret_name->len - 2};
  return json_walk_element(walk, ret_value);
}
