#include "fallback/scripted.h"
#include "core/memory.h"
#include "fallback/fallback_internal.h"
#include "fallback/retry_after.h"

#include <math.h>
#include <stdio.h>

typedef struct scripted {
  const mend_allocator *allocator;
  mend_loop *loop; /* borrowed from the model */
  mend__script *script;
  size_t next; /* the reply that comes next */
  char name[];
} scripted;

/* A reply that is being told. */
typedef struct player {
  const mend_allocator *allocator;
  mend_loop *loop;
  mend_exchange *exchange;
  const mend__script_reply *reply;
  mend__script_cursor cursor;
  const mend__script_fault *fault; /* the reply's, or what has become of it */
  mend_timer *timer;
  uint64_t told; /* pieces */
  bool has_begun;
} player;

/* ---- Which reply comes next ---- */

static bool contains(mend_str text, mend_str wanted) {
  return wanted.len == 0 || (text.len > 0 && memmem(text.ptr, text.len, wanted.ptr, wanted.len) != NULL);
}

/* Whether a text of the last message of this role contains what is wanted. */
static bool last_says(const mend_messages *messages, mend_role wanted_role, mend_str wanted) {
  for (size_t i = mend_messages_count(messages); i-- > 0;) {
    mend_role role;
    const mend_part *parts;
    size_t count;
    if (mend_messages_get(messages, i, &role, &parts, &count) != MEND_OK || role != wanted_role) continue;
    for (size_t j = 0; j < count; j++) {
      if (contains(parts[j].text, wanted)) return true;
    }
    return false;
  }
  return false;
}

static bool fits(const mend__script_reply *reply, const mend_messages *messages) {
  if (reply->when_user_says.ptr != NULL && !last_says(messages, MEND_ROLE_USER, reply->when_user_says)) return false;
  return reply->when_tool_says.ptr == NULL || last_says(messages, MEND_ROLE_TOOL, reply->when_tool_says);
}

static const mend__script_reply *find_from(scripted *own, size_t first, const mend_messages *messages) {
  const mend__script *script = own->script;
  for (size_t i = first; i < script->reply_count; i++) {
    if (!fits(&script->replies[i], messages)) continue;
    own->next = i + 1;
    return &script->replies[i];
  }
  return NULL;
}

static const mend__script_reply *find_last(const mend__script *script, const mend_messages *messages) {
  for (size_t i = script->reply_count; i-- > 0;) {
    if (fits(&script->replies[i], messages)) return &script->replies[i];
  }
  return NULL;
}

static const mend__script_reply *next_reply(scripted *own, const mend_messages *messages) {
  const mend__script_reply *reply = find_from(own, own->next, messages);
  if (reply != NULL) return reply;
  switch (own->script->after_last) {
  case MEND__SCRIPT_REPEATS: return find_last(own->script, messages);
  case MEND__SCRIPT_LOOPS: return find_from(own, 0, messages);
  case MEND__SCRIPT_ENDS: break;
  }
  return NULL;
}

/* ---- Playing it ---- */

static void player_free(player *p) {
  mend_timer_cancel(&p->timer);
  mend__free(p->allocator, p);
}

static mend__http_head head_of(const player *p) {
  const mend__script_reply *reply = p->reply;
  mend__http_head head = {.status = (uint32_t)reply->status, .reused = reply->reused};
  if (p->fault != NULL) head.status = p->fault->transport != NULL ? 0 : 200;
  head.header_count = reply->headers.count;
  if (head.header_count > 0) head.headers = p->cursor.script->headers + reply->headers.first;
  head.content_type = mend__http_find(&head, "content-type");
  return head;
}

static void fail(player *p) {
  mend_exchange *exchange = p->exchange;
  const mend__script_reply *reply = p->reply;
  const mend__http_head head = head_of(p);
  char sentence[64];
  mend_failure failure = MEND_FAILURE_INIT;
  mend_failure_signal signal = MEND_FAILURE_SIGNAL_INIT;
  snprintf(sentence, sizeof sentence, "HTTP status %u", (unsigned)head.status);
  failure.message = mend_str_from(p->fault != NULL ? p->fault->sentence : sentence);
  failure.http_status = signal.http_status = head.status;
  failure.body = signal.body = reply->body;
  failure.retry_after_s = mend__retry_after_of_head(&head, mend_clock_now(mend_loop_clock(p->loop)).wall_ns);
  if (isnan(failure.retry_after_s)) failure.retry_after_s = mend__retry_after_of_body(reply->body);
  signal.transport = p->fault != NULL ? p->fault->transport : NULL;
  signal.reused = head.reused;
  signal.any_byte = p->told > 0 || head.status != 0;
  signal.content_type = head.content_type;
  player_free(p);
  mend__exchange_fail_by(exchange, &failure, &signal);
}

static void note_beginning(player *p) {
  mend_reply partial = MEND_REPLY_INIT;
  partial.model = p->reply->model;
  partial.usage = p->reply->usage;
  mend_exchange_note(p->exchange, &partial);
}

/* A reply that says nothing and gives no reason is none, of whichever provider. */
static bool is_empty(const player *p) {
  const mend_finish finish = p->reply->finish;
  return !mend__exchange_has_content(p->exchange) && (finish == MEND_FINISH_STOP || finish == MEND_FINISH_CALLS);
}

