/* What a model is told of tools. */
#include "agent/agent_internal.h"
#include "core/json_kind.h"
#include "core/options_size.h"
#include "core/text.h"
#include "hooks/described.h"

#include <stdio.h>

enum { NAME_MAX_LEN = 64, DESCRIBED = 160, SPECS_FEW = 8 };

/* ---- What all providers take ---- */

static bool begins_name(char c) { return (mend__lower(c) >= 'a' && mend__lower(c) <= 'z') || c == '_'; }

/* OpenAI takes names of 1 to 64 letters, digits, `_` and `-`, Anthropic longer ones, Gemini others too, but none that
 * begins with a digit or `-`. */
static bool is_name(mend_str name) {
  if (name.len == 0 || name.len > NAME_MAX_LEN || !begins_name(name.ptr[0])) return false;
  for (size_t i = 1; i < name.len; i++) {
    const char c = name.ptr[i];
    if (!begins_name(c) && !mend__is_digit(c) && c != '-') return false;
  }
  return true;
}

/* A tool that a model is to be told of, beside others. */
typedef struct candidate {
  const mend_tool_spec *specs;
  size_t index;
  const char *whose; /* "the boundary's tools" */
} candidate;

/* "the boundary's tools: tool 2 (get weather)"; of a name that cannot be shown, the number. */
static void describe(const candidate *given, char ret_text[DESCRIBED]) {
  enum { SHOWN = 80 };
  const mend_str name = given->specs[given->index].name;
  const mend_str shown = {name.ptr, mend__utf8_cut(name, SHOWN)};
  if (name.len > 0 && mend__is_printable(shown)) {
    snprintf(ret_text, DESCRIBED, "%s: tool %zu (%.*s%s)", given->whose, given->index + 1, MEND_STR_ARG(shown),
             shown.len < name.len ? "..." : "");
  } else {
    snprintf(ret_text, DESCRIBED, "%s: tool %zu", given->whose, given->index + 1);
  }
}

static mend_status refuse(const candidate *given, mend_error *error, const char *why) {
  char tool[DESCRIBED];
  describe(given, tool);
  return mend_error_set(error, MEND_EINVAL, "%s: %s", tool, why);
}

static mend_status check_schema(const candidate *given, mend_error *error) {
  const mend_str schema = given->specs[given->index].schema;
  char tool[DESCRIBED], what[DESCRIBED + 16];
  if (schema.ptr == NULL) return MEND_OK;
  describe(given, tool);
  snprintf(what, sizeof what, "%s: its schema", tool);
  return mend__json_check_object(schema, what, error);
}

static mend_status check(const candidate *given, mend_error *error) {
  const mend_str name = given->specs[given->index].name;
  if (!is_name(name)) {
    return refuse(
        given, error,
        "its name has to be 1 to 64 letters, digits, _ and -, the first a letter or _: what all providers take");
  }
  for (size_t i = 0; i < given->index; i++) {
    if (mend_str_equal(given->specs[i].name, name)) return refuse(given, error, "another one has this name");
  }
  return check_schema(given, error);
}

/* The one behind those that are kept, whose texts are borrowed. */
static mend_status keep_next(mend_agent *agent, const char *whose, mend_error *error) {
  size_t *count = &agent->request.tool_count;
  mend_tool_spec *spec = &agent->tools[*count];
  const candidate given = {agent->tools, *count, whose};
  mend_status status = check(&given, error);
  if (status == MEND_OK) status = mend__agent_keep(agent, &spec->name);
  if (status == MEND_OK) status = mend__agent_keep(agent, &spec->description);
  if (status == MEND_OK) status = mend__agent_keep(agent, &spec->schema);
  if (status == MEND_OK) ++*count;
  return status;
}

/* ---- A list ---- */

static mend_status keep_list(mend_agent *agent, const mend_tool_spec *list, size_t count, mend_error *error) {
  const mend_tool_spec defaults = MEND_TOOL_SPEC_INIT;
  if (count == 0) return MEND_OK;
  if (count > SIZE_MAX / sizeof *agent->tools) return MEND_ENOMEM;
  agent->tools = mend__alloc(agent->allocator, count * sizeof *agent->tools);
  if (agent->tools == NULL) return MEND_ENOMEM;
  mend_status status = mend__options_take_list(agent->tools, &defaults, list, count, "mend_tool_spec", error);
  for (size_t i = 0; i < count && status == MEND_OK; i++)
    status = keep_next(agent, "mend_agent_options.tools", error);
  return status;
}

/* ---- The boundary's ---- */

typedef struct offering {
  mend_agent *agent;
  size_t capacity;
  mend_error *error;
} offering;

static mend_status make_room(offering *self) {
  mend_agent *agent = self->agent;
  if (agent->request.tool_count < self->capacity) return MEND_OK;
  const size_t capacity = self->capacity > 0 ? 2 * self->capacity : SPECS_FEW;
  mend_tool_spec *larger = mend__realloc(agent->allocator, agent->tools, capacity * sizeof *larger);
  if (larger == NULL) return MEND_ENOMEM;
  agent->tools = larger;
  self->capacity = capacity;
  return MEND_OK;
}

/* An agent that works in a call of a tool does not ask for that tool again by itself. */
static bool works_in(const mend_agent *agent, const mend_tool *tool) {
  return agent->within != NULL && mend_str_equal(mend_call_tool(agent->within), mend_str_from(tool->name));
}

static mend_status offer(void *ctx, const mend_tool *tool) {
  offering *self = ctx;
  mend_agent *agent = self->agent;
  if (works_in(agent, tool)) return MEND_OK;
  if (make_room(self) != MEND_OK) return MEND_ENOMEM;
  agent->tools[agent->request.tool_count] = (mend_tool_spec){.size = sizeof(mend_tool_spec),
                                                             .name = mend_str_from(tool->name),
                                                             .description = mend_str_from(tool->description),
                                                             .schema = mend_str_from(tool->schema),
                                                             .strict = tool->strict};
  return keep_next(agent, "the boundary's tools", self->error);
}

mend_status mend__specs_keep(mend_agent *agent, const mend_agent_options *options, mend_error *error) {
  offering offered = {.agent = agent, .error = error};
  agent->request.tool_count = 0;
  const mend_status status = options->tools != NULL ? keep_list(agent, options->tools, options->tool_count, error)
                                                    : mend__boundary_each_described(agent->boundary, offer, &offered);
  agent->request.tools = agent->tools;
  return status;
}
