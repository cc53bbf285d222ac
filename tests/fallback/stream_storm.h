/* A hundred streams at once (a thousand when MEND_TEST_ALL is set) on one loop, over HTTP from a server that fails at
 * random, through a chain of three targets: the server, the chain, and what each stream is told. */
#ifndef MEND_TESTS_FALLBACK_STREAM_STORM_H
#define MEND_TESTS_FALLBACK_STREAM_STORM_H

#include "fallback/world.h"
#include "support/fault_server.h"

#include <time.h>

/* ---- What goes wrong: every fault that a stream can have ---- */

static const char *const faults[] = {
    "status=503",
    "status=404,html",
    "html",
    "body=oops,content_type=text/plain",
    "header=x-more:1",
    "redirect=http://127.0.0.1:1/",
    "rate_limit,retry_after=1",
    "rate_limit,retry_after_ms=50",
    "rate_limit,retry_after_date=2",
    "rate_limit,ratelimit_reset=1s",
    "rate_limit,anthropic_reset=2",
    "rate_limit,retry_info=1s",
    "quota_exhausted",
    "insufficient_quota",
    "context_overflow",
    "request_too_large",
    "overloaded",
    "overloaded,error_200",
    "server_error",
    "bad_key",
    "forbidden",
    "model_not_found",
    "unsupported_parameter",
    "invalid_request",
    "unprocessable",
    "content_filter",
    "timeout",
    "hang",
    "reset",
    "reuse_reset",
    "empty",
    "malformed",
    "half_head",
    "endless_headers",
    "endless_line",
    "empty_body",
    "big_body=1",
    "gzip_bomb=1",
    "long_line=1",
    "deltas=20",
    "tool_calls=2",
    "frames=100",
    "thinking",
    "unicode",
    "log_probs",
    "usage",
    "no_usage",
    "finish=length",
    "finish=content_filter",
    "no_content",
    "no_choices",
    "block",
    "not_json",
    "bad_json",
    "invalid_utf8",
    "reset_after=0",
    "reset_after=2",
    "close_after=0",
    "close_after=2",
    "silence_after=0",
    "silence_after=2",
    "pings_after=2",
    "error_after=0",
    "error_after=2",
    "error_after=2,rate_limit",
    "failed_after=1",
    "error_first",
    "end_after=0",
    "end_after=2",
    "no_finish",
    "no_done",
    "short_body=10",
    "delay=0.02",
    "first_delay=0.02",
    "delta_delay=0.002",
    "trickle=0.0001",
    "crlf",
    "cr",
    "no_space",
    "multiline",
    "bom",
    "unnamed",
    "comments",
    "pings",
    "empty_choices",
    "bare_calls,tool_calls=2",
    "call_index=null,tool_calls",
    "split=7",
    "split_crlf,crlf",
    "split_utf8,unicode",
    "gzip",
    "chunked",
    "close",
};
enum { FAULTS = sizeof faults / sizeof *faults };

/* ---- A storm ---- */

enum { TARGETS = 3, TEXTS = 4 };
static const char *const folders[TARGETS] = {"one/v1", "two/v1", "three/v1beta"};
static const char *const providers[TARGETS] = {"openai", "anthropic", "google"};
static const char *const names[TARGETS] = {"openai:A", "anthropic:B", "google:C"};

typedef enum leaving { STAYS, LEAVES_AT_ONCE, LEAVES_AT_CONTENT, LEAVES_LATER } leaving;

typedef struct stream {
  struct storm *storm;
  size_t number;
  leaving leaving;
  mend_exchange *exchange;
  mend__buffer text, letters, attempts; /* letters: of the targets, as they came, thoughts and all */
  bool has_content, after_content;
  unsigned ends;
  mend_status status;
  char target; /* that answered */
} stream;

/* What the server was asked. */
typedef struct asked {
  size_t number; /* of the stream */
  int target, status;
} asked;

