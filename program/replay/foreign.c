#include "program/replay/foreign.h"

#include "program/replay/json_fields.h"

enum {
  ROLE,
  CONTENT,
  MESSAGES,
  TYPE,
  PAYLOAD,
  TRAJECTORY,
  TRAJECTORY_FORMAT,
  HISTORY,
  INFO,
  SOURCE,
  ACTION,
  OBSERVATION,
  KIND,
  TIMESTAMP,
  PROJECT_HASH,
  RESOURCE_SPANS,
  RUN_TYPE,
  DOTTED_ORDER,
  TRACE_ID,
  FIELD_COUNT
};
#define FIELDS                                                                                                         \
  {                                                                                                                    \
    [ROLE] = JSON_FIELD("role"), [CONTENT] = JSON_FIELD("content"), [MESSAGES] = JSON_FIELD("messages"),               \
    [TYPE] = JSON_FIELD("type"), [PAYLOAD] = JSON_FIELD("payload"), [TRAJECTORY] = JSON_FIELD("trajectory"),           \
    [TRAJECTORY_FORMAT] = JSON_FIELD("trajectory_format"), [HISTORY] = JSON_FIELD("history"),                          \
    [INFO] = JSON_FIELD("info"), [SOURCE] = JSON_FIELD("source"), [ACTION] = JSON_FIELD("action"),                     \
    [OBSERVATION] = JSON_FIELD("observation"), [KIND] = JSON_FIELD("kind"), [TIMESTAMP] = JSON_FIELD("timestamp"),     \
    [PROJECT_HASH] = JSON_FIELD("projectHash"), [RESOURCE_SPANS] = JSON_FIELD("resourceSpans"),                        \
    [RUN_TYPE] = JSON_FIELD("run_type"), [DOTTED_ORDER] = JSON_FIELD("dotted_order"),                                  \
    [TRACE_ID] = JSON_FIELD("trace_id")                                                                                \
  }

/* ---- Messages ---------------------------------------------------------------------------------------------- */

bool foreign_has_tool_blocks(mend_str content) {
  json_elements blocks = json_elements_of(content);
  mend_str block;
  while (json_elements_next(&blocks, &block)) {
    json_field type = JSON_FIELD("type");
    if (!json_is_object(block) || json_fields_read(block, &type, 1, NULL) != MEND_OK) continue;
    if (json_string_is(type.value, MEND_STR("tool_use")) || json_string_is(type.value, MEND_STR("tool_result"))) {
      return true;
    }
  }
  return false;
}

static bool begins_with(mend_str text, mend_str beginning) {
  return text.len >= beginning.len && memcmp(text.ptr, beginning.ptr, beginning.len) == 0;
}

static bool contains(mend_str text, mend_str part) {
  for (size_t at = 0; at + part.len <= text.len; at++) {
    const char *place = memchr(text.ptr + at, part.ptr[0], text.len - part.len - at + 1);
    if (place == NULL) return false;
    if (memcmp(place, part.ptr, part.len) == 0) return true;
    at = (size_t)(place - text.ptr);
  }
  return false;
}

/* mini-swe-agent has its calls in the text of messages: a command in a fenced block, answered by the user. */
static bool is_mini_swe_message(mend_str role, mend_str content) {
  const mend_str text = json_string_inside(content);
  if (json_string_is(role, MEND_STR("user"))) return begins_with(text, MEND_STR("<returncode>"));
  const bool told = json_string_is(role, MEND_STR("assistant")) || json_string_is(role, MEND_STR("system"));
  return told && contains(text, MEND_STR("```mswea_bash_command"));
}

static const char mini_swe_agent[] = "a mini-swe-agent trajectory";

const char *foreign_message_name(mend_str role, mend_str content) {
  if (!json_is_string(role)) return NULL;
  if (foreign_has_tool_blocks(content)) return "a conversation of Anthropic Messages";
  return is_mini_swe_message(role, content) ? mini_swe_agent : NULL;
}

static const char *name_of_messages(mend_str messages) {
  json_elements elements = json_elements_of(messages);
  mend_str message;
  const char *name = NULL;
  while (name == NULL && json_elements_next(&elements, &message)) {
    json_field fields[] = {JSON_FIELD("role"), JSON_FIELD("content")};
    if (!json_is_object(message) || json_fields_read(message, fields, 2, NULL) != MEND_OK) continue;
    name = foreign_message_name(fields[0].value, fields[1].value);
  }
  return name;
}

/* ---- Rows and documents ------------------------------------------------------------------------------------ */

static bool is_there(json_field field) { return field.value.ptr != NULL; }

static bool is_mini_swe(const json_field fields[FIELD_COUNT]) {
  json_field version = JSON_FIELD("mini_version");
  if (is_there(fields[TRAJECTORY_FORMAT])) return true;
  if (json_is_object(fields[INFO].value)) json_fields_peek(fields[INFO].value, &version, 1);
  return is_there(version);
}

static bool is_swe(const json_field fields[FIELD_COUNT]) {
  return json_is_array(fields[TRAJECTORY].value) ||
         (json_is_array(fields[HISTORY].value) && !is_there(fields[MESSAGES]));
}

static bool is_codex(const json_field fields[FIELD_COUNT]) {
  static const char *const types[] = {"session_meta", "response_item", "event_msg", "turn_context", "compacted", NULL};
  bool known = false;
  for (const char *const *type = types; *type != NULL; type++)
    known |= json_string_is(fields[TYPE].value, mend_str_from(*type));
  return known && json_is_object(fields[PAYLOAD].value);
}

static bool ends_with(mend_str text, mend_str end) {
  return text.len >= end.len && memcmp(text.ptr + text.len - end.len, end.ptr, end.len) == 0;
}

static bool is_openhands(const json_field fields[FIELD_COUNT]) {
  if (!json_is_string(fields[SOURCE].value)) return false;
  const mend_str kind = json_string_inside(fields[KIND].value);
  if (kind.len > 0) return ends_with(kind, MEND_STR("Event")) || ends_with(kind, MEND_STR("Action"));
  const bool step = json_is_string(fields[ACTION].value) || json_is_string(fields[OBSERVATION].value);
  return step && json_is_string(fields[TIMESTAMP].value);
}

static bool is_gemini(const json_field fields[FIELD_COUNT]) {
  return is_there(fields[PROJECT_HASH]) || json_string_is(fields[TYPE].value, MEND_STR("gemini"));
}

static bool is_otlp(const json_field fields[FIELD_COUNT]) { return json_is_array(fields[RESOURCE_SPANS].value); }

static bool is_langsmith(const json_field fields[FIELD_COUNT]) {
  return json_is_string(fields[RUN_TYPE].value) && (is_there(fields[DOTTED_ORDER]) || is_there(fields[TRACE_ID]));
}

static const struct {
  const char *name;
  bool (*is)(const json_field fields[FIELD_COUNT]);
} known[] = {
    {mini_swe_agent, is_mini_swe},       {"a SWE-agent trajectory", is_swe},
    {"a Codex rollout", is_codex},       {"an OpenHands conversation", is_openhands},
    {"a Gemini CLI session", is_gemini}, {"an OpenTelemetry trace (OTLP)", is_otlp},
    {"a LangSmith trace", is_langsmith},
};

const char *foreign_name(mend_str object) {
  json_field fields[FIELD_COUNT] = FIELDS;
  json_fields_peek(object, fields, FIELD_COUNT);
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    if (known[i].is(fields)) return known[i].name;
  }
  const char *name = foreign_message_name(fields[ROLE].value, fields[CONTENT].value);
  return name != NULL ? name : name_of_messages(fields[MESSAGES].value);
}
