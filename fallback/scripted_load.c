#include "core/memory.h"
#include "core/nearest.h"
#include "core/text.h"
#include "fallback/scripted.h"
#include "mend/json.h"

#include <stdio.h>

static const mend__script_fault faults[] = {
    {"dns", "dns", false, false, "the name was not found"},
    {"refused", "refused", false, false, "the connection was refused"},
    {"certificate", "certificate", false, false, "the certificate is not valid"},
    {"hang", NULL, false, true, NULL},
    {"reset", "reset", true, false, "the connection was reset"},
    {"closed", "closed", true, false, "the connection was closed"},
    {"cut", "cut", true, false, "the reply ended without saying that it does"},
    {"malformed", "malformed", true, false, "the reply is not well-formed"},
    {"error", NULL, true, false, "the provider told an error"},
    {"silence", NULL, true, true, NULL},
};
enum { FAULTS = sizeof faults / sizeof faults[0] };

typedef struct loader {
  mend__script *script;
  mend_json json;
  size_t number; /* of the reply, from 1; 0: outside of them */
  mend_error *error;
} loader;

/* A member of an object, and what it sets in the struct that the object becomes. */
typedef struct member {
  const char *name;
  mend_status (*load)(loader *l, const struct member *what, void *target);
  size_t offset;
  double least, most; /* of numbers */
} member;

static void *member_of(const member *what, void *target) { return (char *)target + what->offset; }

/* ---- Errors ---- */

/* Where the token begins that was read last. */
static mend_status at_token(const loader *l, mend_status status) {
  const mend_json *json = &l->json;
  const bool quoted = json->token == MEND_JSON_STRING || json->token == MEND_JSON_KEY;
  const size_t place = json->slice.ptr != NULL ? (size_t)(json->slice.ptr - json->text.ptr) - quoted : 0;
  mend__error_place(l->error, (mend_str){json->text.ptr, place});
  return status;
}

static mend_status expected(const loader *l, const char *name, const char *expectation) {
  return at_token(l, l->number != 0 ? mend_error_set(l->error, MEND_EINVAL, "reply %zu, %s: expected %s", l->number,
                                                     name, expectation)
                                    : mend_error_set(l->error, MEND_EINVAL, "%s: expected %s", name, expectation));
}

static mend_status unknown(const loader *l, const char *what, const mend__nearest *search) {
  const mend_status status =
      search->answer != NULL
          ? mend_error_set(l->error, MEND_EINVAL, "%s \"%.*s\" is not known; did you mean \"%s\"?", what,
                           MEND_STR_ARG(search->wanted), search->answer)
          : mend_error_set(l->error, MEND_EINVAL, "%s \"%.*s\" is not known", what, MEND_STR_ARG(search->wanted));
  return at_token(l, status);
}

static mend_status out_of_memory(const loader *l) { return mend_error_set(l->error, MEND_ENOMEM, "out of memory"); }

/* ---- Lists ---- */

/* The items, with room for one more; NULL: no memory. */
static void *with_room(const loader *l, void *items, size_t count, size_t *capacity, size_t item_size) {
  if (count < *capacity) return items;
  const size_t wanted = *capacity != 0 ? *capacity * 2 : 8;
  void *grown = mend__realloc(l->script->allocator, items, wanted * item_size);
  if (grown != NULL) *capacity = wanted;
  return grown;
}

/* Each text is shorter than its JSON, so the arena has room for it and its NUL. */
static mend_str keep_text(loader *l) {
  mend__script *script = l->script;
  char *place = script->arena + script->arena_used;
  const size_t len = mend_json_unescape(l->json.slice, place);
  place[len] = '\0';
  script->arena_used += len + 1;
  return (mend_str){place, len};
}

/* ---- Objects ---- */

static const member *find_member(const loader *l, const member *members, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (mend_json_is(&l->json, mend_str_from(members[i].name))) return &members[i];
  }
  return NULL;
}

static mend_status unknown_member(const loader *l, const member *members, size_t count) {
  mend__nearest search = mend__nearest_to(l->json.slice);
  for (size_t i = 0; i < count; i++)
    mend__nearest_consider(&search, mend_str_from(members[i].name), members[i].name);
  return unknown(l, "member", &search);
}

