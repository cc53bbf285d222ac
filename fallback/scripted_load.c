#include "core/memory.h"
#include "fallback/scripted_loader.h"

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

/* ---- Lists ---- */

static mend_status add_piece(mend__script_loader *l, mend__script_text *text) {
  mend__script *script = l->script;
  mend_str *pieces =
      mend__script_with_room(l, script->pieces, script->piece_count, &script->piece_capacity, sizeof *pieces);
  if (pieces == NULL) return mend__script_out_of_memory(l);
  script->pieces = pieces;
  if (text->pieces.count++ == 0) text->pieces.first = script->piece_count;
  pieces[script->piece_count++] = mend__script_keep_text(l);
  return MEND_OK;
}

static mend_status load_pieces(mend__script_loader *l, const mend__script_member *what, void *target) {
  mend__script_text *text = mend__script_place(what, target);
  mend_status status = MEND_OK;
  if (l->json.token == MEND_JSON_STRING) {
    text->is_whole = true;
    return add_piece(l, text);
  }
  if (l->json.token != MEND_JSON_ARRAY) return mend__script_expected(l, what->name, "a string, or an array of pieces");
  while (status == MEND_OK && mend_json_next(&l->json) == MEND_JSON_STRING)
    status = add_piece(l, text);
  if (status != MEND_OK || l->json.token == MEND_JSON_ARRAY_END) return status;
  return mend__script_expected(l, what->name, "strings");
}

static mend_status load_log_probs(mend__script_loader *l, const mend__script_member *what, void *target) {
  mend__script *script = l->script;
  mend__script_range *range = mend__script_place(what, target);
  if (l->json.token != MEND_JSON_ARRAY) return mend__script_expected(l, what->name, "an array of numbers");
  range->first = script->log_prob_count;
  while (mend_json_next(&l->json) == MEND_JSON_NUMBER) {
    double *list =
        mend__script_with_room(l, script->log_probs, script->log_prob_count, &script->log_prob_capacity, sizeof *list);
    if (list == NULL) return mend__script_out_of_memory(l);
    script->log_probs = list;
    list[script->log_prob_count++] = mend_json_double(l->json.slice);
    range->count++;
  }
  return l->json.token == MEND_JSON_ARRAY_END ? MEND_OK : mend__script_expected(l, what->name, "numbers");
}

static mend_status load_call(mend__script_loader *l, mend__script_range *range) {
  static const mend__script_member members[] = {
      {"id", mend__script_load_text, offsetof(mend__script_call, id), 0, 0},
      {"name", mend__script_load_text, offsetof(mend__script_call, name), 0, 0},
      {"args", mend__script_load_text_or_json, offsetof(mend__script_call, args), 0, 0},
  };
  mend__script *script = l->script;
  mend__script_call call = {.args = MEND_STR("")};
  const mend_status status = mend__script_load_members(l, members, sizeof members / sizeof members[0], &call);
  if (status != MEND_OK) return status;
  if (call.name.len == 0) return mend__script_expected(l, "calls", "each to have a name");
  mend__script_call *calls =
      mend__script_with_room(l, script->calls, script->call_count, &script->call_capacity, sizeof *calls);
  if (calls == NULL) return mend__script_out_of_memory(l);
  script->calls = calls;
  if (range->count++ == 0) range->first = script->call_count;
  calls[script->call_count++] = call;
  return MEND_OK;
}

static mend_status load_calls(mend__script_loader *l, const mend__script_member *what, void *target) {
  mend_status status = MEND_OK;
  if (l->json.token != MEND_JSON_ARRAY) return mend__script_expected(l, what->name, "an array of objects");
  while (status == MEND_OK && mend_json_next(&l->json) == MEND_JSON_OBJECT)
    status = load_call(l, mend__script_place(what, target));
  if (status != MEND_OK || l->json.token == MEND_JSON_ARRAY_END) return status;
  return mend__script_expected(l, what->name, "objects");
}

