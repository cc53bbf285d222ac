/* One pass that knows no more of a text than which word stands before, and how many backslashes before a quote: so many
 * times has it been written into a string, one in \" and three in \\\". That holds for JSON, for JSON in strings of it,
 * for commands, heads of requests and source texts alike, wherever they are cut. */
#include "core/redact.h"

#include "core/redact_walk_internal.h"

/* ---- What stands behind a name ---- */

static bool is_of_name(char c) { return mend__is_letter_or_digit(c) || c == '_' || c == '-' || c == '.'; }

static size_t skip_blanks(const mend__text_walk *walk, size_t place) {
  while (mend__walk_at(walk, place) == ' ' || mend__walk_at(walk, place) == '\t')
    place++;
  return place;
}

static mend_str written_since(const mend__text_walk *walk, size_t begin) {
  return (mend_str){walk->text + begin, walk->kept - begin};
}

/* Where what is quoted may have been cut: at the end of all, or of a string of the document that is no name. */
static bool may_be_cut(const mend__text_walk *walk, size_t place) {
  const size_t quote = mend__walk_skip(walk, place, "\\");
  if (quote == walk->len) return true;
  if (!mend__ends_document_string(walk, mend__walk_at(walk, quote), quote - place)) return false;
  return mend__walk_at(walk, mend__walk_skip(walk, quote + 1, " \t\r\n")) != ':';
}

static bool is_cut_mark(const mend__text_walk *walk, size_t place) {
  static const char mark[] = "...";
  return mend__begins_with((mend_str){walk->text + place, walk->len - place}, mend_str_from(mark));
}

static size_t end_of_word(const mend__text_walk *walk, size_t place) {
  return mend__walk_find(walk, place, " \t\r\n\\\"'&;,<>|)]}");
}

/* What follows a name without quotes and a sign; true: it was in quotes. */
static bool cover_quoted(mend__text_walk *walk) {
  const mend__quote_mark mark = mend__quote_at(walk, walk->at);
  if (mark.quote == '\0' || mend__ends_document_string(walk, mark.quote, mark.level)) return false;
  mend__cover_string(walk, mark, false);
  return true;
}

/* Behind "=", ":=" or "=>", with blanks around it or without; 0: no such sign follows. */
static size_t skip_sign(const mend__text_walk *walk, size_t place) {
  place = skip_blanks(walk, place);
  const size_t colon_end = mend__walk_skip_char(walk, place, ':');
  const size_t end = mend__walk_skip_char(walk, colon_end > 0 ? colon_end : place, '=');
  if (end == 0 || mend__walk_skip_char(walk, end, '=') > 0) return 0;
  const size_t arrow_end = mend__walk_skip_char(walk, end, '>');
  return skip_blanks(walk, arrow_end > 0 ? arrow_end : end);
}

static void cover_behind_sign(mend__text_walk *walk, size_t behind) {
  mend__walk_keep(walk, behind);
  if (!cover_quoted(walk)) mend__walk_cover(walk, end_of_word(walk, walk->at));
}

/* It is at the quote of a string, which may be a name. */
static void take_quote(mend__text_walk *walk, mend__quote_mark mark) {
  const mend_str name = written_since(walk, walk->inside);
  const size_t colon_end = mend__walk_skip_char(walk, mend__walk_skip(walk, mark.end, " \t\r\n"), ':');
  const size_t behind_sign = skip_sign(walk, mark.end);
  const bool is_name = colon_end > 0 || behind_sign > 0;
  const bool is_secret = is_name && mend__secret_extent_of(name) != MEND__SECRET_NONE;
  mend__walk_keep(walk, mark.end);
  walk->inside = walk->kept;
  if (!is_secret) return;
  if (behind_sign > 0) {
    cover_behind_sign(walk, behind_sign);
  } else {
    mend__walk_keep(walk, mend__walk_skip(walk, colon_end, " \t\r\n"));
    mend__cover_strings(walk, (mend__surroundings){mark.level, mark.level > 0 || mark.quote == '\''});
  }
}

