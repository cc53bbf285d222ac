/* Loose mode: where the canonical hash makes equal what an agent means the same by. Strings that need unescaping to be
 * looked into are unescaped at the end of the scratch, and stay there while what is in them is hashed. */
#include "core/hash_internal.h"
#include "core/json_internal.h"
#include "core/text.h"

#include <math.h>

/* ---- Texts in the scratch ---------------------------------------------------------------------------------- */

/* What a slice stands for. Whoever asks puts `texts` back when the text is not needed any more. */
static mend__hash_verdict take_text(mend__hasher *tree, mend_str slice, bool escaped, mend_str *ret_text) {
  if (!escaped) {
    *ret_text = slice;
    return MEND__HASHED;
  }
  if (slice.len > mend__hash_room(tree)) return MEND__HASH_NO_ROOM;
  tree->texts -= slice.len;
  *ret_text = (mend_str){tree->texts, mend_json_unescape(slice, tree->texts)};
  return MEND__HASHED;
}

/* ---- Names ------------------------------------------------------------------------------------------------- */

mend__hash_verdict mend__hash_loose_key(mend__hasher *tree, const mend_json *json, bool *ret_ignored) {
  mend__hash_level *level = tree->level;
  level->key = json->slice;
  level->key_escaped = json->escaped;
  level->keeps = MEND__KEEPS_UNKNOWN;
  *ret_ignored = false;
  if (level > tree->levels + 1 || tree->loose->ignores == NULL) return MEND__HASHED;
  char *const texts = tree->texts;
  mend_str name;
  mend__hash_verdict verdict = take_text(tree, json->slice, json->escaped, &name);
  if (verdict == MEND__HASHED) *ret_ignored = tree->loose->ignores(tree->loose->ctx, name);
  tree->texts = texts;
  return verdict;
}

static mend__hash_verdict find_out_about(mend__hasher *tree, mend__hash_level *level) {
  char *const texts = tree->texts;
  mend_str name;
  if (level->keeps != MEND__KEEPS_UNKNOWN) return MEND__HASHED;
  mend__hash_verdict verdict = take_text(tree, level->key, level->key_escaped, &name);
  if (verdict == MEND__HASHED) level->keeps = mend__name_keeps_values(name) ? MEND__KEEPS : MEND__KEEPS_NOT;
  tree->texts = texts;
  return verdict;
}

/* Whether a value of this shape is masked where it stands. */
static mend__hash_verdict is_masked(mend__hasher *tree, mend__mask mask, bool *ret_masked) {
  *ret_masked = false;
  if (mask == MEND__MASK_NONE) return MEND__HASHED;
  for (mend__hash_level *level = tree->levels + 1; level <= tree->level; level++) {
    mend__hash_verdict verdict = find_out_about(tree, level);
    if (verdict != MEND__HASHED || level->keeps == MEND__KEEPS) return verdict;
  }
  *ret_masked = true;
  return MEND__HASHED;
}

static mend_hash hash_mask(mend__mask mask) {
  const uint8_t kind = (uint8_t)mask;
  return mend__hash_with(MEND__HASH_MASKED, &kind, sizeof kind);
}

/* ---- Numbers ----------------------------------------------------------------------------------------------- */

/* A double unless it is an integer that a double may not hold, or beyond the doubles. */
static mend_hash hash_number(const mend_json *json, double value) {
  const double exact_limit = 9007199254740992.0; /* 2^53 */
  const bool as_written = json->integer ? fabs(value) >= exact_limit : isinf(value);
  return as_written ? mend__hash_number(json->slice, json->integer) : mend__hash_double(value);
}

static mend__hash_verdict loose_number(mend__hasher *tree, const mend_json *json, mend_hash *ret_hash) {
  const double value = mend_json_double(json->slice);
  const mend__mask mask = tree->loose->mask_volatile ? mend__mask_of_number(value) : MEND__MASK_NONE;
  bool masked;
  mend__hash_verdict verdict = is_masked(tree, mask, &masked);
  if (verdict == MEND__HASHED) *ret_hash = masked ? hash_mask(mask) : hash_number(json, value);
  return verdict;
}

/* ---- Strings ----------------------------------------------------------------------------------------------- */