typedef struct tally {
  unsigned replies[TARGETS], before_content, after_content, cancelled;
} tally;

typedef struct storm {
  world w;
  mend_test_faults *server;
  mend_model *chain;
  stream *streams;
  size_t count;
  uint64_t random;
  asked *log;
  size_t log_len;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  size_t ended; /* under the lock */
} storm;

static inline uint64_t draw(storm *s, uint64_t below) {
  s->random ^= s->random << 13;
  s->random ^= s->random >> 7;
  s->random ^= s->random << 17;
  return (s->random >> 16) % below;
}

/* ---- The server ---- */

static inline void add_rule(mend__buffer *script, int target, const char *match, const char *list) {
  const char letter = (char)('A' + target);
  mend__buffer_printf(script, "{\"match\":{\"path\":\"/%s/*\"%s},\"faults\":\"%s\",\"reply\":{\"texts\":[",
                      folders[target], match, list);
  for (int i = 0; i < TEXTS; i++)
    mend__buffer_printf(script, "%s\"%c\"", i > 0 ? "," : "", letter);
  mend__buffer_printf(script, "],\"thinking\":\"%c\"}},", letter);
}

/* Each rule is for one request, the next one that comes; two of three have faults. */
static inline void start_server(storm *s) {
  mend__buffer script;
  mend__buffer_init(&script, NULL);
  mend__buffer_str(&script, MEND_STR("{\"rules\":["));
  for (int target = 0; target < TARGETS; target++) {
    for (size_t i = 0; i < s->count; i++)
      add_rule(&script, target, ",\"nth\":1", draw(s, 3) > 0 ? faults[draw(s, FAULTS)] : "");
    add_rule(&script, target, "", "");
  }
  script.len--;
  mend__buffer_str(&script, MEND_STR("]}"));
  mend__buffer_char(&script, '\0');
  s->server = mend_test_faults_start(script.data);
  mend__buffer_free(&script);
}

static inline void open_chain(storm *s, mend_fallback_profile profile) {
  char urls[TARGETS][128];
  mend_key keys[TARGETS];
  mend_endpoint endpoints[TARGETS];
  for (int i = 0; i < TARGETS; i++) {
    snprintf(urls[i], sizeof urls[i], "%s/%s", mend_test_faults_url(s->server), folders[i]);
    keys[i] = (mend_key){providers[i], "a key of the storm"};
    endpoints[i] = (mend_endpoint){providers[i], urls[i]};
  }
  mend_fallback_options options = MEND_FALLBACK_OPTIONS_INIT;
  options.loop = s->w.loop;
  options.allocator = &s->w.memory.base;
  options.keys = keys;
  options.endpoints = endpoints;
  options.key_count = options.endpoint_count = TARGETS;
  options.profile = profile;
  options.seed = 1;
  mend_error error = MEND_ERROR_INIT;
  cr_assert_eq(mend_fallback_new(names, TARGETS, &options, &s->chain, &error), MEND_OK, "%s", error.message);
}

/* ---- What is told ---- */

static inline void take_delta(void *ctx, const mend_delta *delta) {
  stream *of = ctx;
  CLAIM(&of->storm->w, of->ends == 0);
  of->has_content = true;
  if (delta->kind == MEND_PART_TEXT) mend__buffer_str(&of->text, delta->text);
  for (size_t i = 0; delta->kind != MEND_PART_CALL && i < delta->text.len; i++) {
    const char c = delta->text.ptr[i];
    if (c >= 'A' && c < 'A' + TARGETS) mend__buffer_char(&of->letters, c);
  }
  if (of->leaving == LEAVES_AT_CONTENT) mend_exchange_cancel(of->exchange);
}

static inline void take_reply(stream *of, const mend_reply *reply) {
  of->target = reply->target.ptr[reply->target.len - 1];
  mend__buffer_str(&of->attempts, reply->attempts);
  CLAIM(&of->storm->w, mend_str_equal(reply->text, mend__buffer_text(&of->text)));
}

