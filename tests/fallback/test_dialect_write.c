/* Requests as each provider wants them: tests/data/fallback/<provider>/write has arrays of cases, each a request and
 * what is sent for it: `body`, and where it matters `path` and `headers`; or the `error` it is refused with. */
#include "described.h"

static const mend__dialect *dialect;

static mend_str header_of(const mend__wire *wire, mend_str name) {
  for (size_t i = 0; i < wire->header_count; i++) {
    if (mend_str_equal(mend_str_from(wire->headers[i].name), name))
      return (mend_str){wire->headers[i].value.data, wire->headers[i].value.len};
  }
  return (mend_str){NULL, 0};
}

static void check_headers(const mend__wire *wire, mend_str expected, const char *title) {
  mend_json json;
  mend_str value;
  size_t count = 0;
  if (expected.ptr == NULL) return;
  mend_json_init(&json, expected, MEND_JSON_DEPTH);
  mend_json_next(&json);
  for (; mend_json_next(&json) == MEND_JSON_KEY; count++) {
    const mend_str found = header_of(wire, json.slice);
    cr_assert_eq(mend_json_value(&json, &value), MEND_OK);
    cr_assert(mend_str_equal(found, mend__json_inside(value)), "%s: a header is %.*s, expected %.*s", title,
              MEND_STR_ARG(found), MEND_STR_ARG(value));
  }
  cr_assert_eq(count, wire->header_count, "%s: %zu headers, expected %zu", title, wire->header_count, count);
}

enum { TITLE, MODEL, PATH, HEADERS, BODY, ERROR, CASE_FIELDS };

static void check_written(const mend__wire *wire, const mend__json_member *fields, const char *title) {
  const mend_str body = {wire->body.data, wire->body.len}, path = {wire->path.data, wire->path.len};
  mend_error error = MEND_ERROR_INIT;
  cr_assert_eq(mend_json_check(body, MEND_JSON_DEPTH_MAX, &error), MEND_OK, "%s: %s in %.*s", title, error.message,
               MEND_STR_ARG(body));
  cr_assert(same_json(body, fields[BODY].value), "%s: the body is\n%.*s\nexpected\n%.*s", title, MEND_STR_ARG(body),
            MEND_STR_ARG(fields[BODY].value));
  if (fields[PATH].value.ptr != NULL) {
    cr_assert(mend_str_equal(path, mend__json_inside(fields[PATH].value)), "%s: the path is %.*s", title,
              MEND_STR_ARG(path));
  }
  check_headers(wire, fields[HEADERS].value, title);
}

static void check_case(mend_str text) {
  mend__json_member fields[CASE_FIELDS] = {{.name = MEND_STR("title")}, {.name = MEND_STR("model")},
                                           {.name = MEND_STR("path")},  {.name = MEND_STR("headers")},
                                           {.name = MEND_STR("body")},  {.name = MEND_STR("error")}};
  described to;
  mend__wire wire;
  char title[128];
  mend_error error = MEND_ERROR_INIT;
  describe(text, &to);
  mend__json_fields_read(text, fields, CASE_FIELDS);
  snprintf(title, sizeof title, "%s: %.*s", dialect->provider, MEND_STR_ARG(fields[TITLE].value));
  const mend_str model = fields[MODEL].value.ptr != NULL ? described_text(&to, fields[MODEL].value) : MEND_STR("m");
  mend__wire_init(&wire, NULL);
  const mend_status status = mend__dialect_write(dialect, &to.request, model, "KEY", &wire, &error);
  if (fields[ERROR].value.ptr == NULL) {
    cr_assert_eq(status, MEND_OK, "%s: %s", title, error.message);
    check_written(&wire, fields, title);
  } else {
    cr_assert_neq(status, MEND_OK, "%s", title);
    const mend_str expected = described_text(&to, fields[ERROR].value);
    cr_assert(mend_str_equal(mend_str_from(error.message), expected), "%s: %s", title, error.message);
  }
  mend__wire_free(&wire);
  described_free(&to);
}

static void check_file(void *ctx, const char *name) {
  size_t len;
  char *text = mend_test_read(name, &len);
  mend_str element;
  size_t *count = ctx;
  mend_error error = MEND_ERROR_INIT;
  cr_assert_eq(mend_json_check((mend_str){text, len}, MEND_JSON_DEPTH, &error), MEND_OK, "%s:%u:%u: %s", name,
               error.line, error.column, error.message);
  mend__json_items elements = mend__json_items_of((mend_str){text, len});
  for (; mend__json_items_next(&elements, &element); ++*count)
    check_case(element);
  free(text);
}

Test(dialect_write, cases) {
  for (int i = 0; i < DIALECTS; i++) {
    char folder[64];
    size_t count = 0;
    snprintf(folder, sizeof folder, "fallback/%s/write", dialect_folders[i]);
    dialect = mend__dialect_find(mend_str_from(dialect_folders[i]));
    mend_test_each(folder, ".json", check_file, &count);
    cr_assert(count > 0, "no cases in %s", folder);
  }
}

