#include "program/fault_server/question.h"

#include "core/text.h"
#include "program/base/json_fields.h"
#include "program/fault_server/dialect.h"

void question_init(question *asked) {
  *asked = (question){.kind = QUESTION_NONE, .dialect = &dialect_chat};
  mend__buffer_init(&asked->model, NULL);
  mend__buffer_init(&asked->text, NULL);
  text_list_init(&asked->tools);
}

void question_free(question *asked) {
  mend__buffer_free(&asked->model);
  mend__buffer_free(&asked->text);
  text_list_free(&asked->tools);
}

bool question_failed(const question *asked) {
  return asked->model.failed || asked->text.failed || text_list_failed(&asked->tools);
}

/* ---- Where it goes ------------------------------------------------------------------------------------------ */

/* Takes "models/NAME:method" apart, as Gemini writes it; false for anything else. */
static bool read_gemini_path(question *asked, mend_str path) {
  const mend_str models = MEND_STR("/models/");
  const char *begin = memmem(path.ptr, path.len, models.ptr, models.len);
  const char *colon = path.len > 0 ? memrchr(path.ptr, ':', path.len) : NULL;
  if (begin == NULL || colon == NULL || colon < begin) return false;
  begin += models.len;
  const mend_str method = {colon + 1, (size_t)(path.ptr + path.len - colon - 1)};
  asked->stream = mend_str_equal(method, MEND_STR("streamGenerateContent"));
  asked->kind = asked->stream || mend_str_equal(method, MEND_STR("generateContent")) ? QUESTION_ASK
                : mend_str_equal(method, MEND_STR("countTokens"))                    ? QUESTION_COUNT
                                                                                     : QUESTION_NONE;
  asked->dialect = &dialect_gemini;
  http_percent_decode((mend_str){begin, (size_t)(colon - begin)}, &asked->model);
  return true;
}

typedef struct route {
  const char *method, *end;
  question_kind kind;
  const dialect *dialect;
} route;
static const route routes[] = {
    {"POST", "/chat/completions", QUESTION_ASK, &dialect_chat},
    {"POST", "/responses", QUESTION_ASK, &dialect_responses},
    {"POST", "/messages", QUESTION_ASK, &dialect_anthropic},
    {"POST", "/messages/count_tokens", QUESTION_COUNT, &dialect_anthropic},
    {"GET", "/v1beta/models", QUESTION_MODELS, &dialect_gemini},
    {"GET", "/models", QUESTION_MODELS, &dialect_chat},
};

static void find_route(question *asked, const http_request *request, mend_str path) {
  if (read_gemini_path(asked, path)) return;
  for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
    const bool is_there = mend__ends_with(path, mend_str_from(routes[i].end));
    if (!is_there || !mend_str_equal(request->method, mend_str_from(routes[i].method))) continue;
    asked->kind = routes[i].kind;
    asked->dialect = routes[i].dialect;
    break;
  }
  const bool anthropic = http_request_field(request, "anthropic-version").ptr != NULL;
  if (asked->kind == QUESTION_MODELS && anthropic) asked->dialect = &dialect_anthropic;
}

static void find_key(question *asked, const http_request *request, mend_str query) {
  const mend_str bearer = MEND_STR("Bearer "), parameter = MEND_STR("key=");
  const mend_str authorization = http_request_field(request, "authorization");
  if (authorization.len > bearer.len && mend__begins_with(authorization, bearer)) {
    asked->key = (mend_str){authorization.ptr + bearer.len, authorization.len - bearer.len};
  }
  if (asked->key.ptr == NULL) asked->key = http_request_field(request, "x-api-key");
  if (asked->key.ptr == NULL) asked->key = http_request_field(request, "x-goog-api-key");
  const char *found = query.len > 0 ? memmem(query.ptr, query.len, parameter.ptr, parameter.len) : NULL;
  if (asked->key.ptr != NULL || found == NULL) return;
  found += parameter.len;
  asked->key = (mend_str){found, (size_t)(query.ptr + query.len - found)};
  const char *end = memchr(found, '&', asked->key.len);
  if (end != NULL) asked->key.len = (size_t)(end - found);
}

/* ---- What it says ------------------------------------------------------------------------------------------- */

static void put_string(mend__buffer *to, mend_str value) {
  const mend_str inside = mend__json_inside(value);
  if (inside.len == 0 || !mend__buffer_reserve(to, inside.len)) return;
  to->len += mend_json_unescape(inside, to->data + to->len);
}

