#include "fallback/model_name.h"

#include "core/nearest.h"
#include "fallback/dialect.h"

#define PROVIDERS_KNOWN "openai, openai-responses, anthropic, google, compatible, scripted"

/* `before` is the beginning of the sentence: "", or what is wrong and a colon. */
static mend_status refuse_provider(const char *before, mend_str provider, mend_error *error) {
  static const char *const known[] = {"openai", "openai-responses", "anthropic", "google", "compatible", "scripted"};
  mend__nearest search = mend__nearest_to(provider);
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    mend__nearest_consider(&search, mend_str_from(known[i]), known[i]);
  if (search.answer != NULL) {
    return mend_error_set(error, MEND_EINVAL,
                          "%sunknown provider \"%.*s\"; did you mean %s? Known are " PROVIDERS_KNOWN, before,
                          MEND_STR_ARG(provider), search.answer);
  }
  return mend_error_set(error, MEND_EINVAL, "%sunknown provider \"%.*s\"; known are " PROVIDERS_KNOWN, before,
                        MEND_STR_ARG(provider));
}

bool mend__is_scripted(mend_str provider) { return mend_str_equal(provider, MEND_STR("scripted")); }

static bool is_known(mend_str provider) { return mend__is_scripted(provider) || mend__dialect_find(provider) != NULL; }

mend_status mend__model_name_split(const char *whole, mend__model_name *ret_name, mend_error *error) {
  if (whole == NULL) return mend_error_set(error, MEND_EINVAL, "a model's name is NULL, expected provider:model_id");
  const char *colon = strchr(whole, ':');
  if (colon == NULL) {
    return mend_error_set(error, MEND_EINVAL,
                          "\"%s\" names no provider, expected provider:model_id with one of " PROVIDERS_KNOWN, whole);
  }
  const mend_str provider = {whole, (size_t)(colon - whole)};
  if (!is_known(provider)) return refuse_provider("", provider, error);
  if (colon[1] == '\0')
    return mend_error_set(error, MEND_EINVAL, "\"%s\" names no model, expected provider:model_id", whole);
  *ret_name = (mend__model_name){whole, provider, colon + 1};
  return MEND_OK;
}

mend_status mend__owner_check(const char *what, const char *owner, mend_error *error) {
  const mend_str provider = {owner, strcspn(owner, ":")};
  return is_known(provider) ? MEND_OK : refuse_provider(what, provider, error);
}