static mend_status load_member(loader *l, const member *members, size_t count, uint32_t *given, void *target) {
  const member *what = find_member(l, members, count);
  if (what == NULL) return unknown_member(l, members, count);
  const uint32_t bit = UINT32_C(1) << (what - members);
  if ((*given & bit) != 0) {
    return at_token(l, mend_error_set(l->error, MEND_EINVAL, "%s is given twice", what->name));
  }
  *given |= bit;
  mend_json_next(&l->json);
  return what->load(l, what, target);
}

/* The object that was just opened. */
static mend_status load_members(loader *l, const member *members, size_t count, void *target) {
  uint32_t given = 0;
  mend_status status = MEND_OK;
  while (status == MEND_OK && mend_json_next(&l->json) == MEND_JSON_KEY)
    status = load_member(l, members, count, &given, target);
  return status;
}

/* ---- Values: each has been read as far as its first token ---- */

static mend_status load_text(loader *l, const member *what, void *target) {
  if (l->json.token != MEND_JSON_STRING) return expected(l, what->name, "a string");
  *(mend_str *)member_of(what, target) = keep_text(l);
  return MEND_OK;
}

static mend_status load_number(loader *l, const member *what, double *ret_value) {
  const double value = l->json.token == MEND_JSON_NUMBER ? mend_json_double(l->json.slice) : MEND_NAN;
  if (value >= what->least && value <= what->most) {
    *ret_value = value;
    return MEND_OK;
  }
  char expectation[64];
  snprintf(expectation, sizeof expectation, "a number from %.0f to %.0f", what->least, what->most);
  return expected(l, what->name, expectation);
}

static mend_status load_ms(loader *l, const member *what, void *target) {
  double ms = 0;
  const mend_status status = load_number(l, what, &ms);
  if (status == MEND_OK) *(uint64_t *)member_of(what, target) = (uint64_t)(ms * 1e6);
  return status;
}

static mend_status load_count(loader *l, const member *what, void *target) {
  double count = 0;
  const mend_status status = load_number(l, what, &count);
  if (status != MEND_OK) return status;
  if (!l->json.integer) return expected(l, what->name, "a whole number");
  *(uint64_t *)member_of(what, target) = (uint64_t)count;
  return MEND_OK;
}

static mend_status load_flag(loader *l, const member *what, void *target) {
  if (l->json.token != MEND_JSON_TRUE && l->json.token != MEND_JSON_FALSE)
    return expected(l, what->name, "true or false");
  *(bool *)member_of(what, target) = l->json.token == MEND_JSON_TRUE;
  return MEND_OK;
}

/* Any value: of a string what it says, of others their JSON. */
static mend_status load_text_or_json(loader *l, const member *what, void *target) {
  if (l->json.token == MEND_JSON_STRING) return load_text(l, what, target);
  const char *start = l->json.slice.ptr;
  mend_json_skip(&l->json);
  if (l->json.token == MEND_JSON_ERROR) return mend_json_error(&l->json, l->error);
  *(mend_str *)member_of(what, target) = (mend_str){start, (size_t)(l->json.text.ptr + l->json.at - start)};
  return MEND_OK;
}

static mend_status add_piece(loader *l, mend__script_text *text) {
  mend__script *script = l->script;
  mend_str *pieces = with_room(l, script->pieces, script->piece_count, &script->piece_capacity, sizeof *pieces);
  if (pieces == NULL) return out_of_memory(l);
  script->pieces = pieces;
  if (text->pieces.count++ == 0) text->pieces.first = script->piece_count;
  pieces[script->piece_count++] = keep_text(l);
  return MEND_OK;
}

static mend_status load_pieces(loader *l, const member *what, void *target) {
  mend__script_text *text = member_of(what, target);
  mend_status status = MEND_OK;
  if (l->json.token == MEND_JSON_STRING) {
    text->is_whole = true;
    return add_piece(l, text);
  }
  if (l->json.token != MEND_JSON_ARRAY) return expected(l, what->name, "a string, or an array of pieces");
  while (status == MEND_OK && mend_json_next(&l->json) == MEND_JSON_STRING)
    status = add_piece(l, text);
  if (status != MEND_OK || l->json.token == MEND_JSON_ARRAY_END) return status;
  return expected(l, what->name, "strings");
}