/* A string, or the texts of an array of strings and parts. */
static void put_content(mend__buffer *to, mend_str content) {
  put_string(to, content);
  mend__json_items parts = mend__json_items_of(content);
  mend_str part;
  while (mend__json_items_next(&parts, &part)) {
    json_field text[] = {JSON_FIELD("text")};
    if (mend__json_is_object(part)) json_fields_read(part, text, 1, NULL);
    put_string(to, mend__json_is_string(part) ? part : text[0].value);
  }
}

/* The content of the last message whose role is the user's. */
static void read_messages(question *asked, mend_str messages) {
  mend__json_items each = mend__json_items_of(messages);
  mend_str message;
  if (mend__json_is_string(messages)) put_string(&asked->text, messages);
  while (mend__json_items_next(&each, &message)) {
    json_field fields[] = {JSON_FIELD("role"), {mend_str_from(asked->dialect->content_name), {NULL, 0}}};
    if (!mend__json_is_object(message)) continue;
    json_fields_read(message, fields, 2, NULL);
    const bool users = json_string_is(fields[0].value, MEND_STR("user")) || fields[0].value.ptr == NULL;
    if (!users || fields[1].value.ptr == NULL) continue;
    mend__buffer_clear(&asked->text);
    put_content(&asked->text, fields[1].value);
  }
}

static void add_tool(question *asked, mend_str name) {
  mend__buffer text;
  mend__buffer_init(&text, NULL);
  put_string(&text, name);
  if (text.len > 0) text_list_add(&asked->tools, text_of(&text));
  asked->tools.bytes.failed |= text.failed;
  mend__buffer_free(&text);
}

/* A tool is {"name"}, {"function": {"name"}} or {"functionDeclarations": [{"name"}]}. */
static void read_tools(question *asked, mend_str tools) {
  mend__json_items each = mend__json_items_of(tools);
  mend_str tool;
  while (mend__json_items_next(&each, &tool)) {
    json_field fields[] = {JSON_FIELD("name"), JSON_FIELD("function"), JSON_FIELD("functionDeclarations")};
    if (!mend__json_is_object(tool)) continue;
    json_fields_read(tool, fields, 3, NULL);
    if (mend__json_is_object(fields[1].value)) json_fields_read(fields[1].value, fields, 1, NULL);
    add_tool(asked, fields[0].value);
    read_tools(asked, fields[2].value);
  }
}

static bool member_is_true(mend_str object, const char *name) {
  json_field field = {mend_str_from(name), {NULL, 0}};
  if (mend__json_is_object(object)) json_fields_read(object, &field, 1, NULL);
  return mend__json_is_true(field.value);
}

static bool array_has(mend_str array, mend_str wanted) {
  mend__json_items each = mend__json_items_of(array);
  mend_str element;
  while (mend__json_items_next(&each, &element)) {
    if (json_string_is(element, wanted)) return true;
  }
  return false;
}

static void read_body(question *asked, mend_str body) {
  enum { MODEL, STREAM, MESSAGES, TOOLS, STREAM_OPTIONS, LOG_PROBS, INCLUDE, GENERATION, COUNT };
  json_field fields[COUNT] = {
      JSON_FIELD("model"),   JSON_FIELD("stream"),          {mend_str_from(asked->dialect->messages_name), {NULL, 0}},
      JSON_FIELD("tools"),   JSON_FIELD("stream_options"),  JSON_FIELD("logprobs"),
      JSON_FIELD("include"), JSON_FIELD("generationConfig")};
  if (json_fields_read(body, fields, COUNT, NULL) != MEND_OK) return;
  if (asked->model.len == 0) put_string(&asked->model, fields[MODEL].value);
  asked->stream |= mend__json_is_true(fields[STREAM].value);
  read_messages(asked, fields[MESSAGES].value);
  read_tools(asked, fields[TOOLS].value);
  asked->usage = member_is_true(fields[STREAM_OPTIONS].value, "include_usage");
  asked->log_probs = mend__json_is_true(fields[LOG_PROBS].value) ||
                     array_has(fields[INCLUDE].value, MEND_STR("message.output_text.logprobs")) ||
                     member_is_true(fields[GENERATION].value, "responseLogprobs");
}

void question_read(question *asked, const http_request *request, mend_str path, mend_str query) {
  asked->old_http = request->old;
  asked->head_only = mend_str_equal(request->method, MEND_STR("HEAD"));
  find_route(asked, request, path);
  find_key(asked, request, query);
  if (request->body.len > 0) read_body(asked, text_of(&request->body));
}
