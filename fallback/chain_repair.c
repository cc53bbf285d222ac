#include "core/text.h"
#include "fallback/chain_internal.h"

static const struct {
  const char *name;
  mend__parameter parameter;
} parameters[] = {
    {"temperature", MEND__PARAMETER_TEMPERATURE},
    {"top_p", MEND__PARAMETER_TOP_P},
    {"topp", MEND__PARAMETER_TOP_P},
    {"max_tokens", MEND__PARAMETER_MAX_TOKENS},
    {"max_completion_tokens", MEND__PARAMETER_MAX_TOKENS},
    {"max_output_tokens", MEND__PARAMETER_MAX_TOKENS},
    {"maxoutputtokens", MEND__PARAMETER_MAX_TOKENS},
    {"stop", MEND__PARAMETER_STOP},
    {"stop_sequences", MEND__PARAMETER_STOP},
    {"stopsequences", MEND__PARAMETER_STOP},
};

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || mend__is_digit(c) || c == '_';
}

/* How long the word at the front is. */
static size_t word_len(mend_str words) {
  size_t len = 0;
  while (len < words.len && is_word(words.ptr[len]))
    len++;
  return len;
}

static unsigned parameter_called(mend_str word) {
  for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++) {
    const mend_str name = mend_str_from(parameters[i].name);
    if (word.len == name.len && mend__begins_in_any_case(word, name)) return parameters[i].parameter;
  }
  return 0;
}

static bool is_set(double setting) { return setting == setting; }

static unsigned parameters_of(const mend_model_request *request) {
  unsigned set = 0;
  if (is_set(request->temperature)) set |= MEND__PARAMETER_TEMPERATURE;
  if (is_set(request->top_p)) set |= MEND__PARAMETER_TOP_P;
  if (request->max_tokens != 0) set |= MEND__PARAMETER_MAX_TOKENS;
  if (request->stop.ptr != NULL) set |= MEND__PARAMETER_STOP;
  return set;
}

/* Only the first that is named: where two exclude each other one may stay. */
unsigned mend__parameters_named(const mend_model_request *request, mend_str words) {
  const unsigned set = parameters_of(request);
  while (words.len > 0) {
    const size_t len = word_len(words);
    const unsigned named = parameter_called((mend_str){words.ptr, len}) & set;
    if (named != 0) return named;
    const size_t step = len > 0 ? len : 1;
    words = (mend_str){words.ptr + step, words.len - step};
  }
  return 0;
}

void mend__parameters_drop(mend_model_request *request, unsigned dropped) {
  if (dropped & MEND__PARAMETER_TEMPERATURE) request->temperature = MEND_NAN;
  if (dropped & MEND__PARAMETER_TOP_P) request->top_p = MEND_NAN;
  if (dropped & MEND__PARAMETER_MAX_TOKENS) request->max_tokens = 0;
  if (dropped & MEND__PARAMETER_STOP) request->stop = (mend_str){NULL, 0};
}
