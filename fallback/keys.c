#include "fallback/keys.h"

#include "core/memory.h"

#include <stdatomic.h>

typedef struct key {
  char *secret;
  bool refused;
} key;

struct mend__keys {
  const mend_allocator *allocator;
  atomic_size_t references;
  size_t count, current;
  key keys[];
};

static void wipe(mend__keys *keys) {
  for (size_t i = 0; i < keys->count; i++) {
    if (keys->keys[i].secret != NULL) explicit_bzero(keys->keys[i].secret, strlen(keys->keys[i].secret));
    mend__free(keys->allocator, keys->keys[i].secret);
  }
  mend__free(keys->allocator, keys);
}

mend_status mend__keys_new(const char *const *secrets, size_t count, const mend_allocator *allocator,
                           mend__keys **ret_keys) {
  mend__keys *keys = mend__alloc_zero(allocator, sizeof *keys + count * sizeof(key));
  if (keys == NULL) return MEND_ENOMEM;
  keys->allocator = allocator;
  keys->count = count;
  atomic_init(&keys->references, 1);
  for (size_t i = 0; i < count; i++) {
    keys->keys[i].secret = mend__str_copy(allocator, mend_str_from(secrets[i]));
    if (keys->keys[i].secret != NULL) continue;
    wipe(keys);
    return MEND_ENOMEM;
  }
  *ret_keys = keys;
  return MEND_OK;
}

mend__keys *mend__keys_retain(mend__keys *keys) {
  if (keys != NULL) atomic_fetch_add_explicit(&keys->references, 1, memory_order_relaxed);
  return keys;
}

void mend__keys_release(mend__keys *keys) {
  if (keys == NULL || atomic_fetch_sub_explicit(&keys->references, 1, memory_order_acq_rel) != 1) return;
  wipe(keys);
}

size_t mend__keys_current(const mend__keys *keys) { return keys != NULL ? keys->current : 0; }

const char *mend__keys_secret(const mend__keys *keys, size_t index) {
  return keys != NULL && index < keys->count ? keys->keys[index].secret : NULL;
}

bool mend__keys_advance(mend__keys *keys, size_t refused) {
  if (keys == NULL || refused >= keys->count) return false;
  keys->keys[refused].refused = true;
  for (size_t i = 0; i < keys->count; i++) {
    const size_t next = (keys->current + i) % keys->count;
    if (keys->keys[next].refused) continue;
    keys->current = next;
    return true;
  }
  return false;
}

void mend__keys_worked(mend__keys *keys, size_t index) {
  if (keys != NULL && index < keys->count) keys->keys[index].refused = false;
}

static void cover(mend__buffer *text, const char *secret) {
  const size_t len = strlen(secret);
  char *place = text->data;
  while (len > 0 && place != NULL &&
         (place = memmem(place, text->len - (size_t)(place - text->data), secret, len)) != NULL)
    memset(place, '*', len);
}

void mend__keys_cover(const mend__keys *keys, mend__buffer *text) {
  for (size_t i = 0; keys != NULL && i < keys->count; i++)
    cover(text, keys->keys[i].secret);
}