/* Whether a backslash at this place of a slice begins an escape, rather than being the second of a pair. */
static bool begins_escape(mend_str slice, size_t place) {
  size_t before = 0;
  while (before < place && slice.ptr[place - before - 1] == '\\')
    before++;
  return before % 2 == 0;
}

/* The length of the blank at the end of a slice, as it is written there; 0 when there is none. */
static size_t last_blank_len(mend_str slice, bool escaped) {
  static const char *const escapes[] = {"\\n",     "\\r",     "\\t",     "\\u0020", "\\u0009",
                                        "\\u000a", "\\u000A", "\\u000d", "\\u000D"};
  if (mend__ends_with(slice, MEND_STR(" "))) return 1;
  for (size_t i = 0; escaped && i < sizeof escapes / sizeof escapes[0]; i++) {
    const mend_str escape = mend_str_from(escapes[i]);
    if (mend__ends_with(slice, escape) && begins_escape(slice, slice.len - escape.len)) return escape.len;
  }
  return 0;
}

static mend_str without_blanks_behind(mend_str slice, bool escaped) {
  for (size_t blank; (blank = last_blank_len(slice, escaped)) > 0;)
    slice.len -= blank;
  return slice;
}

static bool is_too_long_to_look_into(mend_str slice, bool escaped) {
  if (!escaped || slice.len <= MEND_HASH_NESTED_MAX) return slice.len > MEND_HASH_NESTED_MAX;
  size_t len = 0;
  while (slice.len > 0 && len <= MEND_HASH_NESTED_MAX) {
    char piece[256];
    len += mend__json_unescape_part(&slice, piece, sizeof piece);
  }
  return len > MEND_HASH_NESTED_MAX;
}

static bool may_be_container(mend_str text) {
  for (size_t i = 0; i < text.len; i++) {
    if (!mend__is_blank(text.ptr[i])) return text.ptr[i] == '{' || text.ptr[i] == '[';
  }
  return false;
}

static mend__hash_verdict hash_text_of_string(mend__hasher *tree, mend_str text, mend_hash *ret_hash) {
  if (tree->level < tree->levels + MEND_JSON_DEPTH && may_be_container(text)) {
    mend__hash_verdict verdict = mend__hash_text(tree, text);
    if (verdict == MEND__HASHED) *ret_hash = tree->root;
    if (verdict != MEND__HASH_NO_JSON) return verdict;
  }
  const mend__mask mask = tree->loose->mask_volatile ? mend__mask_of_string(text) : MEND__MASK_NONE;
  bool masked;
  mend__hash_verdict verdict = is_masked(tree, mask, &masked);
  if (verdict == MEND__HASHED) *ret_hash = masked ? hash_mask(mask) : mend__hash_string(text, false);
  return verdict;
}

static mend__hash_verdict loose_string(mend__hasher *tree, const mend_json *json, mend_hash *ret_hash) {
  const mend_str slice = without_blanks_behind(json->slice, json->escaped);
  if (is_too_long_to_look_into(slice, json->escaped)) {
    *ret_hash = mend__hash_string(slice, json->escaped);
    return MEND__HASHED;
  }
  char *const texts = tree->texts;
  mend_str text;
  mend__hash_verdict verdict = take_text(tree, slice, json->escaped, &text);
  if (verdict == MEND__HASHED) verdict = hash_text_of_string(tree, text, ret_hash);
  tree->texts = texts;
  return verdict;
}

/* A member that is null stays without a value, as if it were absent. */
static bool is_absent_member(const mend__hasher *tree, const mend_json *json) {
  return json->token == MEND_JSON_NULL && json->depth > 0 && !tree->level->array;
}

mend__hash_verdict mend__hash_loose_scalar(mend__hasher *tree, const mend_json *json) {
  mend__hash_verdict verdict = MEND__HASHED;
  mend_hash value;
  if (is_absent_member(tree, json)) {
    tree->level->absent = true;
    return MEND__HASHED;
  }
  switch (json->token) {
  case MEND_JSON_STRING: verdict = loose_string(tree, json, &value); break;
  case MEND_JSON_NUMBER: verdict = loose_number(tree, json, &value); break;
  default: value = mend__hash_literal(json->slice);
  }
  if (verdict == MEND__HASHED) mend__hash_add(tree, json, value);
  return verdict;
}