static mend_status load_log_probs(loader *l, const member *what, void *target) {
  mend__script *script = l->script;
  mend__script_range *range = member_of(what, target);
  if (l->json.token != MEND_JSON_ARRAY) return expected(l, what->name, "an array of numbers");
  range->first = script->log_prob_count;
  while (mend_json_next(&l->json) == MEND_JSON_NUMBER) {
    double *list = with_room(l, script->log_probs, script->log_prob_count, &script->log_prob_capacity, sizeof *list);
    if (list == NULL) return out_of_memory(l);
    script->log_probs = list;
    list[script->log_prob_count++] = mend_json_double(l->json.slice);
    range->count++;
  }
  return l->json.token == MEND_JSON_ARRAY_END ? MEND_OK : expected(l, what->name, "numbers");
}

static mend_status load_call(loader *l, mend__script_range *range) {
  static const member members[] = {
      {"id", load_text, offsetof(mend__script_call, id), 0, 0},
      {"name", load_text, offsetof(mend__script_call, name), 0, 0},
      {"args", load_text_or_json, offsetof(mend__script_call, args), 0, 0},
  };
  mend__script *script = l->script;
  mend__script_call call = {.args = MEND_STR("")};
  const mend_status status = load_members(l, members, sizeof members / sizeof members[0], &call);
  if (status != MEND_OK) return status;
  if (call.name.len == 0) return expected(l, "calls", "each to have a name");
  mend__script_call *calls = with_room(l, script->calls, script->call_count, &script->call_capacity, sizeof *calls);
  if (calls == NULL) return out_of_memory(l);
  script->calls = calls;
  if (range->count++ == 0) range->first = script->call_count;
  calls[script->call_count++] = call;
  return MEND_OK;
}

static mend_status load_calls(loader *l, const member *what, void *target) {
  mend_status status = MEND_OK;
  if (l->json.token != MEND_JSON_ARRAY) return expected(l, what->name, "an array of objects");
  while (status == MEND_OK && mend_json_next(&l->json) == MEND_JSON_OBJECT)
    status = load_call(l, member_of(what, target));
  if (status != MEND_OK || l->json.token == MEND_JSON_ARRAY_END) return status;
  return expected(l, what->name, "objects");
}

static mend_status add_header(loader *l, mend_str name, mend__script_range *range) {
  mend__script *script = l->script;
  mend__http_header *headers =
      with_room(l, script->headers, script->header_count, &script->header_capacity, sizeof *headers);
  if (headers == NULL) return out_of_memory(l);
  script->headers = headers;
  if (range->count++ == 0) range->first = script->header_count;
  headers[script->header_count++] = (mend__http_header){name, keep_text(l)};
  return MEND_OK;
}

static mend_status load_headers(loader *l, const member *what, void *target) {
  mend_status status = MEND_OK;
  if (l->json.token != MEND_JSON_OBJECT) return expected(l, what->name, "an object");
  while (status == MEND_OK && mend_json_next(&l->json) == MEND_JSON_KEY) {
    const mend_str name = keep_text(l);
    if (mend_json_next(&l->json) != MEND_JSON_STRING) return expected(l, what->name, "strings");
    status = add_header(l, name, member_of(what, target));
  }
  return status;
}

static mend_status load_usage(loader *l, const member *what, void *target) {
  static const member members[] = {
      {"input", load_count, offsetof(mend_usage, input), 0, 1e15},
      {"output", load_count, offsetof(mend_usage, output), 0, 1e15},
      {"cached_input", load_count, offsetof(mend_usage, cached_input), 0, 1e15},
      {"reasoning", load_count, offsetof(mend_usage, reasoning), 0, 1e15},
  };
  if (l->json.token != MEND_JSON_OBJECT) return expected(l, what->name, "an object");
  return load_members(l, members, sizeof members / sizeof members[0], member_of(what, target));
}

/* ---- Words ---- */