/* Where a sign or blanks before one follow the name of a secret. */
static bool cover_assigned(mend__text_walk *walk) {
  const size_t behind = skip_sign(walk, walk->at);
  if (behind == 0 || mend__secret_extent_of(written_since(walk, walk->name)) == MEND__SECRET_NONE) return false;
  cover_behind_sign(walk, behind);
  return true;
}

/* It is at an equals sign or at blanks. */
static void take_sign(mend__text_walk *walk) {
  if (cover_assigned(walk)) return;
  const size_t sign = skip_blanks(walk, walk->at);
  mend__walk_keep(walk, sign > walk->at ? sign : mend__walk_skip(walk, walk->at, "="));
}

/* Behind "//" or "\/\/", which follows the colon of a URL; 0: it does not. */
static size_t skip_slashes(const mend__text_walk *walk, size_t place) {
  for (int i = 0; i < 2; i++) {
    place = mend__walk_skip(walk, place, "\\");
    if (mend__walk_at(walk, place++) != '/') return 0;
  }
  return place;
}

/* "8080" and "8080," but not "80ab" */
static bool is_port(const mend__text_walk *walk, size_t place) {
  return !mend__is_letter_or_digit(mend__walk_at(walk, mend__walk_skip(walk, place, "0123456789"))) &&
         mend__is_digit(mend__walk_at(walk, place));
}

/* user:password@host. Where the text is cut, the @ before its end may be one of the password, and without any only a
 * port is none. */
static void cover_password(mend__text_walk *walk, size_t begin) {
  const size_t end = mend__walk_find(walk, begin, "/\\?#\"'<> \t\r\n");
  const size_t colon = mend__walk_at(walk, begin) == '[' ? end : mend__walk_find(walk, begin, ":@");
  mend__walk_keep(walk, begin);
  if (colon >= end || mend__walk_at(walk, colon) != ':') return;
  size_t password_end = end;
  while (password_end > colon && mend__walk_at(walk, password_end) != '@')
    password_end--;
  if (password_end == colon) {
    password_end = is_port(walk, colon + 1) ? colon + 1 : end;
  } else if (may_be_cut(walk, end) || is_cut_mark(walk, end - 3)) {
    password_end = end;
  }
  mend__walk_keep(walk, colon + 1);
  mend__walk_cover(walk, password_end);
}

static void take_colon(mend__text_walk *walk, size_t end) {
  if (cover_assigned(walk)) return;
  const size_t host = skip_slashes(walk, end);
  const mend__secret_extent extent = mend__secret_extent_of(written_since(walk, walk->name));
  if (host != 0) {
    cover_password(walk, host);
    return;
  }
  mend__walk_keep(walk, end);
  if (extent == MEND__SECRET_NONE) return;
  mend__walk_keep(walk, skip_blanks(walk, end));
  if (cover_quoted(walk)) return;
  if (extent == MEND__SECRET_WORD) mend__walk_cover(walk, end_of_word(walk, walk->at));
  if (extent == MEND__SECRET_LINE) mend__walk_cover(walk, mend__walk_find(walk, walk->at, "\r\n\\\"'"));
}

/* ---- What is known by itself ---- */

