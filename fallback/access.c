#include "fallback/access.h"

#include "core/memory.h"

#include <stdlib.h>

/* ---- What is refused ---- */

static bool is_same(const char *a, const char *b) { return a != NULL && b != NULL && strcmp(a, b) == 0; }

static mend_status check_keys(const mend_fallback_options *options, mend_error *error) {
  mend_status status = MEND_OK;
  for (size_t i = 0; status == MEND_OK && i < options->key_count; i++) {
    if (options->keys[i].provider != NULL) status = mend__owner_check("a key: ", options->keys[i].provider, error);
  }
  return status;
}

static mend_status check_endpoint(const mend_fallback_options *options, size_t index, mend_error *error) {
  const char *owner = options->endpoints[index].provider, *base_url = options->endpoints[index].base_url;
  if (owner == NULL) {
    return mend_error_set(error, MEND_EINVAL, "an endpoint: its provider is NULL, expected one, or provider:model_id");
  }
  for (size_t i = 0; i < index; i++) {
    const mend_endpoint *earlier = &options->endpoints[i];
    if (!is_same(earlier->provider, owner) || is_same(earlier->base_url, base_url)) continue;
    return mend_error_set(error, MEND_EINVAL,
                          "two base URLs for %s; for several servers name the models, as in compatible:model_id",
                          owner);
  }
  return mend__owner_check("an endpoint: ", owner, error);
}

mend_status mend__access_check(const mend_fallback_options *options, mend_error *error) {
  mend_status status = check_keys(options, error);
  for (size_t i = 0; status == MEND_OK && i < options->endpoint_count; i++)
    status = check_endpoint(options, i, error);
  return status;
}

/* ---- Keys ---- */

static bool is_given(const char *secret) { return secret != NULL && secret[0] != '\0'; }

/* owner: NULL for those for any. */
static mend__access_key given_key(const mend_fallback_options *options, const char *owner, size_t index) {
  for (size_t i = 0; i < options->key_count; i++) {
    const mend_key *key = &options->keys[i];
    const bool fits = owner == NULL ? key->provider == NULL : is_same(key->provider, owner);
    if (fits && is_given(key->secret) && index-- == 0) return (mend__access_key){key->secret, i};
  }
  return (mend__access_key){NULL, 0};
}

static const char *key_of_environment(const mend__dialect *dialect) {
  for (const char *const *each = dialect->variables; *each != NULL; each++) {
    const char *secret = getenv(*each);
    if (is_given(secret)) return secret;
  }
  return NULL;
}

mend__access_key mend__access_key_of(const mend_fallback_options *options, const mend__model_name *name,
                                     const mend__dialect *dialect, size_t index) {
  const char *const owners[] = {name->whole, dialect->provider, NULL};
  for (size_t i = 0; i < sizeof owners / sizeof *owners; i++) {
    if (given_key(options, owners[i], 0).secret != NULL) return given_key(options, owners[i], index);
  }
  const bool may_look = options->keys_from_environment && index == 0;
  return (mend__access_key){may_look ? key_of_environment(dialect) : NULL, options->key_count};
}

mend_status mend__access_secrets(const mend_fallback_options *options, mend__secrets **ret_secrets) {
  const mend_allocator *allocator = options->allocator;
  size_t count = 0, providers = 0;
  while (mend__dialect_at(providers) != NULL)
    providers++;
  const char **keys = mend__alloc(allocator, (options->key_count + providers) * sizeof *keys);
  if (keys == NULL) return MEND_ENOMEM;
  for (size_t i = 0; i < options->key_count; i++)
    keys[count++] = options->keys[i].secret;
  for (size_t i = 0; options->keys_from_environment && i < providers; i++)
    keys[count++] = key_of_environment(mend__dialect_at(i));
  const mend_status status = mend__secrets_new(allocator, keys, count, ret_secrets);
  mend__free(allocator, keys);
  return status;
}

/* ---- Base URLs ---- */

static const char *given_base_url(const mend_fallback_options *options, mend_str owner) {
  for (size_t i = 0; i < options->endpoint_count; i++) {
    if (mend_str_equal(mend_str_from(options->endpoints[i].provider), owner)) return options->endpoints[i].base_url;
  }
  return NULL;
}

const char *mend__access_base_url(const mend_fallback_options *options, const mend__model_name *name) {
  const char *own = given_base_url(options, mend_str_from(name->whole));
  return own != NULL ? own : given_base_url(options, name->provider);
}