/* Which of `count` words the string is; `count`: none of them. */
static size_t find_word(const loader *l, const char *(*word)(size_t index), size_t count) {
  size_t index = 0;
  while (index < count && !mend_json_is(&l->json, mend_str_from(word(index))))
    index++;
  return index;
}

static mend_status load_word(loader *l, const member *what, const char *(*word)(size_t index), size_t count,
                             size_t *ret_index) {
  if (l->json.token != MEND_JSON_STRING) return expected(l, what->name, "a string");
  *ret_index = find_word(l, word, count);
  if (*ret_index < count) return MEND_OK;
  mend__nearest search = mend__nearest_to(l->json.slice);
  for (size_t i = 0; i < count; i++)
    mend__nearest_consider(&search, mend_str_from(word(i)), word(i));
  return unknown(l, what->name, &search);
}

static const char *fault_word(size_t index) { return faults[index].name; }

static mend_status load_fault(loader *l, const member *what, void *target) {
  size_t index = 0;
  const mend_status status = load_word(l, what, fault_word, FAULTS, &index);
  if (status == MEND_OK) *(const mend__script_fault **)member_of(what, target) = &faults[index];
  return status;
}

/* Without the first, which says nothing. */
static const char *finish_word(size_t index) { return mend_finish_name((mend_finish)(index + 1)); }

static mend_status load_finish(loader *l, const member *what, void *target) {
  size_t index = 0;
  const mend_status status = load_word(l, what, finish_word, MEND_FINISH_FILTER, &index);
  if (status == MEND_OK) *(mend_finish *)member_of(what, target) = (mend_finish)(index + 1);
  return status;
}

static const char *end_word(size_t index) { return (const char *const[]){"repeat", "loop", "end"}[index]; }

static mend_status load_end(loader *l, const member *what, void *target) {
  size_t index = 0;
  const mend_status status = load_word(l, what, end_word, MEND__SCRIPT_ENDS + 1, &index);
  if (status == MEND_OK) *(mend__script_end *)member_of(what, target) = (mend__script_end)index;
  return status;
}

/* ---- Replies ---- */

static const member reply_members[] = {
    {"when_user_says", load_text, offsetof(mend__script_reply, when_user_says), 0, 0},
    {"when_tool_says", load_text, offsetof(mend__script_reply, when_tool_says), 0, 0},
    {"thinking", load_pieces, offsetof(mend__script_reply, thinking), 0, 0},
    {"text", load_pieces, offsetof(mend__script_reply, text), 0, 0},
    {"calls", load_calls, offsetof(mend__script_reply, calls), 0, 0},
    {"cut", load_count, offsetof(mend__script_reply, cut), 1, 1e6},
    {"delay_ms", load_ms, offsetof(mend__script_reply, delay_ns), 0, 86400000},
    {"every_ms", load_ms, offsetof(mend__script_reply, every_ns), 0, 86400000},
    {"finish", load_finish, offsetof(mend__script_reply, finish), 0, 0},
    {"finish_reason", load_text, offsetof(mend__script_reply, finish_reason), 0, 0},
    {"usage", load_usage, offsetof(mend__script_reply, usage), 0, 0},
    {"log_probs", load_log_probs, offsetof(mend__script_reply, log_probs), 0, 0},
    {"model", load_text, offsetof(mend__script_reply, model), 0, 0},
    {"status", load_count, offsetof(mend__script_reply, status), 300, 599},
    {"body", load_text_or_json, offsetof(mend__script_reply, body), 0, 0},
    {"headers", load_headers, offsetof(mend__script_reply, headers), 0, 0},
    {"fault", load_fault, offsetof(mend__script_reply, fault), 0, 0},
    {"after", load_count, offsetof(mend__script_reply, after), 0, 1e9},
    {"reused", load_flag, offsetof(mend__script_reply, reused), 0, 0},
};

