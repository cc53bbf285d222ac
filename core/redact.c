/* One pass that knows no more of a text than which word stands before, and how many backslashes before a quote: so many
 * times has it been written into a string, one in \" and three in \\\". That holds for JSON, for JSON in strings of it,
 * for commands, heads of requests and source texts alike, wherever they are cut. */
#include "core/redact.h"

#include "core/redact_internal.h"
#include "core/text.h"

typedef struct text_walk {
  char *text;
  size_t len;
  bool is_json;
  size_t at;     /* the next to be read */
  size_t kept;   /* written, never more than was read; the next two are places in it */
  size_t name;   /* where the word begins that it ends with */
  size_t inside; /* behind its last quote */
} text_walk;

/* ---- Reading on ---- */

static bool is_quote(char c) { return c == '"' || c == '\''; }
static bool is_of_name(char c) { return mend__is_letter_or_digit(c) || c == '_' || c == '-' || c == '.'; }

/* What is at a place: NUL at the end. */
static char at(const text_walk *walk, size_t place) { return place < walk->len ? walk->text[place] : '\0'; }

static size_t skip(const text_walk *walk, size_t place, const char *set) {
  while (place < walk->len && walk->text[place] != '\0' && strchr(set, walk->text[place]) != NULL)
    place++;
  return place;
}

static size_t find(const text_walk *walk, size_t place, const char *set) {
  while (place < walk->len && (walk->text[place] == '\0' || strchr(set, walk->text[place]) == NULL))
    place++;
  return place;
}

/* As it is, up to a place; behind it another word begins. */
static void keep(text_walk *walk, size_t end) {
  memmove(walk->text + walk->kept, walk->text + walk->at, end - walk->at);
  walk->kept += end - walk->at;
  walk->at = end;
  walk->name = walk->kept;
}

static void cover(text_walk *walk, size_t end) {
  enum { STARS = 3 };
  const size_t len = end - walk->at < STARS ? end - walk->at : STARS;
  memset(walk->text + walk->kept, '*', len);
  walk->kept += len;
  walk->at = end;
  walk->name = walk->kept;
}

/* ---- Strings ---- */

/* A quote behind so many backslashes ends a string of the document itself, whatever is written in that. */
static bool ends_document_string(const text_walk *walk, char quote, size_t backslashes) {
  return walk->is_json && quote == '"' && backslashes % 2 == 0;
}

/* Whether it ends a string whose first quote has `level` backslashes, or one around that. */
static bool ends_string(const text_walk *walk, char quote, size_t backslashes, char first, size_t level) {
  if (ends_document_string(walk, quote, backslashes)) return true;
  if (quote != first) return false;
  if (quote == '\'') return backslashes <= level;
  return backslashes < level || backslashes % (2 * (level + 1)) == level;
}

/* Where the string's last quote begins with those backslashes that are not the string's own. */
static size_t end_of_string(const text_walk *walk, size_t place, char first, size_t level) {
  while ((place = find(walk, place, "\\\"'")) < walk->len) {
    const size_t quote = skip(walk, place, "\\"), backslashes = quote - place;
    const char c = at(walk, quote);
    if (is_quote(c) && ends_string(walk, c, backslashes, first, level)) {
      if (ends_document_string(walk, c, backslashes)) return quote;
      return backslashes < level ? place : quote - level;
    }
    place = quote + (quote < walk->len);
  }
  return walk->len;
}

/* `quote` is its first one. */
static void cover_string(text_walk *walk, size_t quote, size_t level, bool may_be_name) {
  const char first = walk->text[quote];
  keep(walk, quote + 1);
  walk->inside = walk->kept;
  const size_t end = end_of_string(walk, walk->at, first, level);
  const size_t last = skip(walk, end, "\\");
  const bool is_whole = last - end == level && at(walk, last) == first;
  const bool is_name = may_be_name && is_whole && at(walk, skip(walk, last + 1, " \t\r\n")) == ':';
  if (is_name) {
    keep(walk, last + 1);
  } else {
    cover(walk, end);
    if (is_whole) keep(walk, last + 1);
  }
  walk->inside = walk->kept;
}

/* What a value is written in: the name that stands before it is behind so many backslashes, and in a string, if that is
 * known, of the document. */