static void finish(player *p) {
  mend_exchange *exchange = p->exchange;
  const mend__script_reply *reply = p->reply;
  mend_reply partial = MEND_REPLY_INIT;
  partial.finish = reply->finish;
  partial.finish_reason = reply->finish_reason;
  if (partial.finish_reason.ptr == NULL) partial.finish_reason = mend_str_from(mend_finish_name(reply->finish));
  partial.raw = reply->source;
  if (mend_exchange_request(exchange)->log_probs && reply->log_probs.count > 0) {
    partial.log_probs = p->cursor.script->log_probs + reply->log_probs.first;
    partial.log_prob_count = reply->log_probs.count;
  }
  player_free(p);
  mend_exchange_note(exchange, &partial);
  mend_exchange_finish(exchange);
}

static void end(player *p) {
  static const mend__script_fault empty = {"empty", "empty_reply", true, false, "the reply is empty"};
  if (is_empty(p)) {
    p->fault = &empty;
    fail(p);
  } else {
    finish(p);
  }
}

/* The next piece, or the end. Whether more is to come by itself. */
static bool take_step(player *p) {
  const mend__script_fault *fault = p->fault;
  mend_delta delta;
  if (fault != NULL && p->told >= p->reply->after) {
    if (!fault->is_silent) fail(p);
    return false;
  }
  if (!mend__script_next(&p->cursor, &delta)) {
    end(p);
    return false;
  }
  p->told++;
  mend_exchange_delta(p->exchange, &delta);
  return true;
}

static void play(void *ctx) {
  player *p = ctx;
  const uint64_t every_ns = p->reply->every_ns;
  if (p->reply->status != 0) {
    fail(p);
    return;
  }
  if (!p->has_begun) note_beginning(p);
  p->has_begun = true;
  while (take_step(p)) {
    if (every_ns == 0) continue;
    mend__timer_set(p->timer, every_ns);
    return;
  }
}

/* ---- The model ---- */

static player *player_new(const scripted *own, mend_exchange *exchange, const mend__script_reply *reply) {
  player *p = mend__alloc_zero(own->allocator, sizeof *p);
  if (p == NULL) return NULL;
  *p = (player){
      .allocator = own->allocator, .loop = own->loop, .exchange = exchange, .reply = reply, .fault = reply->fault};
  p->cursor = (mend__script_cursor){.script = own->script, .reply = reply};
  if (mend__timer_new(own->loop, play, p, &p->timer) == MEND_OK) return p;
  mend__free(own->allocator, p);
  return NULL;
}

static mend_status begin(void *ctx, mend_exchange *exchange, mend_error *error) {
  scripted *own = ctx;
  const mend__script_reply *reply = next_reply(own, mend_exchange_request(exchange)->messages);
  if (reply == NULL) return mend_error_set(error, MEND_ENOENT, "%s: no reply is left for this request", own->name);
  player *p = player_new(own, exchange, reply);
  if (p == NULL) return MEND_ENOMEM;
  mend_exchange_keep(exchange, p);
  if (p->fault == NULL || p->fault->connects) mend_exchange_connected(exchange);
  if (reply->delay_ns > 0) {
    mend__timer_set(p->timer, reply->delay_ns);
  } else {
    play(p);
  }
  return MEND_OK;
}

static void cancel(void *ctx, mend_exchange *exchange) {
  (void)ctx;
  player_free(mend_exchange_kept(exchange));
}

static void destroy(void *ctx) {
  scripted *own = ctx;
  mend__script_free(own->script);
  mend__free(own->allocator, own);
}

static mend_status read_script(const char *name, mend_str source, const mend_allocator *allocator,
                               mend__script **ret_script, mend_error *error) {
  mend_error found = MEND_ERROR_INIT;
  const mend_status status = mend__script_read(source, allocator, ret_script, &found);
  if (status == MEND_OK) return MEND_OK;
  if (found.line == 0) return mend_error_set(error, status, "%s: %s", name, found.message);
  return mend_error_set_at(error, status, found.line, found.column, "%s:%u:%u: %s", name, found.line, found.column,
                           found.message);
}

mend_status mend__scripted_new(const char *name, mend_str source, mend_loop *loop, const mend_allocator *allocator,
                               mend_classification *table, mend_model **ret_model, mend_error *error) {
  static const mend_model_vtable vtable = {sizeof vtable, begin, cancel, destroy};
  const size_t name_size = strlen(name) + 1;
  scripted *own = mend__alloc_zero(allocator, sizeof *own + name_size);
  if (own == NULL) return mend_error_set(error, MEND_ENOMEM, "%s: out of memory", name);
  own->allocator = allocator;
  own->loop = loop;
  memcpy(own->name, name, name_size);
  mend_model *model = NULL;
  mend_status status = read_script(name, source, allocator, &own->script, error);
  if (status == MEND_OK) {
    status = mend__model_new(loop, allocator, MEND__MODEL_ANSWERS, &vtable, own, "scripted", name, &model, error);
  }
  if (status != MEND_OK) {
    destroy(own);
    return status;
  }
  mend__model_classify_by(model, table);
  *ret_model = model;
  return MEND_OK;
}
