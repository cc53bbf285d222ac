/* Secrets by their name, and keys by how they begin. */
#include "core/redact_internal.h"
#include "core/text.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define LITERAL(text)                                                                                                  \
  { text, sizeof(text) - 1 }

/* ---- Names ---- */

typedef struct secret_name {
  mend_str piece;
  mend__secret_extent extent;
} secret_name;

/* Anywhere in a name. */
static const secret_name pieces[] = {
    {LITERAL("password"), MEND__SECRET_WORD},     {LITERAL("passwd"), MEND__SECRET_WORD},
    {LITERAL("passphrase"), MEND__SECRET_WORD},   {LITERAL("secret"), MEND__SECRET_WORD},
    {LITERAL("apikey"), MEND__SECRET_WORD},       {LITERAL("accesskey"), MEND__SECRET_WORD},
    {LITERAL("accountkey"), MEND__SECRET_WORD},   {LITERAL("privatekey"), MEND__SECRET_WORD},
    {LITERAL("signingkey"), MEND__SECRET_WORD},   {LITERAL("encryptionkey"), MEND__SECRET_WORD},
    {LITERAL("credential"), MEND__SECRET_QUOTED}, {LITERAL("authorization"), MEND__SECRET_LINE},
    {LITERAL("cookie"), MEND__SECRET_LINE},
};
/* At its end: "max_tokens" is none. It is the shortest. */
static const mend_str token = LITERAL("token");

char mend__escaped_char(mend_str text) {
  if (text.len < MEND__ESCAPE_LEN || memcmp(text.ptr, "u00", 3) != 0) return '\0';
  const int high = mend__hex_value(text.ptr[3]), low = mend__hex_value(text.ptr[4]);
  return high >= 0 && high < 8 && low >= 0 ? (char)(high * 16 + low) : '\0';
}

/* The end of a name in lower case, without what stands between words. */
enum { NAME_MAX_LEN = 128 };
static mend_str fold(mend_str name, char room[NAME_MAX_LEN]) {
  size_t len = 0;
  if (name.len > NAME_MAX_LEN) name = (mend_str){name.ptr + name.len - NAME_MAX_LEN, NAME_MAX_LEN};
  for (size_t i = 0; i < name.len; i++) {
    char c = name.ptr[i];
    if (c == '\\') {
      c = mend__escaped_char((mend_str){name.ptr + i + 1, name.len - i - 1});
      if (c != '\0') i += MEND__ESCAPE_LEN;
    }
    if (mend__is_letter_or_digit(c)) room[len++] = mend__lower(c);
  }
  return (mend_str){room, len};
}

static mend__secret_extent extent_at(mend_str folded) {
  for (size_t i = 0; i < COUNT_OF(pieces); i++) {
    if (folded.ptr[0] == pieces[i].piece.ptr[0] && mend__begins_with(folded, pieces[i].piece)) return pieces[i].extent;
  }
  return MEND__SECRET_NONE;
}

mend__secret_extent mend__secret_extent_of(mend_str name) {
  char room[NAME_MAX_LEN];
  const mend_str folded = fold(name, room);
  for (size_t i = 0; i + token.len < folded.len; i++) {
    const mend__secret_extent extent = extent_at((mend_str){folded.ptr + i, folded.len - i});
    if (extent != MEND__SECRET_NONE) return extent;
  }
  return mend__ends_with(folded, token) ? MEND__SECRET_QUOTED : MEND__SECRET_NONE;
}

/* ---- Keys ---- */

typedef struct known_key {
  mend_str prefix;  /* in lower case when that does not matter */
  const char *more; /* what it consists of beside letters and digits */
  bool in_any_case;
} known_key;

static const known_key keys[] = {
    {LITERAL("sk-"), "-_", false},         {LITERAL("sk_live_"), "", false}, {LITERAL("sk_test_"), "", false},
    {LITERAL("rk_live_"), "", false},      {LITERAL("ghp_"), "", false},     {LITERAL("gho_"), "", false},
    {LITERAL("ghu_"), "", false},          {LITERAL("ghs_"), "", false},     {LITERAL("ghr_"), "", false},
    {LITERAL("github_pat_"), "_", false},  {LITERAL("glpat-"), "-_", false}, {LITERAL("hf_"), "", false},
    {LITERAL("npm_"), "", false},          {LITERAL("xoxa-"), "-", false},   {LITERAL("xoxb-"), "-", false},
    {LITERAL("xoxp-"), "-", false},        {LITERAL("xoxr-"), "-", false},   {LITERAL("xoxs-"), "-", false},
    {LITERAL("xapp-"), "-", false},        {LITERAL("AKIA"), "", false},     {LITERAL("ASIA"), "", false},
    {LITERAL("AIza"), "-_", false},        {LITERAL("ya29."), "-_.", false}, {LITERAL("eyJ"), "-_.", false},
    {LITERAL("bearer "), "-_.~+/=", true},
};

/* A short word is a key only with a digit in it: not "Bearer authentication". */
static mend__known_secret known_secret(mend_str text, const known_key *key) {
  enum { SHORTEST = 8, LONG = 16 };
  size_t len = 0;
  bool has_digit = false, has_capital = false;
  for (; len < text.len; len++) {
    const char c = text.ptr[len];
    if (!mend__is_letter_or_digit(c) && (c == '\0' || strchr(key->more, c) == NULL)) break;
    has_digit |= mend__is_digit(c);
    has_capital |= c != mend__lower(c);
  }
  while (len > 0 && text.ptr[len - 1] == '.')
    len--;
  return (mend__known_secret){key->prefix.len, len, len >= LONG || (len >= SHORTEST && has_digit),
                              !has_digit && !has_capital};
}

/* What a key of the table may begin with: every word of a text is looked at. */
static bool may_begin(char c) {
  switch (c) {
  case 'A':
  case 'B':
  case 'b':
  case 'e':
  case 'g':
  case 'h':
  case 'n':
  case 'r':
  case 's':
  case 'x':
  case 'y': return true;
  default: return false;
  }
}

mend__known_secret mend__known_secret_at(mend_str text) {
  if (text.len == 0 || !may_begin(text.ptr[0])) return (mend__known_secret){0};
  for (size_t i = 0; i < COUNT_OF(keys); i++) {
    const mend_str prefix = keys[i].prefix;
    if (mend__lower(text.ptr[0]) != mend__lower(prefix.ptr[0])) continue;
    const bool begins = keys[i].in_any_case ? mend__begins_in_any_case(text, prefix) : mend__begins_with(text, prefix);
    if (!begins) continue;
    const mend_str rest = {text.ptr + prefix.len, text.len - prefix.len};
    return known_secret(rest, &keys[i]);
  }
  return (mend__known_secret){0};
}