typedef struct surroundings {
  size_t level;
  bool in_string;
} surroundings;

static bool ends_surroundings(const text_walk *walk, char quote, size_t backslashes, surroundings around) {
  if (quote != '"') return false;
  return backslashes < around.level || (around.in_string && ends_document_string(walk, quote, backslashes));
}

/* All strings of a value but for the names in it. */
static void cover_strings(text_walk *walk, surroundings around) {
  size_t depth = 0;
  do {
    const size_t place = skip(walk, walk->at, "\\"), level = place - walk->at;
    const char c = at(walk, place);
    if (ends_surroundings(walk, c, level, around)) return;
    if (is_quote(c)) {
      cover_string(walk, place, level, depth > 0);
      continue;
    }
    if (c == '[' || c == '{') depth++;
    if ((c == ']' || c == '}') && depth > 0) depth--;
    keep(walk, place + (place < walk->len));
  } while (depth > 0 && walk->at < walk->len);
}

/* ---- What stands behind a name ---- */

static mend_str written_since(const text_walk *walk, size_t begin) {
  return (mend_str){walk->text + begin, walk->kept - begin};
}

/* It is at the quote of a string, which may be a name. */
static void take_quote(text_walk *walk, size_t level) {
  const char quote = at(walk, walk->at);
  const mend_str name = {walk->text + walk->inside, walk->kept - level - walk->inside};
  const size_t colon = skip(walk, walk->at + 1, " \t\r\n");
  const bool is_secret = at(walk, colon) == ':' && mend__secret_extent_of(name) != MEND__SECRET_NONE;
  keep(walk, walk->at + 1);
  walk->inside = walk->kept;
  if (!is_secret) return;
  keep(walk, skip(walk, colon + 1, " \t\r\n"));
  cover_strings(walk, (surroundings){level, level > 0 || quote == '\''});
}

static size_t end_of_word(const text_walk *walk, size_t place) { return find(walk, place, " \t\r\n\\\"'&;,<>|)]}"); }

/* What follows a name without quotes and a sign; true: it was in quotes. */
static bool cover_quoted(text_walk *walk) {
  const size_t quote = skip(walk, walk->at, "\\"), level = quote - walk->at;
  if (!is_quote(at(walk, quote)) || ends_document_string(walk, at(walk, quote), level)) return false;
  cover_string(walk, quote, level, false);
  return true;
}

static void take_equals(text_walk *walk) {
  const mend__secret_extent extent = mend__secret_extent_of(written_since(walk, walk->name));
  keep(walk, walk->at + 1);
  if (extent == MEND__SECRET_NONE || at(walk, walk->at) == '=' || cover_quoted(walk)) return;
  cover(walk, end_of_word(walk, walk->at));
}

/* Behind "//" or "\/\/", which follows the colon of a URL; 0: it does not. */
static size_t skip_slashes(const text_walk *walk, size_t place) {
  for (int i = 0; i < 2; i++) {
    place = skip(walk, place, "\\");
    if (at(walk, place++) != '/') return 0;
  }
  return place;
}

/* "8080" and "8080," but not "80ab" */
static bool is_port(const text_walk *walk, size_t place) {
  return !mend__is_letter_or_digit(at(walk, skip(walk, place, "0123456789"))) && mend__is_digit(at(walk, place));
}

/* user:password@host. Where the text is cut before the @, only a port is none. */
static void cover_password(text_walk *walk, size_t begin) {
  const size_t end = find(walk, begin, "/\\?#\"'<> \t\r\n");
  const size_t colon = at(walk, begin) == '[' ? end : find(walk, begin, ":@");
  keep(walk, begin);
  if (colon >= end || at(walk, colon) != ':') return;
  size_t password_end = end;
  while (password_end > colon && at(walk, password_end) != '@')
    password_end--;
  if (password_end == colon) password_end = is_port(walk, colon + 1) ? colon + 1 : end;
  keep(walk, colon + 1);
  cover(walk, password_end);
}

