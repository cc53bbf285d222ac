#include "fallback/veil.h"

/* ---- Telling ---- */

/* Characters that matched, as the text has them. */
static void tell_matched(const mend__veil *veil, size_t from, size_t to, mend__buffer *told) {
  for (size_t i = from; i < to; i++) {
    const char c = veil->secrets->keys[veil->matched.key].text[i];
    if (veil->is_json && (c == '"' || c == '\\')) mend__buffer_char(told, '\\');
    mend__buffer_char(told, c);
  }
}

/* Tells the first characters that matched, but for those that were told already. */
static void release(mend__veil *veil, size_t count, mend__buffer *told) {
  const size_t shown = veil->shown < count ? veil->shown : count;
  tell_matched(veil, shown, count, told);
  veil->shown -= shown;
}

/* The first characters that matched are not a key's after all; those behind them may be. */
static void fall_back(mend__veil *veil, mend__buffer *told) {
  const mend__secret_place border = veil->secrets->keys[veil->matched.key].borders[veil->matched.len];
  release(veil, veil->matched.len - border.len, told);
  veil->matched = border;
}

/* The last `len` characters that matched are a key. */
static void tell_stars(mend__veil *veil, size_t len, mend__buffer *told) {
  release(veil, veil->matched.len - len, told);
  for (size_t i = veil->shown; i < len; i++)
    mend__buffer_char(told, '*');
  veil->matched = (mend__secret_place){0, 0};
  veil->shown = 0;
  veil->is_found = true;
}

/* ---- Matching ---- */

static void match(mend__veil *veil, mend_str character, mend__buffer *told) {
  const bool is_mark = veil->is_json && character.len == 1 && strchr("\"\\", character.ptr[0]) != NULL;
  const int value = is_mark ? -1 : mend__escape_value(character);
  while (!mend__secrets_extend(veil->secrets, &veil->matched, value)) {
    if (veil->matched.len == 0) {
      mend__buffer_str(told, character);
      return;
    }
    fall_back(veil, told);
  }
  const size_t whole = mend__secrets_whole(veil->secrets, veil->matched);
  if (whole > 0) tell_stars(veil, whole, told);
}

static void match_escape(mend__veil *veil, mend__buffer *told) {
  const mend_str whole = {veil->escape, veil->escape_len};
  veil->escape_len = 0;
  match(veil, whole, told);
}

/* It is none, but a backslash and what comes behind it. */
static void match_each(mend__veil *veil, mend__buffer *told) {
  for (size_t i = 0; i < veil->escape_len; i++)
    match(veil, (mend_str){veil->escape + i, 1}, told);
  veil->escape_len = 0;
}

static void read_json(mend__veil *veil, char byte, mend__buffer *told) {
  const mend_str begun = {veil->escape, veil->escape_len + 1};
  veil->escape[veil->escape_len] = byte;
  const size_t len = mend__escape_len(begun);
  if (len < begun.len) {
    match_each(veil, told);
    read_json(veil, byte, told);
    return;
  }
  veil->escape_len++;
  if (len == begun.len) match_escape(veil, told);
}

/* ---- Pieces ---- */

/* Where this key may begin, within the first `len` bytes. The second character, which may be escaped, makes most doubts
 * go away. */
static size_t beginning_of(const mend__secret *secret, mend_str text, size_t len) {
  const char *const end = text.ptr + len;
  for (const char *at = text.ptr; (at = memchr(at, secret->text[0], (size_t)(end - at))) != NULL; at++) {
    const bool is_last = at + 1 == text.ptr + text.len;
    if (is_last || at[1] == secret->text[1] || at[1] == '\\') return (size_t)(at - text.ptr);
  }
  return len;
}

static size_t next_beginning(const mend__secrets *secrets, mend_str text) {
  size_t nearest = text.len;
  for (size_t i = 0; i < secrets->count; i++)
    nearest = beginning_of(&secrets->keys[i], text, nearest);
  return nearest;
}

/* How many bytes come before anything that matters. */
static size_t plain_length(const mend__veil *veil, mend_str text) {
  if (veil->matched.len > 0 || veil->escape_len > 0 || text.len == 0) return 0;
  const size_t len = next_beginning(veil->secrets, text);
  const char *escape = veil->is_json ? memchr(text.ptr, '\\', len) : NULL;
  return escape != NULL ? (size_t)(escape - text.ptr) : len;
}

/* What comes behind the first `len` bytes. */
static mend_str rest_of(mend_str text, size_t len) { return (mend_str){text.ptr + len, text.len - len}; }

static void read_one(mend__veil *veil, char byte, mend__buffer *told) {
  if (veil->is_json) {
    read_json(veil, byte, told);
  } else {
    match(veil, (mend_str){&byte, 1}, told);
  }
}

static mend_str text_of(const mend__buffer *told) { return told->len > 0 ? mend__buffer_text(told) : MEND_STR(""); }

mend_str mend__veil_take(mend__veil *veil, mend_str piece, mend__buffer *told) {
  if (veil->secrets == NULL || veil->secrets->count == 0) return piece;
  if (plain_length(veil, piece) == piece.len) return piece;
  mend__buffer_clear(told);
  for (mend_str rest = piece; rest.len > 0;) {
    const size_t len = plain_length(veil, rest);
    mend__buffer_bytes(told, rest.ptr, len);
    if (len < rest.len) read_one(veil, rest.ptr[len], told);
    rest = rest_of(rest, len < rest.len ? len + 1 : len);
  }
  return text_of(told);
}

mend_str mend__veil_flush(mend__veil *veil, mend__buffer *told) {
  mend__buffer_clear(told);
  if (!mend__veil_holds(veil)) return MEND_STR("");
  tell_matched(veil, veil->shown, veil->matched.len, told);
  mend__buffer_bytes(told, veil->escape, veil->escape_len);
  veil->shown = veil->matched.len;
  veil->escape_len = 0;
  return text_of(told);
}
