#include "fallback/secret.h"

#include "core/memory.h"
#include "core/text.h"
#include "mend/json.h"

/* ---- The key ---- */

static bool is_word(mend_str text) {
  for (size_t i = 0; i < text.len; i++) {
    const char c = mend__lower(text.ptr[i]);
    if ((c < 'a' || c > 'z') && c != '_') return false;
  }
  return true;
}

/* As of Knuth, Morris and Pratt. */
static void find_borders(mend__secret *secret) {
  size_t border = 0;
  secret->borders[0] = secret->borders[1] = 0;
  for (size_t n = 1; n < secret->len; n++) {
    while (border > 0 && secret->text[n] != secret->text[border])
      border = secret->borders[border];
    if (secret->text[n] == secret->text[border]) border++;
    secret->borders[n + 1] = border;
  }
}

mend_status mend__secret_init(mend__secret *secret, const mend_allocator *allocator, const char *key) {
  *secret = (mend__secret){.allocator = allocator};
  if (key == NULL) return MEND_OK;
  secret->text = mend__str_copy(allocator, mend_str_from(key));
  if (secret->text == NULL) return MEND_ENOMEM;
  if (strlen(key) < MEND__SECRET_PIECE) return MEND_OK;
  secret->len = strlen(key);
  secret->borders = mend__alloc(allocator, (secret->len + 1) * sizeof *secret->borders);
  if (secret->borders == NULL) {
    mend__secret_free(secret);
    return MEND_ENOMEM;
  }
  find_borders(secret);
  secret->is_word = is_word((mend_str){secret->text, secret->len});
  secret->is_escaped = strpbrk(key, "/\\\"") != NULL;
  return MEND_OK;
}

void mend__secret_free(mend__secret *secret) {
  if (secret->text != NULL) explicit_bzero(secret->text, strlen(secret->text));
  mend__free(secret->allocator, secret->text);
  mend__free(secret->allocator, secret->borders);
  *secret = (mend__secret){.text = NULL};
}

/* ---- Characters ---- */

static int hex_value(char digit) {
  if (mend__is_digit(digit)) return digit - '0';
  const char c = mend__lower(digit);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A backslash before anything else than what JSON has behind one is itself. */
size_t mend__escape_len(mend_str text) {
  if (text.ptr[0] != '\\') return 1;
  if (text.len < 2) return 2;
  if (text.ptr[1] != 'u') return text.ptr[1] != '\0' && strchr("\"\\/bfnrt", text.ptr[1]) != NULL ? 2 : 1;
  for (size_t i = 2; i < MEND__ESCAPE_MAX && i < text.len; i++) {
    if (hex_value(text.ptr[i]) < 0) return 1;
  }
  return MEND__ESCAPE_MAX;
}

int mend__escape_value(mend_str character) {
  const char *text = character.ptr;
  if (character.len == 1) return (unsigned char)text[0];
  if (text[1] != 'u') return strchr("\"\\/", text[1]) != NULL ? text[1] : -1;
  return text[2] == '0' && text[3] == '0' ? hex_value(text[4]) * 16 + hex_value(text[5]) : -1;
}

/* Takes the first character; -1 when it is nothing that a key has, or cut off. */
static int take(mend_str *rest) {
  const size_t len = rest->len > 0 ? mend__escape_len(*rest) : 1;
  if (len > rest->len) return -1;
  const int value = mend__escape_value((mend_str){rest->ptr, len});
  *rest = (mend_str){rest->ptr + len, rest->len - len};
  return value;
}

/* ---- How many bytes at the beginning of a text are to be covered ---- */

/* As long as its characters are those of the key from `at`. */
static size_t same_length(mend_str text, const mend__secret *secret, size_t at, size_t *ret_count) {
  mend_str rest = text;
  size_t len = 0, count = 0;
  for (; at + count < secret->len && take(&rest) == (unsigned char)secret->text[at + count]; count++)
    len = text.len - rest.len;
  *ret_count = count;
  return len;
}

static size_t whole_length(mend_str text, const mend__secret *secret) {
  size_t count;
  const size_t len = same_length(text, secret, 0, &count);
  return count == secret->len ? len : 0;
}

static size_t piece_length(mend_str text, const mend__secret *secret) {
  char first[MEND__SECRET_PIECE];
  size_t count;
  mend_str rest = text;
  for (size_t i = 0; i < sizeof first; i++) {
    const int value = take(&rest);
    if (value < 0) return 0;
    first[i] = (char)value;
  }
  const char *place = memmem(secret->text, secret->len, first, sizeof first);
  return place != NULL ? same_length(text, secret, (size_t)(place - secret->text), &count) : 0;
}

static void cover(char *text, size_t len, const mend__secret *secret,
                  size_t (*length)(mend_str text, const mend__secret *secret)) {
  for (size_t i = 0; i < len;) {
    const mend_str rest = {text + i, len - i};
    const size_t covered = length(rest, secret);
    memset(text + i, '*', covered);
    i += covered > 0 ? covered : mend__escape_len(rest);
  }
}

static bool is_secret(const mend__secret *secret) { return secret != NULL && secret->len > 0; }

void mend__secret_cover(mend__buffer *text, const mend__secret *secret) {
  if (is_secret(secret)) cover(text->data, text->len, secret, piece_length);
}

void mend__secret_cover_whole(mend__buffer *text, const mend__secret *secret) {
  if (is_secret(secret)) cover(text->data, text->len, secret, whole_length);
}

void mend__secret_cover_document(mend__buffer *json, const mend__secret *secret) {
  mend_json scan;
  if (!is_secret(secret)) return;
  mend_json_init(&scan, mend__buffer_text(json), MEND_JSON_DEPTH_MAX);
  for (mend_json_token token = mend_json_next(&scan); token != MEND_JSON_END && token != MEND_JSON_ERROR;
       token = mend_json_next(&scan)) {
    if (token != MEND_JSON_STRING && (token != MEND_JSON_KEY || secret->is_word)) continue;
    cover(json->data + (scan.slice.ptr - json->data), scan.slice.len, secret, whole_length);
  }
}

/* ---- A quick look ---- */

static bool has_escapes(mend_str text, bool any) {
  const char *const end = text.ptr + text.len;
  for (const char *at = text.ptr; (at = memchr(at, '\\', (size_t)(end - at))) != NULL; at += 2) {
    if (end - at < 4) return any;
    if (any || memcmp(at, "\\u00", 4) == 0) return true;
  }
  return false;
}

bool mend__secret_may_be_in(const mend__secret *secret, mend_str text) {
  if (!is_secret(secret) || text.len < secret->len) return false;
  return memmem(text.ptr, text.len, secret->text, secret->len) != NULL || has_escapes(text, secret->is_escaped);
}