static inline void take_failure(stream *of, const mend_failure *failure) {
  of->after_content = failure->after_content;
  mend__buffer_str(&of->attempts, failure->attempts);
  CLAIM(&of->storm->w, failure->type.len > 0 && failure->message.len > 0);
}

static inline void take_end(void *ctx, mend_status status, mend_reply *reply, const mend_failure *failure) {
  stream *of = ctx;
  storm *s = of->storm;
  of->status = status;
  CLAIM(&s->w, (reply != NULL) == (status == MEND_OK) && (reply == NULL) == (failure != NULL));
  if (reply != NULL) take_reply(of, reply);
  if (failure != NULL) take_failure(of, failure);
  pthread_mutex_lock(&s->lock);
  if (of->ends++ == 0) s->ended++;
  pthread_cond_signal(&s->changed);
  pthread_mutex_unlock(&s->lock);
}

/* ---- Asking ---- */

static const mend_tool_spec tool = {.size = sizeof tool, .name = {"look", 4}};

static inline void send_stream(storm *s, stream *of) {
  static const leaving leavings[] = {LEAVES_AT_ONCE, LEAVES_AT_CONTENT, LEAVES_LATER};
  const mend_model_listener listener = {sizeof listener, take_delta, take_end, of};
  char text[32];
  mend_messages *messages;
  mend_model_request request = world_request(&s->w);
  of->storm = s;
  of->leaving = draw(s, 5) == 0 ? leavings[draw(s, 3)] : STAYS;
  mend__buffer_init(&of->text, NULL);
  mend__buffer_init(&of->letters, NULL);
  mend__buffer_init(&of->attempts, NULL);
  snprintf(text, sizeof text, "request %zu.", of->number);
  cr_assert_eq(mend_messages_new(NULL, &messages), MEND_OK);
  cr_assert_eq(mend_messages_add_user(messages, mend_str_from(text)), MEND_OK);
  request.messages = messages;
  request.tools = &tool;
  request.tool_count = 1;
  request.clocks = (mend_model_clocks){.connect_s = 10, .first_content_s = 10, .idle_s = 5, .total_s = 40};
  cr_assert_eq(mend_model_send(s->chain, &request, &listener, &of->exchange, NULL), MEND_OK);
  if (of->leaving == LEAVES_AT_ONCE) mend_exchange_cancel(of->exchange);
  mend_messages_free(messages);
}

/* Whether another one has ended within a moment. */
static inline bool await_another(storm *s, size_t *ended) {
  struct timespec limit;
  int status = 0;
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_nsec += 30 * 1000 * 1000;
  limit.tv_sec += limit.tv_nsec / 1000000000;
  limit.tv_nsec %= 1000000000;
  pthread_mutex_lock(&s->lock);
  while (s->ended == *ended && status == 0)
    status = pthread_cond_timedwait(&s->changed, &s->lock, &limit);
  const bool another = s->ended != *ended;
  *ended = s->ended;
  pthread_mutex_unlock(&s->lock);
  return another;
}

static inline void leave(storm *s) {
  for (size_t i = 0; i < s->count; i++) {
    if (s->streams[i].leaving == LEAVES_LATER) mend_exchange_cancel(s->streams[i].exchange);
  }
}

/* Time goes on, by the clock of the loop, only while nothing ends by itself. */
static inline void await_ends(storm *s) {
  bool have_left = false;
  unsigned steps = 0;
  for (size_t ended = 0; ended < s->count;) {
    if (!await_another(s, &ended)) {
      cr_assert(++steps < 200, "%zu of %zu have ended", ended, s->count);
      cr_assert_eq(mend_clock_advance(s->w.clock, MEND_SECOND_NS / 2), MEND_OK);
    }
    if (!have_left && ended >= s->count / 2) {
      have_left = true;
      leave(s);
    }
  }
  settle(&s->w);
}

#endif
