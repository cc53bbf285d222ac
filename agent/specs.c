/* What a model may be told of tools: what all providers take. OpenAI takes names of 1 to 64 letters, digits, `_` and
 * `-`, Anthropic longer ones, Gemini others too, but none that begins with a digit or `-`. */
#include "agent/agent_internal.h"
#include "core/json_kind.h"
#include "core/text.h"
#include "mend/json.h"

#include <stdio.h>

enum { NAME_MAX_LEN = 64 };

static bool begins_name(char c) { return (mend__lower(c) >= 'a' && mend__lower(c) <= 'z') || c == '_'; }

static bool is_name(mend_str name) {
  if (name.len == 0 || name.len > NAME_MAX_LEN || !begins_name(name.ptr[0])) return false;
  for (size_t i = 1; i < name.len; i++) {
    const char c = name.ptr[i];
    if (!begins_name(c) && !mend__is_digit(c) && c != '-') return false;
  }
  return true;
}

/* "tool 2 (get weather)"; of a name that cannot be shown, the number. */
static void describe(mend_str name, size_t index, char ret_text[128]) {
  enum { SHOWN = 80 };
  const mend_str shown = {name.ptr, mend__utf8_cut(name, SHOWN)};
  if (name.len > 0 && mend__is_printable(shown)) {
    snprintf(ret_text, 128, "tool %zu (%.*s%s)", index + 1, MEND_STR_ARG(shown), shown.len < name.len ? "..." : "");
  } else {
    snprintf(ret_text, 128, "tool %zu", index + 1);
  }
}

static mend_status refuse(mend_str name, size_t index, mend_error *error, const char *why) {
  char tool[128];
  describe(name, index, tool);
  return mend_error_set(error, MEND_EINVAL, "mend_agent_options.tools: %s: %s", tool, why);
}

static mend_status check_schema(const mend_tool_spec *spec, size_t index, mend_error *error) {
  mend_error found = MEND_ERROR_INIT;
  char tool[128];
  if (spec->schema.ptr == NULL) return MEND_OK;
  if (mend_json_check(spec->schema, MEND_JSON_DEPTH_MAX, &found) == MEND_OK) {
    if (mend__json_kind(spec->schema) == MEND_JSON_OBJECT) return MEND_OK;
    return refuse(spec->name, index, error, "its schema has to be a JSON object");
  }
  describe(spec->name, index, tool);
  return mend_error_set_at(error, MEND_EINVAL, found.line, found.column,
                           "mend_agent_options.tools: %s: its schema, line %u, column %u: %s", tool, found.line,
                           found.column, found.message);
}

mend_status mend__spec_check(const mend_tool_spec *specs, size_t index, mend_error *error) {
  const mend_tool_spec *spec = &specs[index];
  if (!is_name(spec->name)) {
    return refuse(
        spec->name, index, error,
        "its name has to be 1 to 64 letters, digits, _ and -, the first a letter or _: what all providers take");
  }
  for (size_t i = 0; i < index; i++) {
    if (mend_str_equal(specs[i].name, spec->name)) return refuse(spec->name, index, error, "another one has this name");
  }
  return check_schema(spec, index, error);
}
