#include "core/memory.h"
#include "core/text.h"
#include "fallback/provider_internal.h"

/* ---- Base URLs ---- */

static mend_str after_scheme(mend_str url) {
  const mend_str schemes[] = {MEND_STR("https://"), MEND_STR("http://")};
  for (int i = 0; i < 2; i++) {
    const size_t len = schemes[i].len;
    if (mend__begins_in_any_case(url, schemes[i])) return (mend_str){url.ptr + len, url.len - len};
  }
  return (mend_str){NULL, 0};
}

static bool has_any(mend_str text, const char *characters) { return strpbrk(text.ptr, characters) != NULL; }

static bool has_odd_characters(mend_str text) {
  for (size_t i = 0; i < text.len; i++) {
    if ((unsigned char)text.ptr[i] <= ' ' || (unsigned char)text.ptr[i] >= 0x7f) return true;
  }
  return false;
}

mend_status mend__base_url_check(const char *base_url, mend_error *error) {
  const mend_str whole = mend_str_from(base_url), rest = after_scheme(whole);
  const mend_str shown = {base_url, strcspn(base_url, "?#")};
  if (has_any(whole, "@")) {
    return mend_error_set(error, MEND_EINVAL, "a base URL with credentials in it: keys are given as keys");
  }
  if (rest.ptr == NULL) {
    return mend_error_set(error, MEND_EINVAL, "the base URL \"%.*s\" has to begin with http:// or https://",
                          MEND_STR_ARG(shown));
  }
  if (has_any(rest, "?#")) {
    return mend_error_set(error, MEND_EINVAL, "the base URL \"%.*s\" has a query or fragment behind it, expected none",
                          MEND_STR_ARG(shown));
  }
  if (rest.len == 0 || rest.ptr[0] == '/' || rest.ptr[0] == ':' || has_odd_characters(rest)) {
    return mend_error_set(error, MEND_EINVAL, "the base URL \"%s\" has no host, or characters no URL has", base_url);
  }
  return MEND_OK;
}

static char *without_slash(const mend_allocator *allocator, const char *base_url) {
  mend_str url = mend_str_from(base_url);
  while (url.len > 0 && url.ptr[url.len - 1] == '/')
    url.len--;
  return mend__str_copy(allocator, url);
}

/* ---- The model ---- */

static mend_status begin(void *ctx, mend_exchange *exchange, mend_error *error) {
  return mend__inquiry_begin(ctx, exchange, error);
}

static void cancel(void *ctx, mend_exchange *exchange) {
  (void)ctx;
  mend__inquiry_cancel(exchange);
}

static void destroy(void *ctx) {
  mend__provider *provider = ctx;
  mend__http_release(provider->http);
  mend__secrets_release(provider->secrets);
  if (provider->key != NULL) explicit_bzero(provider->key, strlen(provider->key));
  mend__free(provider->allocator, provider->key);
  mend__free(provider->allocator, provider->base_url);
  mend__free(provider->allocator, provider->model_id);
  mend__free(provider->allocator, provider);
}

static bool take_keys(mend__provider *provider, const mend__provider_options *options) {
  const mend_allocator *allocator = options->allocator;
  if (options->secrets != NULL) {
    provider->secrets = mend__secrets_retain(options->secrets);
  } else if (mend__secrets_new(allocator, &options->key, 1, &provider->secrets) != MEND_OK) {
    return false;
  }
  if (options->key == NULL) return true;
  provider->key = mend__str_copy(allocator, mend_str_from(options->key));
  return provider->key != NULL;
}

static mend__provider *make(const mend__provider_options *options, const char *base_url) {
  mend__provider *provider = mend__alloc_zero(options->allocator, sizeof *provider);
  if (provider == NULL) return NULL;
  provider->allocator = options->allocator;
  provider->dialect = options->dialect;
  provider->loop = options->loop;
  provider->reply_limit = options->reply_limit;
  provider->http = mend__http_retain(options->http);
  provider->base_url = without_slash(options->allocator, base_url);
  provider->model_id = mend__str_copy(options->allocator, mend_str_from(options->model_id));
  if (take_keys(provider, options) && provider->base_url != NULL && provider->model_id != NULL) return provider;
  destroy(provider);
  return NULL;
}

bool mend__key_is_odd(const char *key) {
  const size_t len = strlen(key);
  for (size_t i = 0; i < len; i++) {
    if (key[i] < ' ' || key[i] >= 0x7F) return true;
  }
  return len > 0 && (key[0] == ' ' || key[len - 1] == ' ');
}

static mend_status check_base_url(const mend__provider_options *options, const char *base_url, mend_error *error) {
  const char *provider = options->dialect->provider;
  mend_error found = MEND_ERROR_INIT;
  if (base_url == NULL) {
    return mend_error_set(error, MEND_EINVAL, "%s:%s: it needs a base URL", provider, options->model_id);
  }
  mend_status status = mend__base_url_check(base_url, &found);
  if (status == MEND_OK) status = mend__http_check(options->http, base_url, &found);
  if (status == MEND_OK) return MEND_OK;
  return mend_error_set(error, status, "%s:%s: %s", provider, options->model_id, found.message);
}

/* What would fail every request is told before the first one. */
static mend_status check(const mend__provider_options *options, const char *base_url, mend_error *error) {
  if (options->key != NULL && mend__key_is_odd(options->key)) {
    return mend_error_set(error, MEND_EINVAL,
                          "the key for %s has a line end, a blank at an end, or another character no key has",
                          options->dialect->provider);
  }
  return check_base_url(options, base_url, error);
}

const char *mend__provider_base_url(const mend_model *model) {
  const mend__provider *provider = mend__model_ctx(model, begin);
  return provider != NULL ? provider->base_url : NULL;
}

mend_status mend__provider_new(const mend__provider_options *options, mend_model **ret_model, mend_error *error) {
  static const mend_model_vtable vtable = {.size = sizeof vtable, .begin = begin, .cancel = cancel, .destroy = destroy};
  const char *base_url = options->base_url != NULL ? options->base_url : options->dialect->base_url;
  mend_status status = check(options, base_url, error);
  if (status != MEND_OK) return status;
  mend__provider *provider = make(options, base_url);
  if (provider == NULL) return mend_error_set(error, MEND_ENOMEM, "a model: out of memory");
  status = mend__model_new(options->loop, options->allocator, MEND__MODEL_ANSWERS, &vtable, provider,
                           options->dialect->provider, options->model_id, ret_model, error);
  if (status != MEND_OK) destroy(provider);
  return status;
}
