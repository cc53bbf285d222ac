#include "core/text.h"
#include "fallback/chain_internal.h"
#include "fallback/facts_internal.h"

/* Context windows in tokens, by how a model's id begins; the longest beginning counts. What is not here is not
 * known, and then a request that was too long is not tried elsewhere. */
static const struct {
  const char *prefix;
  uint64_t tokens;
} windows[] = {
    {"gpt-3.5-turbo", 16385},
    {"gpt-4", 8192},
    {"gpt-4-32k", 32768},
    {"gpt-4-turbo", 128000},
    {"gpt-4o", 128000},
    {"gpt-4.1", 1047576},
    {"gpt-5", 400000},
    {"gpt-5-chat", 128000},
    {"o1", 200000},
    {"o1-mini", 128000},
    {"o3", 200000},
    {"o4-mini", 200000},
    {"claude-", 200000},
    {"gemini-1.5-flash", 1048576},
    {"gemini-1.5-pro", 2097152},
    {"gemini-2", 1048576},
    {"gemini-3", 1048576},
    {"mistral-large", 131072},
    {"mistral-medium", 131072},
    {"mistral-small", 131072},
    {"codestral", 262144},
    {"kimi-k2", 262144},
    {"moonshot-v1-8k", 8192},
    {"moonshot-v1-32k", 32768},
    {"moonshot-v1-128k", 131072},
    {"deepseek-", 131072},
};

uint64_t mend__window_of(mend_str model_id) {
  const mend_str id = mend__bare_model_id(model_id);
  uint64_t tokens = 0;
  size_t longest = 0;
  for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
    const mend_str prefix = mend_str_from(windows[i].prefix);
    if (prefix.len <= longest || !mend__begins_with(id, prefix)) continue;
    longest = prefix.len;
    tokens = windows[i].tokens;
  }
  return tokens;
}
