/* Requests described in JSON. */
#ifndef MEND_TEST_DESCRIBED_H
#define MEND_TEST_DESCRIBED_H

#include "fallback/dialect.h"
#include "fallback/json_fields.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const dialect_folders[] = {"openai", "compatible", "openai-responses", "anthropic", "google"};
enum { DIALECTS = sizeof dialect_folders / sizeof *dialect_folders };

typedef struct described {
  mend_model_request request;
  mend_messages *messages;
  mend_tool_spec tools[4];
  char *texts[128];
  size_t text_count;
} described;

/* What a string says; the text of any other value as it is; absent for none. */
static inline mend_str described_text(described *to, mend_str value) {
  if (!mend__json_is_string(value)) return value;
  const mend_str inside = mend__json_inside(value);
  cr_assert(to->text_count < sizeof to->texts / sizeof *to->texts);
  char *text = to->texts[to->text_count++] = malloc(inside.len + 1);
  return (mend_str){text, mend_json_unescape(inside, text)};
}

static inline void describe_part(described *to, mend_str value, mend_part *part) {
  enum { TEXT, IMAGE, MEDIA_TYPE, URL, CALL, NAME, ARGS, RESULT, IS_ERROR, THINKING, PROVIDER, SIGNATURE, COUNT };
  mend__json_member fields[COUNT] = {
      {.name = MEND_STR("text")},     {.name = MEND_STR("image")},    {.name = MEND_STR("media_type")},
      {.name = MEND_STR("url")},      {.name = MEND_STR("call")},     {.name = MEND_STR("name")},
      {.name = MEND_STR("args")},     {.name = MEND_STR("result")},   {.name = MEND_STR("is_error")},
      {.name = MEND_STR("thinking")}, {.name = MEND_STR("provider")}, {.name = MEND_STR("signature")}};
  mend_str texts[COUNT];
  *part = (mend_part)MEND_PART_INIT;
  cr_assert(mend__json_fields_read(value, fields, COUNT), "not a part: %.*s", MEND_STR_ARG(value));
  for (int i = 0; i < COUNT; i++)
    texts[i] = described_text(to, fields[i].value);
  part->kind = texts[CALL].ptr != NULL                              ? MEND_PART_CALL
               : texts[RESULT].ptr != NULL                          ? MEND_PART_RESULT
               : texts[THINKING].ptr != NULL                        ? MEND_PART_THINKING
               : texts[IMAGE].ptr != NULL || texts[URL].ptr != NULL ? MEND_PART_IMAGE
                                                                    : MEND_PART_TEXT;
  part->text = texts[THINKING].ptr != NULL ? texts[THINKING] : texts[TEXT];
  part->url = texts[URL];
  part->media_type = texts[MEDIA_TYPE];
  part->data = texts[IMAGE];
  part->call_id = texts[CALL].ptr != NULL ? texts[CALL] : texts[RESULT];
  part->name = texts[NAME];
  part->args = texts[ARGS];
  part->is_error = mend__json_is_true(fields[IS_ERROR].value);
  part->provider = texts[PROVIDER];
  part->signature = texts[SIGNATURE];
}

static inline mend_role described_role(mend_str value) {
  static const char *const names[] = {"system", "user", "assistant", "tool"};
  for (int i = 0; i < 4; i++) {
    if (mend__json_says(value, names[i])) return (mend_role)i;
  }
  cr_fail("no role: %.*s", MEND_STR_ARG(value));
  return MEND_ROLE_USER;
}

/* {"role": "user", "parts": [...]} or, of one text, {"role": "user", "text": "hello"}. */
static inline void describe_message(described *to, mend_str value) {
  mend_part parts[8];
  size_t count = 0;
  mend_str part;
  mend_error error = MEND_ERROR_INIT;
  mend__json_items elements = mend__json_items_of(mend__json_find(value, "parts", NULL));
  while (mend__json_items_next(&elements, &part))
    describe_part(to, part, &parts[count++]);
  const mend_role role = described_role(mend__json_find(value, "role", NULL));
  if (count == 0) {
    parts[count] = (mend_part)MEND_PART_INIT;
    parts[count++].text = described_text(to, mend__json_find(value, "text", NULL));
  }
  cr_assert_eq(mend_messages_add(to->messages, role, parts, count, &error), MEND_OK, "%s: %.*s", error.message,
               MEND_STR_ARG(value));
}

static inline void describe_tool(described *to, mend_str value) {
  mend_tool_spec *tool = &to->tools[to->request.tool_count++];
  *tool = (mend_tool_spec){.size = sizeof *tool};
  tool->name = described_text(to, mend__json_find(value, "name", NULL));
  tool->description = described_text(to, mend__json_find(value, "description", NULL));
  tool->schema = mend__json_find(value, "schema", NULL);
  tool->strict = mend__json_is_true(mend__json_find(value, "strict", NULL));
}

static inline void describe(mend_str text, described *to) {
  enum { MESSAGES, TOOLS, CHOICE, STREAM, MAX_TOKENS, TEMPERATURE, TOP_P, STOP, LOG_PROBS, EXTRA, COUNT };
  mend__json_member fields[COUNT] = {{.name = MEND_STR("messages")},    {.name = MEND_STR("tools")},
                                     {.name = MEND_STR("tool_choice")}, {.name = MEND_STR("stream")},
                                     {.name = MEND_STR("max_tokens")},  {.name = MEND_STR("temperature")},
                                     {.name = MEND_STR("top_p")},       {.name = MEND_STR("stop")},
                                     {.name = MEND_STR("log_probs")},   {.name = MEND_STR("extra")}};
  mend_str element;
  *to = (described){.request = MEND_MODEL_REQUEST_INIT};
  cr_assert_eq(mend_messages_new(NULL, &to->messages), MEND_OK);
  cr_assert(mend__json_fields_read(text, fields, COUNT), "not a request: %.*s", MEND_STR_ARG(text));
  mend__json_items messages = mend__json_items_of(fields[MESSAGES].value);
  while (mend__json_items_next(&messages, &element))
    describe_message(to, element);
  mend__json_items tools = mend__json_items_of(fields[TOOLS].value);
  while (mend__json_items_next(&tools, &element))
    describe_tool(to, element);
  to->request.messages = to->messages;
  to->request.tools = to->tools;
  to->request.tool_choice = described_text(to, fields[CHOICE].value);
  to->request.stream = mend__json_is_true(fields[STREAM].value);
  const uint64_t max_tokens = mend__json_count(fields[MAX_TOKENS].value);
  if (max_tokens != MEND_NONE) to->request.max_tokens = (uint32_t)max_tokens;
  to->request.temperature = mend__json_number(fields[TEMPERATURE].value);
  to->request.top_p = mend__json_number(fields[TOP_P].value);
  to->request.stop = fields[STOP].value;
  to->request.log_probs = mend__json_is_true(fields[LOG_PROBS].value);
  to->request.extra = fields[EXTRA].value;
}

static inline void described_free(described *self) {
  mend_messages_free(self->messages);
  while (self->text_count > 0)
    free(self->texts[--self->text_count]);
}

/* ---- Comparing ---- */

/* Whatever the order of members. */
static inline bool same_json(mend_str a, mend_str b) {
  static char scratch[MEND_HASH_SCRATCH];
  return mend_hash_equal(mend_json_hash(a, scratch, sizeof scratch).hash,
                         mend_json_hash(b, scratch, sizeof scratch).hash);
}

#endif
