#include "fallback/secret.h"

#include "core/memory.h"
#include "core/text.h"

/* ---- One key ---- */

static bool is_word(mend_str text) {
  for (size_t i = 0; i < text.len; i++) {
    const char c = mend__lower(text.ptr[i]);
    if ((c < 'a' || c > 'z') && c != '_') return false;
  }
  return true;
}

static void secret_free(mend__secret *secret, const mend_allocator *allocator) {
  if (secret->text != NULL) explicit_bzero(secret->text, strlen(secret->text));
  mend__free(allocator, secret->text);
  mend__free(allocator, secret->borders);
}

static bool secret_init(mend__secret *secret, const mend_allocator *allocator, mend_str key) {
  *secret = (mend__secret){.len = key.len, .is_word = is_word(key)};
  secret->text = mend__str_copy(allocator, key);
  secret->borders = mend__alloc_zero(allocator, (key.len + 1) * sizeof *secret->borders);
  if (secret->text != NULL && secret->borders != NULL) {
    secret->is_escaped = strpbrk(secret->text, "/\\\"") != NULL;
    return true;
  }
  secret_free(secret, allocator);
  return false;
}

/* ---- All of them ---- */

bool mend__secrets_extend(const mend__secrets *secrets, mend__secret_place *place, int character) {
  const char *so_far = secrets->keys[place->key].text;
  for (size_t i = 0; i < secrets->count; i++) {
    const mend__secret *key = &secrets->keys[i];
    if (key->len <= place->len || (unsigned char)key->text[place->len] != character) continue;
    if (memcmp(key->text, so_far, place->len) != 0) continue;
    *place = (mend__secret_place){i, place->len + 1};
    return true;
  }
  return false;
}

/* What the end of a beginning is a shorter beginning of. */
static mend__secret_place border_of(const mend__secrets *secrets, mend__secret_place place) {
  return secrets->keys[place.key].borders[place.len];
}

static bool is_whole(const mend__secrets *secrets, mend__secret_place place) {
  for (size_t i = 0; i < secrets->count; i++) {
    const mend__secret *key = &secrets->keys[i];
    if (key->len == place.len && memcmp(key->text, secrets->keys[place.key].text, place.len) == 0) return true;
  }
  return false;
}

size_t mend__secrets_whole(const mend__secrets *secrets, mend__secret_place place) {
  while (place.len > 0 && !is_whole(secrets, place))
    place = border_of(secrets, place);
  return place.len;
}

/* That of the first n characters, when all of shorter beginnings are known. */
static mend__secret_place find_border(const mend__secrets *secrets, size_t key, size_t n) {
  mend__secret_place border = border_of(secrets, (mend__secret_place){key, n - 1});
  while (!mend__secrets_extend(secrets, &border, (unsigned char)secrets->keys[key].text[n - 1])) {
    if (border.len == 0) return border;
    border = border_of(secrets, border);
  }
  return border;
}

static void find_borders(mend__secrets *secrets) {
  for (size_t n = 2; n <= secrets->longest; n++) {
    for (size_t i = 0; i < secrets->count; i++) {
      if (n <= secrets->keys[i].len) secrets->keys[i].borders[n] = find_border(secrets, i, n);
    }
  }
}

static bool is_there(const mend__secrets *secrets, mend_str key) {
  for (size_t i = 0; i < secrets->count; i++) {
    if (mend_str_equal((mend_str){secrets->keys[i].text, secrets->keys[i].len}, key)) return true;
  }
  return false;
}

static void add_pairs(mend__secrets *secrets, mend_str key) {
  for (size_t i = 1; i < key.len; i++) {
    const unsigned pair = mend__secret_pair(key.ptr + i - 1);
    secrets->pairs[pair / 8] |= (uint8_t)(1U << pair % 8);
  }
}

static bool add(mend__secrets *secrets, mend_str key) {
  if (key.len < MEND__SECRET_PIECE || is_there(secrets, key)) return true;
  if (!secret_init(&secrets->keys[secrets->count], secrets->allocator, key)) return false;
  secrets->count++;
  add_pairs(secrets, key);
  if (key.len > secrets->longest) secrets->longest = key.len;
  return true;
}

mend_status mend__secrets_new(const mend_allocator *allocator, const char *const *keys, size_t count,
                              mend__secrets **ret_secrets) {
  mend__secrets *secrets = mend__alloc_zero(allocator, sizeof *secrets + count * sizeof *secrets->keys);
  if (secrets == NULL) return MEND_ENOMEM;
  secrets->allocator = allocator;
  atomic_init(&secrets->references, 1);
  for (size_t i = 0; i < count; i++) {
    if (keys[i] == NULL || add(secrets, mend_str_from(keys[i]))) continue;
    mend__secrets_release(secrets);
    return MEND_ENOMEM;
  }
  find_borders(secrets);
  *ret_secrets = secrets;
  return MEND_OK;
}

mend__secrets *mend__secrets_retain(mend__secrets *secrets) {
  atomic_fetch_add_explicit(&secrets->references, 1, memory_order_relaxed);
  return secrets;
}

void mend__secrets_release(mend__secrets *secrets) {
  if (secrets == NULL || atomic_fetch_sub_explicit(&secrets->references, 1, memory_order_acq_rel) != 1) return;
  for (size_t i = 0; i < secrets->count; i++)
    secret_free(&secrets->keys[i], secrets->allocator);
  explicit_bzero(secrets->pairs, sizeof secrets->pairs);
  mend__free(secrets->allocator, secrets);
}