static mend_status add_header(mend__script_loader *l, mend_str name, mend__script_range *range) {
  mend__script *script = l->script;
  mend__http_header *headers =
      mend__script_with_room(l, script->headers, script->header_count, &script->header_capacity, sizeof *headers);
  if (headers == NULL) return mend__script_out_of_memory(l);
  script->headers = headers;
  if (range->count++ == 0) range->first = script->header_count;
  headers[script->header_count++] = (mend__http_header){name, mend__script_keep_text(l)};
  return MEND_OK;
}

static mend_status load_headers(mend__script_loader *l, const mend__script_member *what, void *target) {
  mend_status status = MEND_OK;
  if (l->json.token != MEND_JSON_OBJECT) return mend__script_expected(l, what->name, "an object");
  while (status == MEND_OK && mend_json_next(&l->json) == MEND_JSON_KEY) {
    const mend_str name = mend__script_keep_text(l);
    if (mend_json_next(&l->json) != MEND_JSON_STRING) return mend__script_expected(l, what->name, "strings");
    status = add_header(l, name, mend__script_place(what, target));
  }
  return status;
}

static mend_status load_usage(mend__script_loader *l, const mend__script_member *what, void *target) {
  static const mend__script_member members[] = {
      {"input", mend__script_load_count, offsetof(mend_usage, input), 0, 1e15},
      {"output", mend__script_load_count, offsetof(mend_usage, output), 0, 1e15},
      {"cached_input", mend__script_load_count, offsetof(mend_usage, cached_input), 0, 1e15},
      {"reasoning", mend__script_load_count, offsetof(mend_usage, reasoning), 0, 1e15},
  };
  if (l->json.token != MEND_JSON_OBJECT) return mend__script_expected(l, what->name, "an object");
  return mend__script_load_members(l, members, sizeof members / sizeof members[0], mend__script_place(what, target));
}

/* ---- Words ---- */

static const char *fault_word(size_t index) { return faults[index].name; }

static mend_status load_fault(mend__script_loader *l, const mend__script_member *what, void *target) {
  size_t index = 0;
  const mend_status status = mend__script_load_word(l, what, fault_word, FAULTS, &index);
  if (status == MEND_OK) *(const mend__script_fault **)mend__script_place(what, target) = &faults[index];
  return status;
}

/* Without the first, which says nothing. */
static const char *finish_word(size_t index) { return mend_finish_name((mend_finish)(index + 1)); }

static mend_status load_finish(mend__script_loader *l, const mend__script_member *what, void *target) {
  size_t index = 0;
  const mend_status status = mend__script_load_word(l, what, finish_word, MEND_FINISH_FILTER, &index);
  if (status == MEND_OK) *(mend_finish *)mend__script_place(what, target) = (mend_finish)(index + 1);
  return status;
}

static const char *end_word(size_t index) { return (const char *const[]){"repeat", "loop", "end"}[index]; }

static mend_status load_end(mend__script_loader *l, const mend__script_member *what, void *target) {
  size_t index = 0;
  const mend_status status = mend__script_load_word(l, what, end_word, MEND__SCRIPT_ENDS + 1, &index);
  if (status == MEND_OK) *(mend__script_end *)mend__script_place(what, target) = (mend__script_end)index;
  return status;
}

/* ---- Replies ---- */