/* Bytes that are no UTF-8 cannot be described in JSON. */
Test(dialect_write, invalid_utf8) {
  for (int i = 0; i < DIALECTS; i++) {
    mend_messages *messages;
    mend__wire wire;
    mend_model_request request = MEND_MODEL_REQUEST_INIT;
    cr_assert_eq(mend_messages_new(NULL, &messages), MEND_OK);
    cr_assert_eq(mend_messages_add_system(messages, MEND_STR("s\xff")), MEND_OK);
    cr_assert_eq(mend_messages_add_user(messages, MEND_STR("u\xc3")), MEND_OK);
    request.messages = messages;
    mend__wire_init(&wire, NULL);
    dialect = mend__dialect_find(mend_str_from(dialect_folders[i]));
    cr_assert_eq(mend__dialect_write(dialect, &request, MEND_STR("m"), NULL, &wire, NULL), MEND_OK);
    mend__buffer_char(&wire.body, '\0');
    cr_assert_not_null(strstr(wire.body.data, "s\xef\xbf\xbd"), "%s: %s", dialect->provider, wire.body.data);
    cr_assert_not_null(strstr(wire.body.data, "u\xef\xbf\xbd"), "%s: %s", dialect->provider, wire.body.data);
    mend__wire_free(&wire);
    mend_messages_free(messages);
  }
}

/* {"deep": {"deep": ... {} ...}} */
static char *write_deep(size_t depth) {
  mend__buffer text;
  mend__buffer_init(&text, NULL);
  for (size_t i = 1; i < depth; i++)
    mend__buffer_str(&text, MEND_STR("{\"deep\":"));
  mend__buffer_str(&text, MEND_STR("{}"));
  for (size_t i = 1; i < depth; i++)
    mend__buffer_char(&text, '}');
  mend__buffer_char(&text, '\0');
  return text.data;
}

/* As deep as docs/limits.md says; and where the request is so deep itself, nothing of it is left out silently. */
Test(dialect_write, extra_and_depth) {
  static const struct {
    size_t extra, schema;
    mend_status status;
  } cases[] = {{100, 10, MEND_OK}, {MEND_JSON_DEPTH_MAX, 10, MEND_OK}, {1, MEND_JSON_DEPTH_MAX, MEND_EINVAL}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *extra = write_deep(cases[i].extra), *schema = write_deep(cases[i].schema);
    described to;
    mend__wire wire;
    mend_error error = MEND_ERROR_INIT;
    describe(MEND_STR("{\"messages\":[{\"role\":\"user\",\"text\":\"x\"}],\"tools\":[{\"name\":\"f\"}]}"), &to);
    to.tools[0].schema = mend_str_from(schema);
    to.request.extra = mend_str_from(extra);
    dialect = &mend__dialect_openai;
    mend__wire_init(&wire, NULL);
    cr_assert_eq(mend__dialect_write(dialect, &to.request, MEND_STR("m"), NULL, &wire, &error), cases[i].status,
                 "%zu: %s", i, error.message);
    if (cases[i].status == MEND_OK) {
      cr_assert_not_null(memmem(wire.body.data, wire.body.len, extra + 1, strlen(extra) - 1), "%zu", i);
      cr_assert_not_null(memmem(wire.body.data, wire.body.len, schema, strlen(schema)), "%zu", i);
    }
    mend__wire_free(&wire);
    described_free(&to);
    free(extra);
    free(schema);
  }
}

/* ---- Torture: everything a request can have, each allocation failing ---- */

#define EVERYTHING                                                                                                     \
  "{\"messages\":[{\"role\":\"system\",\"text\":\"Be brief.\"},"                                                       \
  "{\"role\":\"user\",\"parts\":[{\"text\":\"What is this?\"},{\"image\":\"bytes\",\"media_type\":\"image/png\"}]},"   \
  "{\"role\":\"assistant\",\"parts\":[{\"text\":\"I "                                                                  \
  "look.\"},{\"call\":\"c\",\"name\":\"look\",\"args\":{\"at\":1}}]},"                                                 \
  "{\"role\":\"tool\",\"parts\":[{\"result\":\"c\",\"text\":\"a cat\",\"is_error\":true}]}],"                          \
  "\"tools\":[{\"name\":\"look\",\"description\":\"d\",\"schema\":{\"type\":\"object\"},\"strict\":true}],"            \
  "\"tool_choice\":\"look\",\"stream\":true,\"max_tokens\":5,\"temperature\":0.5,\"log_probs\":true,"                  \
  "\"extra\":{\"metadata\":{\"a\":1},\"model\":null}}"

static void torture(const mend_model_request *request, mend_test_allocator *allocator, bool from_there_on) {
  bool failed = true;
  for (size_t n = 1; failed; n++) {
    mend__wire wire;
    mend_test_allocator_arm(allocator, n, from_there_on);
    mend__wire_init(&wire, &allocator->base);
    const mend_status status = mend__dialect_write(dialect, request, MEND_STR("m"), "KEY", &wire, NULL);
    failed = mend_test_allocator_failed(allocator);
    cr_assert_eq(status, failed ? MEND_ENOMEM : MEND_OK, "%s, allocation %zu", dialect->provider, n);
    mend__wire_free(&wire);
    cr_assert_eq(allocator->blocks, 0, "%s, allocation %zu: %zu blocks left", dialect->provider, n,
                 (size_t)allocator->blocks);
  }
}

Test(dialect_write, torture) {
  described to;
  mend_test_allocator allocator;
  describe(MEND_STR(EVERYTHING), &to);
  mend_test_allocator_init(&allocator);
  for (int i = 0; i < DIALECTS; i++) {
    dialect = mend__dialect_find(mend_str_from(dialect_folders[i]));
    torture(&to.request, &allocator, false);
    torture(&to.request, &allocator, true);
  }
  described_free(&to);
}