/* Where the key begins that this marker announces; 0: it announces none. */
static size_t private_key_at(const mend__text_walk *walk, size_t place) {
  static const char begin[] = "-----BEGIN ", end[] = "-----";
  static const mend_str label = {"PRIVATE KEY", sizeof "PRIVATE KEY" - 1};
  const mend_str rest = {walk->text + place, walk->len - place};
  if (!mend__begins_with(rest, mend_str_from(begin))) return 0;
  const size_t name = place + strlen(begin);
  const size_t name_end = mend__walk_skip(walk, name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ");
  const mend_str behind = {walk->text + name_end, walk->len - name_end};
  if (!mend__begins_with(behind, mend_str_from(end))) return 0;
  const bool is_private = memmem(walk->text + name, name_end - name, label.ptr, label.len) != NULL;
  return is_private ? name_end + strlen(end) : 0;
}

static size_t end_of_private_key(const mend__text_walk *walk, size_t place) {
  static const char end[] = "-----END ";
  while ((place = mend__walk_find(walk, place, "-\"'\\")) < walk->len) {
    const mend__quote_mark mark = mend__quote_at(walk, place);
    const mend_str rest = {walk->text + place, walk->len - place};
    if (mark.quote != '\0' || mend__begins_with(rest, mend_str_from(end))) return place;
    place = mark.end > place ? mark.end : place + 1;
  }
  return place;
}

/* One that is cut is a secret however short it is; a string that ends with a plain word need not be cut. */
static bool is_secret_key(const mend__text_walk *walk, mend__known_secret known) {
  const size_t end = walk->at + known.prefix_len + known.len;
  if (known.len == 0 || known.is_long) return known.len > 0;
  return end == walk->len || is_cut_mark(walk, end) || (!known.is_plain_word && may_be_cut(walk, end));
}

static void take_of_word(mend__text_walk *walk) {
  const char before = walk->kept > walk->name ? walk->text[walk->kept - 1] : ' ';
  const bool begins = before == ' ' || before == '-' || before == '.';
  const mend_str rest = {walk->text + walk->at, walk->len - walk->at};
  const mend__known_secret known = begins ? mend__known_secret_at(rest) : (mend__known_secret){0};
  const size_t private_key = before == ' ' && rest.ptr[0] == '-' ? private_key_at(walk, walk->at) : 0;
  if (is_secret_key(walk, known)) {
    mend__walk_keep(walk, walk->at + known.prefix_len);
    mend__walk_cover(walk, walk->at + known.len);
  } else if (private_key > 0) {
    mend__walk_keep(walk, private_key);
    mend__walk_cover(walk, end_of_private_key(walk, walk->at));
  } else {
    do {
      walk->text[walk->kept++] = walk->text[walk->at++];
    } while (mend__is_letter_or_digit(mend__walk_at(walk, walk->at)));
  }
}

/* An escape is what it stands for, \u0061 a letter and \u003d a sign; any other, as \n and as \u0026, is no part of a
 * word, however often it is escaped itself. */
static void take_backslashes(mend__text_walk *walk) {
  const mend__quote_mark mark = mend__quote_at(walk, walk->at);
  if (mark.quote != '\0') {
    take_quote(walk, mark);
    return;
  }
  const char c = mend__walk_at(walk, mark.end),
             escaped = mend__escaped_char((mend_str){walk->text + mark.end, walk->len - mark.end});
  const size_t word = walk->name;
  if (escaped == ':') {
    take_colon(walk, mark.end + MEND__ESCAPE_LEN);
  } else if (is_of_name(escaped)) {
    mend__walk_keep(walk, mark.end + MEND__ESCAPE_LEN);
    walk->name = word;
  } else if (cover_assigned(walk)) {
    return;
  } else if (c == 'u' && mend__walk_skip(walk, mark.end + 1, "0123456789abcdefABCDEF") >= mark.end + MEND__ESCAPE_LEN) {
    mend__walk_keep(walk, mark.end + MEND__ESCAPE_LEN);
  } else {
    mend__walk_keep(walk, mark.end + (c != '\0' && strchr("bfnrt", c) != NULL));
  }
}

/* ---- The text ---- */

static void take(mend__text_walk *walk) {
  const char c = walk->text[walk->at];
  if (is_of_name(c)) {
    take_of_word(walk);
  } else if (c == '\\') {
    take_backslashes(walk);
  } else if (mend__is_quote(c)) {
    take_quote(walk, mend__quote_at(walk, walk->at));
  } else if (c == '=' || c == ' ' || c == '\t') {
    take_sign(walk);
  } else if (c == ':') {
    take_colon(walk, walk->at + 1);
  } else {
    mend__walk_keep(walk, walk->at + 1);
  }
}

static size_t redact(mend__text_walk walk) {
  while (walk.at < walk.len)
    take(&walk);
  return walk.kept;
}

/* NOLINTBEGIN(readability-non-const-parameter): the walk writes there */
size_t mend__redact_json(char *text, size_t len) {
  return redact((mend__text_walk){.text = text, .len = len, .is_json = true});
}

size_t mend__redact_text(char *text, size_t len) { return redact((mend__text_walk){.text = text, .len = len}); }
/* NOLINTEND(readability-non-const-parameter) */