/* What the members by themselves do not say. */
static mend_status check_reply(const loader *l, const mend__script_reply *reply) {
  if (reply->status != 0 && reply->fault != NULL) {
    return at_token(
        l, mend_error_set(l->error, MEND_EINVAL, "reply %zu: expected a status or a fault, not both", l->number));
  }
  if (reply->after != 0 && (reply->fault == NULL || !reply->fault->connects)) {
    return at_token(l, mend_error_set(l->error, MEND_EINVAL,
                                      "reply %zu: after: expected a fault that comes after pieces", l->number));
  }
  return MEND_OK;
}

static mend_status load_reply(loader *l) {
  mend__script *script = l->script;
  mend__script_reply reply = {.usage = {MEND_NONE, MEND_NONE, MEND_NONE, MEND_NONE}};
  const char *start = l->json.slice.ptr;
  l->number = script->reply_count + 1;
  mend_status status = load_members(l, reply_members, sizeof reply_members / sizeof reply_members[0], &reply);
  if (status == MEND_OK) status = check_reply(l, &reply);
  if (status != MEND_OK) return status;
  reply.source = (mend_str){start, (size_t)(l->json.text.ptr + l->json.at - start)};
  if (reply.finish == MEND_FINISH_UNKNOWN) reply.finish = reply.calls.count > 0 ? MEND_FINISH_CALLS : MEND_FINISH_STOP;
  mend__script_reply *replies =
      with_room(l, script->replies, script->reply_count, &script->reply_capacity, sizeof *replies);
  if (replies == NULL) return out_of_memory(l);
  script->replies = replies;
  replies[script->reply_count++] = reply;
  l->number = 0;
  return MEND_OK;
}

static mend_status load_replies(loader *l, const member *what, void *target) {
  (void)target;
  mend_status status = MEND_OK;
  if (l->json.token != MEND_JSON_ARRAY) return expected(l, what->name, "an array of objects");
  while (status == MEND_OK && mend_json_next(&l->json) == MEND_JSON_OBJECT)
    status = load_reply(l);
  if (status != MEND_OK || l->json.token == MEND_JSON_ARRAY_END) return status;
  return expected(l, what->name, "objects");
}

static mend_status load_script(loader *l) {
  static const member members[] = {
      {"replies", load_replies, 0, 0, 0},
      {"after_last", load_end, offsetof(mend__script, after_last), 0, 0},
  };
  mend_json_next(&l->json);
  if (l->json.token != MEND_JSON_OBJECT) return expected(l, "a script", "an object");
  const mend_status status = load_members(l, members, sizeof members / sizeof members[0], l->script);
  if (status != MEND_OK) return status;
  return l->script->reply_count > 0 ? MEND_OK : expected(l, "replies", "at least one");
}

/* ---- The script ---- */

static mend__script *script_new(mend_str source, const mend_allocator *allocator) {
  mend__script *script = mend__alloc_zero(allocator, sizeof *script);
  if (script == NULL) return NULL;
  script->allocator = allocator;
  mend__buffer_init(&script->source, allocator);
  mend__buffer_str(&script->source, source);
  script->arena = mend__alloc(allocator, source.len + 1);
  if (!script->source.failed && script->arena != NULL) return script;
  mend__script_free(script);
  return NULL;
}

mend_status mend__script_read(mend_str source, const mend_allocator *allocator, mend__script **ret_script,
                              mend_error *error) {
  mend_status status = mend_json_check(source, MEND_JSON_DEPTH, error);
  if (status != MEND_OK) return status;
  mend__script *script = script_new(source, allocator);
  if (script == NULL) return mend_error_set(error, MEND_ENOMEM, "out of memory");
  loader l = {.script = script, .error = error};
  mend_json_init(&l.json, (mend_str){script->source.data, script->source.len}, MEND_JSON_DEPTH);
  status = load_script(&l);
  if (status != MEND_OK) {
    mend__script_free(script);
    return status;
  }
  *ret_script = script;
  return MEND_OK;
}

void mend__script_free(mend__script *script) {
  if (script == NULL) return;
  mend__free(script->allocator, script->replies);
  mend__free(script->allocator, script->pieces);
  mend__free(script->allocator, script->calls);
  mend__free(script->allocator, script->headers);
  mend__free(script->allocator, script->log_probs);
  mend__free(script->allocator, script->arena);
  mend__buffer_free(&script->source);
  mend__free(script->allocator, script);
}
