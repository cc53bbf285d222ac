/* Keys in texts that are whole. */
#include "core/text.h"
#include "fallback/json_fields.h"
#include "fallback/secret.h"

/* ---- Characters ---- */

/* A backslash before anything else than what JSON has behind one is itself. */
size_t mend__escape_len(mend_str text) {
  if (text.ptr[0] != '\\') return 1;
  if (text.len < 2) return 2;
  if (text.ptr[1] != 'u') return text.ptr[1] != '\0' && strchr("\"\\/bfnrt", text.ptr[1]) != NULL ? 2 : 1;
  for (size_t i = 2; i < MEND__ESCAPE_MAX && i < text.len; i++) {
    if (mend__hex_value(text.ptr[i]) < 0) return 1;
  }
  return MEND__ESCAPE_MAX;
}

int mend__escape_value(mend_str character) {
  const char *text = character.ptr;
  if (character.len == 1) return (unsigned char)text[0];
  if (text[1] != 'u') return strchr("\"\\/", text[1]) != NULL ? text[1] : -1;
  return text[2] == '0' && text[3] == '0' ? mend__hex_value(text[4]) * 16 + mend__hex_value(text[5]) : -1;
}

/* ---- How many bytes at the beginning of a text are to be covered ---- */

/* What is looked for, and how the text is read. */
typedef struct search {
  const mend__secrets *secrets;
  bool pieces;
  bool no_words;
  bool escapes; /* characters may be written as JSON escapes; else a backslash is one */
} search;

static size_t character_len(mend_str text, const search *what) { return what->escapes ? mend__escape_len(text) : 1; }

/* Takes the first character; -1 when it is nothing that a key has, or cut off. */
static int take(mend_str *rest, const search *what) {
  const size_t len = rest->len > 0 ? character_len(*rest, what) : 1;
  if (len > rest->len) return -1;
  const int value = mend__escape_value((mend_str){rest->ptr, len});
  *rest = (mend_str){rest->ptr + len, rest->len - len};
  return value;
}

/* As long as its characters are those of the key from `at`. */
static size_t same_length(mend_str text, const search *what, const mend__secret *key, size_t at, size_t *ret_count) {
  mend_str rest = text;
  size_t len = 0, count = 0;
  for (; at + count < key->len && take(&rest, what) == (unsigned char)key->text[at + count]; count++)
    len = text.len - rest.len;
  *ret_count = count;
  return len;
}

static size_t whole_length(mend_str text, const search *what, const mend__secret *key) {
  size_t count;
  const size_t len = same_length(text, what, key, 0, &count);
  return count == key->len ? len : 0;
}

static size_t piece_length(mend_str text, const search *what, const mend__secret *key) {
  char first[MEND__SECRET_PIECE];
  size_t count;
  mend_str rest = text;
  for (size_t i = 0; i < sizeof first; i++) {
    const int value = take(&rest, what);
    if (value < 0) return 0;
    first[i] = (char)value;
  }
  const char *place = memmem(key->text, key->len, first, sizeof first);
  return place != NULL ? same_length(text, what, key, (size_t)(place - key->text), &count) : 0;
}

static size_t longest_length(mend_str text, const search *what) {
  size_t longest = 0;
  for (size_t i = 0; i < what->secrets->count; i++) {
    const mend__secret *key = &what->secrets->keys[i];
    if (what->no_words && key->is_word) continue;
    const size_t len = what->pieces ? piece_length(text, what, key) : whole_length(text, what, key);
    if (len > longest) longest = len;
  }
  return longest;
}

/* A quick look, for texts are long and keys are rare: each two characters have to be neighbours in a key. What a
 * backslash makes of it is not looked at. */
static bool may_begin(const mend__secrets *secrets, mend_str text) {
  for (size_t i = 1; i < MEND__SECRET_PIECE && i < text.len; i++) {
    if (text.ptr[i - 1] == '\\' || text.ptr[i] == '\\') return true;
    const unsigned pair = mend__secret_pair(text.ptr + i - 1);
    if ((secrets->pairs[pair / 8] >> pair % 8 & 1) == 0) return false;
  }
  return true;
}

static void cover(char *text, size_t len, const search *what) {
  for (size_t i = 0; i < len;) {
    const mend_str rest = {text + i, len - i};
    const size_t covered = may_begin(what->secrets, rest) ? longest_length(rest, what) : 0;
    memset(text + i, '*', covered);
    i += covered > 0 ? covered : character_len(rest, what);
  }
}

/* ---- Texts ---- */

static bool is_any(const mend__secrets *secrets) { return secrets != NULL && secrets->count > 0; }

static bool is_document(mend_str text) {
  return mend_json_check(mend__skip_blanks(text), MEND_JSON_DEPTH_MAX, NULL) == MEND_OK;
}

/* In a document a backslash that is none may be a part of an escape. */
void mend__secrets_cover(mend__buffer *text, const mend__secrets *secrets) {
  if (!is_any(secrets) || text->len == 0) return;
  cover(text->data, text->len, &(search){.secrets = secrets, .pieces = true, .escapes = true});
  if (is_document(mend__buffer_text(text))) return;
  cover(text->data, text->len, &(search){.secrets = secrets, .pieces = true});
}

void mend__secrets_cover_whole(mend__buffer *text, const mend__secrets *secrets) {
  if (!is_any(secrets)) return;
  cover(text->data, text->len, &(search){.secrets = secrets, .escapes = true});
  cover(text->data, text->len, &(search){.secrets = secrets});
}

void mend__secrets_cover_document(mend__buffer *json, const mend__secrets *secrets) {
  mend_json scan;
  if (!is_any(secrets)) return;
  mend_json_init(&scan, mend__buffer_text(json), MEND_JSON_DEPTH_MAX);
  for (mend_json_token token = mend_json_next(&scan); token != MEND_JSON_END && token != MEND_JSON_ERROR;
       token = mend_json_next(&scan)) {
    if (token != MEND_JSON_STRING && token != MEND_JSON_KEY) continue;
    const search what = {.secrets = secrets, .no_words = token == MEND_JSON_KEY, .escapes = true};
    cover(json->data + (scan.slice.ptr - json->data), scan.slice.len, &what);
  }
}

/* ---- Whether there is anything to do ---- */

static bool has_escapes(mend_str text, bool any) {
  const char *const end = text.ptr + text.len;
  for (const char *at = text.ptr; (at = memchr(at, '\\', (size_t)(end - at))) != NULL; at += 2) {
    if (end - at < 4) return any;
    if (any || memcmp(at, "\\u00", 4) == 0) return true;
  }
  return false;
}

bool mend__secrets_may_be_in(const mend__secrets *secrets, mend_str text) {
  for (size_t i = 0; is_any(secrets) && i < secrets->count; i++) {
    const mend__secret *key = &secrets->keys[i];
    if (text.len < key->len) continue;
    if (memmem(text.ptr, text.len, key->text, key->len) != NULL || has_escapes(text, key->is_escaped)) return true;
  }
  return false;
}