static const mend__script_member reply_members[] = {
    {"when_user_says", mend__script_load_text, offsetof(mend__script_reply, when_user_says), 0, 0},
    {"when_tool_says", mend__script_load_text, offsetof(mend__script_reply, when_tool_says), 0, 0},
    {"thinking", load_pieces, offsetof(mend__script_reply, thinking), 0, 0},
    {"text", load_pieces, offsetof(mend__script_reply, text), 0, 0},
    {"calls", load_calls, offsetof(mend__script_reply, calls), 0, 0},
    {"cut", mend__script_load_count, offsetof(mend__script_reply, cut), 1, 1e6},
    {"delay_ms", mend__script_load_ms, offsetof(mend__script_reply, delay_ns), 0, 86400000},
    {"every_ms", mend__script_load_ms, offsetof(mend__script_reply, every_ns), 0, 86400000},
    {"finish", load_finish, offsetof(mend__script_reply, finish), 0, 0},
    {"finish_reason", mend__script_load_text, offsetof(mend__script_reply, finish_reason), 0, 0},
    {"usage", load_usage, offsetof(mend__script_reply, usage), 0, 0},
    {"log_probs", load_log_probs, offsetof(mend__script_reply, log_probs), 0, 0},
    {"model", mend__script_load_text, offsetof(mend__script_reply, model), 0, 0},
    {"status", mend__script_load_count, offsetof(mend__script_reply, status), 300, 599},
    {"body", mend__script_load_text_or_json, offsetof(mend__script_reply, body), 0, 0},
    {"headers", load_headers, offsetof(mend__script_reply, headers), 0, 0},
    {"fault", load_fault, offsetof(mend__script_reply, fault), 0, 0},
    {"after", mend__script_load_count, offsetof(mend__script_reply, after), 0, 1e9},
    {"reused", mend__script_load_flag, offsetof(mend__script_reply, reused), 0, 0},
};

/* What the members by themselves do not say. */
static mend_status check_reply(const mend__script_loader *l, const mend__script_reply *reply) {
  if (reply->status != 0 && reply->fault != NULL) {
    return mend__script_at_token(
        l, mend_error_set(l->error, MEND_EINVAL, "reply %zu: expected a status or a fault, not both", l->number));
  }
  if (reply->after != 0 && (reply->fault == NULL || !reply->fault->connects)) {
    return mend__script_at_token(
        l,
        mend_error_set(l->error, MEND_EINVAL, "reply %zu: after: expected a fault that comes after pieces", l->number));
  }
  return MEND_OK;
}

static mend_status load_reply(mend__script_loader *l) {
  mend__script *script = l->script;
  mend__script_reply reply = {.usage = {MEND_NONE, MEND_NONE, MEND_NONE, MEND_NONE}};
  const char *start = l->json.slice.ptr;
  l->number = script->reply_count + 1;
  mend_status status =
      mend__script_load_members(l, reply_members, sizeof reply_members / sizeof reply_members[0], &reply);
  if (status == MEND_OK) status = check_reply(l, &reply);
  if (status != MEND_OK) return status;
  reply.source = (mend_str){start, (size_t)(l->json.text.ptr + l->json.at - start)};
  if (reply.finish == MEND_FINISH_UNKNOWN) reply.finish = reply.calls.count > 0 ? MEND_FINISH_CALLS : MEND_FINISH_STOP;
  mend__script_reply *replies =
      mend__script_with_room(l, script->replies, script->reply_count, &script->reply_capacity, sizeof *replies);
  if (replies == NULL) return mend__script_out_of_memory(l);
  script->replies = replies;
  replies[script->reply_count++] = reply;
  l->number = 0;
  return MEND_OK;
}

static mend_status load_replies(mend__script_loader *l, const mend__script_member *what, void *target) {
  (void)target;
  mend_status status = MEND_OK;
  if (l->json.token != MEND_JSON_ARRAY) return mend__script_expected(l, what->name, "an array of objects");
  while (status == MEND_OK && mend_json_next(&l->json) == MEND_JSON_OBJECT)
    status = load_reply(l);
  if (status != MEND_OK || l->json.token == MEND_JSON_ARRAY_END) return status;
  return mend__script_expected(l, what->name, "objects");
}

static mend_status load_script(mend__script_loader *l) {
  static const mend__script_member members[] = {
      {"replies", load_replies, 0, 0, 0},
      {"after_last", load_end, offsetof(mend__script, after_last), 0, 0},
  };
  mend_json_next(&l->json);
  if (l->json.token != MEND_JSON_OBJECT) return mend__script_expected(l, "a script", "an object");
  const mend_status status = mend__script_load_members(l, members, sizeof members / sizeof members[0], l->script);
  if (status != MEND_OK) return status;
  return l->script->reply_count > 0 ? MEND_OK : mend__script_expected(l, "replies", "at least one");
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
  mend__script_loader l = {.script = script, .error = error};
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