static void take_colon(text_walk *walk) {
  const size_t host = skip_slashes(walk, walk->at + 1);
  const mend__secret_extent extent = mend__secret_extent_of(written_since(walk, walk->name));
  if (host != 0) {
    cover_password(walk, host);
    return;
  }
  keep(walk, walk->at + 1);
  if (extent == MEND__SECRET_NONE) return;
  keep(walk, skip(walk, walk->at, " \t"));
  if (cover_quoted(walk)) return;
  if (extent == MEND__SECRET_WORD) cover(walk, end_of_word(walk, walk->at));
  if (extent == MEND__SECRET_LINE) cover(walk, find(walk, walk->at, "\r\n\\\"'"));
}

/* ---- What is known by itself ---- */

/* Where the key begins that this marker announces; 0: it announces none. */
static size_t private_key_at(const text_walk *walk, size_t place) {
  static const char begin[] = "-----BEGIN ", end[] = "-----";
  static const mend_str label = {"PRIVATE KEY", sizeof "PRIVATE KEY" - 1};
  const mend_str rest = {walk->text + place, walk->len - place};
  if (!mend__begins_with(rest, mend_str_from(begin))) return 0;
  const size_t name = place + strlen(begin);
  const size_t name_end = skip(walk, name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ");
  const mend_str behind = {walk->text + name_end, walk->len - name_end};
  if (!mend__begins_with(behind, mend_str_from(end))) return 0;
  const bool is_private = memmem(walk->text + name, name_end - name, label.ptr, label.len) != NULL;
  return is_private ? name_end + strlen(end) : 0;
}

static size_t end_of_private_key(const text_walk *walk, size_t place) {
  static const char end[] = "-----END ";
  while ((place = find(walk, place, "-\"'\\")) < walk->len) {
    const size_t quote = skip(walk, place, "\\");
    const mend_str rest = {walk->text + place, walk->len - place};
    if (is_quote(at(walk, quote)) || mend__begins_with(rest, mend_str_from(end))) return place;
    place = quote > place ? quote : place + 1;
  }
  return place;
}

static void take_of_word(text_walk *walk) {
  const char before = walk->kept > walk->name ? walk->text[walk->kept - 1] : ' ';
  const bool begins = before == ' ' || before == '-' || before == '.';
  const mend_str rest = {walk->text + walk->at, walk->len - walk->at};
  const mend__known_secret known = begins ? mend__known_secret_at(rest) : (mend__known_secret){0, 0};
  const size_t private_key = before == ' ' && rest.ptr[0] == '-' ? private_key_at(walk, walk->at) : 0;
  if (known.len > 0) {
    keep(walk, walk->at + known.prefix_len);
    cover(walk, walk->at + known.len);
  } else if (private_key > 0) {
    keep(walk, private_key);
    cover(walk, end_of_private_key(walk, walk->at));
  } else {
    do {
      walk->text[walk->kept++] = walk->text[walk->at++];
    } while (mend__is_letter_or_digit(at(walk, walk->at)));
  }
}

/* An escape, as \n and as \u0026, is no part of a word, however often it is escaped itself. */
static void take_backslashes(text_walk *walk) {
  const size_t end = skip(walk, walk->at, "\\"), level = end - walk->at;
  const char c = at(walk, end);
  keep(walk, end);
  if (is_quote(c)) {
    take_quote(walk, level);
  } else if (c == 'u' && skip(walk, end + 1, "0123456789abcdefABCDEF") >= end + 5) {
    keep(walk, end + 5);
  } else if (c != '\0' && strchr("bfnrt", c) != NULL) {
    keep(walk, end + 1);
  }
}

/* ---- The text ---- */

static void take(text_walk *walk) {
  const char c = walk->text[walk->at];
  if (is_of_name(c)) {
    take_of_word(walk);
  } else if (c == '\\') {
    take_backslashes(walk);
  } else if (is_quote(c)) {
    take_quote(walk, 0);
  } else if (c == '=') {
    take_equals(walk);
  } else if (c == ':') {
    take_colon(walk);
  } else {
    keep(walk, walk->at + 1);
  }
}

static size_t redact(char *text, size_t len, bool is_json) {
  text_walk walk = {.text = text, .len = len, .is_json = is_json};
  while (walk.at < walk.len)
    take(&walk);
  return walk.kept;
}

size_t mend__redact_json(char *text, size_t len) { return redact(text, len, true); }
size_t mend__redact_text(char *text, size_t len) { return redact(text, len, false); }
