/* Steps over a text, and the strings that are written in it. */
#include "core/redact_walk_internal.h"

/* ---- Reading on ---- */

size_t mend__walk_skip(const mend__text_walk *walk, size_t place, const char *set) {
  while (place < walk->len && walk->text[place] != '\0' && strchr(set, walk->text[place]) != NULL)
    place++;
  return place;
}

size_t mend__walk_skip_char(const mend__text_walk *walk, size_t place, char c) {
  if (mend__walk_at(walk, place) == c) return place + 1;
  if (mend__walk_at(walk, place) != '\\') return 0;
  const size_t escape = mend__walk_skip(walk, place, "\\");
  const mend_str rest = {walk->text + escape, walk->len - escape};
  return mend__escaped_char(rest) == c ? escape + MEND__ESCAPE_LEN : 0;
}

size_t mend__walk_find(const mend__text_walk *walk, size_t place, const char *set) {
  while (place < walk->len && (walk->text[place] == '\0' || strchr(set, walk->text[place]) == NULL))
    place++;
  return place;
}

void mend__walk_keep(mend__text_walk *walk, size_t end) {
  memmove(walk->text + walk->kept, walk->text + walk->at, end - walk->at);
  walk->kept += end - walk->at;
  walk->at = end;
  walk->name = walk->kept;
}

void mend__walk_cover(mend__text_walk *walk, size_t end) {
  enum { STARS = 3 };
  const size_t len = end - walk->at < STARS ? end - walk->at : STARS;
  memset(walk->text + walk->kept, '*', len);
  walk->kept += len;
  walk->at = end;
  walk->name = walk->kept;
}

/* ---- Strings ---- */

/* An escape counts as the backslashes that a quote would have there: \u0022 as \", \\u0022 as \\\". */
mend__quote_mark mend__quote_at(const mend__text_walk *walk, size_t place) {
  const size_t end = mend__walk_skip(walk, place, "\\"), backslashes = end - place;
  if (mend__is_quote(mend__walk_at(walk, end))) return (mend__quote_mark){walk->text[end], backslashes, end + 1, false};
  const char escaped = backslashes > 0 ? mend__escaped_char((mend_str){walk->text + end, walk->len - end}) : '\0';
  if (!mend__is_quote(escaped)) return (mend__quote_mark){.end = end};
  const size_t lowest_bit = backslashes & (~backslashes + 1);
  const size_t level = escaped == '"' ? backslashes + lowest_bit - 1 : backslashes - 1;
  return (mend__quote_mark){escaped, level, end + MEND__ESCAPE_LEN, true};
}

bool mend__ends_document_string(const mend__text_walk *walk, char quote, size_t backslashes) {
  return walk->is_json && quote == '"' && backslashes % 2 == 0;
}

/* Whether it ends a string whose first quote has `level` backslashes, or one around that. */
static bool ends_string(const mend__text_walk *walk, char quote, size_t backslashes, char first, size_t level) {
  if (mend__ends_document_string(walk, quote, backslashes)) return true;
  if (quote != first) return false;
  if (quote == '\'') return backslashes <= level;
  return backslashes < level || backslashes % (2 * (level + 1)) == level;
}

/* Where the string's last quote begins with those backslashes that are not the string's own. */
static size_t end_of_string(const mend__text_walk *walk, size_t place, char first, size_t level) {
  while ((place = mend__walk_find(walk, place, "\\\"'")) < walk->len) {
    const mend__quote_mark mark = mend__quote_at(walk, place);
    if (mark.quote != '\0' && ends_string(walk, mark.quote, mark.level, first, level)) {
      if (mend__ends_document_string(walk, mark.quote, mark.level)) return mark.end - 1;
      return mark.is_escape || mark.level < level ? place : mark.end - 1 - level;
    }
    place = mark.quote == '\0' && mark.end < walk->len ? mark.end + 1 : mark.end;
  }
  return walk->len;
}

void mend__cover_string(mend__text_walk *walk, mend__quote_mark first, bool may_be_name) {
  mend__walk_keep(walk, first.end);
  walk->inside = walk->kept;
  const size_t end = end_of_string(walk, walk->at, first.quote, first.level);
  const mend__quote_mark last = mend__quote_at(walk, end);
  const bool is_whole = last.level == first.level && last.quote == first.quote;
  const bool is_name =
      may_be_name && is_whole && mend__walk_skip_char(walk, mend__walk_skip(walk, last.end, " \t\r\n"), ':') > 0;
  if (is_name) {
    mend__walk_keep(walk, last.end);
  } else {
    mend__walk_cover(walk, end);
    if (is_whole) mend__walk_keep(walk, last.end);
  }
  walk->inside = walk->kept;
}

static bool ends_surroundings(const mend__text_walk *walk, char quote, size_t backslashes, mend__surroundings around) {
  if (quote != '"') return false;
  return backslashes < around.level || (around.in_string && mend__ends_document_string(walk, quote, backslashes));
}

void mend__cover_strings(mend__text_walk *walk, mend__surroundings around) {
  size_t depth = 0;
  do {
    const mend__quote_mark mark = mend__quote_at(walk, walk->at);
    if (ends_surroundings(walk, mark.quote, mark.level, around)) return;
    if (mark.quote != '\0') {
      mend__cover_string(walk, mark, depth > 0);
      continue;
    }
    const char c = mend__walk_at(walk, mark.end);
    if (c == '[' || c == '{') depth++;
    if ((c == ']' || c == '}') && depth > 0) depth--;
    mend__walk_keep(walk, mark.end + (mark.end < walk->len));
  } while (depth > 0 && walk->at < walk->len);
}
