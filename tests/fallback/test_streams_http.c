/* A hundred streams at once (a thousand when MEND_TEST_ALL is set) on one loop, over HTTP from a server that fails at
 * random, through a chain of three targets. What each was told is held against what the server has seen. */
#include "fallback/json_fields.h"
#include "fallback/world.h"
#include "program/fault_server/fault_table.h"
#include "program/fault_server/wordings.h"
#include "support/fault_server.h"

#include <stdlib.h>
#include <sys/resource.h>
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

static bool is_listed(const char *name) {
  const size_t len = strlen(name);
  for (size_t i = 0; i < FAULTS; i++) {
    for (const char *place = faults[i]; place != NULL; place = strchr(place, ',')) {
      place += *place == ',';
      if (strncmp(place, name, len) == 0 && (place[len] == '\0' || place[len] == '=' || place[len] == ',')) return true;
    }
  }
  return false;
}

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

static uint64_t draw(storm *s, uint64_t below) {
  s->random ^= s->random << 13;
  s->random ^= s->random >> 7;
  s->random ^= s->random << 17;
  return (s->random >> 16) % below;
}

/* ---- The server ---- */

static void add_rule(mend__buffer *script, int target, const char *match, const char *list) {
  const char letter = (char)('A' + target);
  mend__buffer_printf(script, "{\"match\":{\"path\":\"/%s/*\"%s},\"faults\":\"%s\",\"reply\":{\"texts\":[",
                      folders[target], match, list);
  for (int i = 0; i < TEXTS; i++)
    mend__buffer_printf(script, "%s\"%c\"", i > 0 ? "," : "", letter);
  mend__buffer_printf(script, "],\"thinking\":\"%c\"}},", letter);
}

/* Each rule is for one request, the next one that comes; two of three have faults. */
static void start_server(storm *s) {
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

static void open_chain(storm *s, mend_fallback_profile profile) {
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

static void take_delta(void *ctx, const mend_delta *delta) {
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

static void take_reply(stream *of, const mend_reply *reply) {
  of->target = reply->target.ptr[reply->target.len - 1];
  mend__buffer_str(&of->attempts, reply->attempts);
  CLAIM(&of->storm->w, mend_str_equal(reply->text, mend__buffer_text(&of->text)));
}

static void take_failure(stream *of, const mend_failure *failure) {
  of->after_content = failure->after_content;
  mend__buffer_str(&of->attempts, failure->attempts);
  CLAIM(&of->storm->w, failure->type.len > 0 && failure->message.len > 0);
}

static void take_end(void *ctx, mend_status status, mend_reply *reply, const mend_failure *failure) {
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

static void send_stream(storm *s, stream *of) {
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
static bool await_another(storm *s, size_t *ended) {
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

static void leave(storm *s) {
  for (size_t i = 0; i < s->count; i++) {
    if (s->streams[i].leaving == LEAVES_LATER) mend_exchange_cancel(s->streams[i].exchange);
  }
}

/* Time goes on, by the clock of the loop, only while nothing ends by itself. */
static void await_ends(storm *s) {
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

/* ---- What the server has seen ---- */

static int target_of(const char *path) {
  for (int i = 0; i < TARGETS; i++) {
    if (strncmp(path + 1, folders[i], strlen(folders[i])) == 0) return i;
  }
  return -1;
}

static void read_log(storm *s) {
  const mend_test_fault_counts counts = mend_test_faults_counts(s->server);
  s->log_len = counts.requests;
  s->log = calloc(counts.requests + 1, sizeof *s->log);
  for (size_t i = 0; i < counts.requests; i++) {
    const mend_test_request request = mend_test_faults_request(s->server, i);
    const char *number = strstr(request.body, "request ");
    cr_assert(number != NULL, "%s", request.body);
    s->log[i] = (asked){strtoul(number + strlen("request "), NULL, 10), target_of(request.target), request.status};
  }
}

static bool server_has(const storm *s, size_t number, int target, int status) {
  for (size_t i = 0; i < s->log_len; i++) {
    const asked *request = &s->log[i];
    if (request->number == number && request->target == target && request->status == status) return true;
  }
  return false;
}

/* The place behind the next request of this stream; that of the end when there is none. */
static size_t next_asked(const storm *s, size_t number, size_t from) {
  while (from < s->log_len && s->log[from].number != number)
    from++;
  return from;
}

/* ---- Checking ---- */

/* The server was asked by no attempt but those in the ledger, in their order; what they tell of it is so. */
static void check_attempts(const storm *s, const stream *of) {
  mend__json_items elements = mend__json_items_of(mend__buffer_text(&of->attempts));
  mend_str attempt;
  size_t place = next_asked(s, of->number, 0), answers = 0;
  while (mend__json_items_next(&elements, &attempt)) {
    const mend_str target = mend__json_inside(mend__json_find(attempt, "target", NULL));
    const mend_str status = mend__json_find(attempt, "http_status", NULL);
    const bool is_ok = mend__json_says(mend__json_find(attempt, "class", NULL), "ok");
    const int index = target.ptr[target.len - 1] - 'A';
    if (place < s->log_len && s->log[place].target == index) place = next_asked(s, of->number, place + 1);
    if (is_ok) cr_assert(server_has(s, of->number, index, 200) && index == of->target - 'A', "%zu", of->number);
    if (status.ptr != NULL) {
      cr_assert(server_has(s, of->number, index, (int)mend__json_count(status)), "%zu: %.*s", of->number,
                MEND_STR_ARG(attempt));
    }
    answers += is_ok;
  }
  cr_assert_eq(place, s->log_len, "%zu (%d, left %d): not in %.*s", of->number, (int)of->status, (int)of->leaving,
               MEND_STR_ARG(mend__buffer_text(&of->attempts)));
  cr_assert_eq(answers, of->status == MEND_OK ? 1u : 0u, "%zu", of->number);
}

/* It ended once, with what one target has said, and as it says. */
static void check_end(const stream *of) {
  const mend_str letters = mend__buffer_text(&of->letters);
  cr_assert_eq(of->ends, 1u, "%zu: %u ends", of->number, of->ends);
  for (size_t i = 0; i < letters.len; i++)
    cr_assert_eq(letters.ptr[i], letters.ptr[0], "%zu: %.*s", of->number, MEND_STR_ARG(letters));
  if (of->status == MEND_OK) {
    cr_assert(letters.len == 0 || letters.ptr[0] == of->target, "%zu: %.*s", of->number, MEND_STR_ARG(letters));
  } else {
    cr_assert(of->status == MEND_EFAILED || (of->status == MEND_ECANCELLED && of->leaving != STAYS), "%zu: %d",
              of->number, (int)of->status);
    cr_assert_eq(of->after_content, of->has_content, "%zu", of->number);
  }
}

static void count_end(tally *total, const stream *of) {
  if (of->status == MEND_OK) {
    total->replies[of->target - 'A']++;
  } else if (of->status == MEND_ECANCELLED) {
    total->cancelled++;
  } else if (of->after_content) {
    total->after_content++;
  } else {
    total->before_content++;
  }
}

static void check_streams(storm *s, tally *total) {
  read_log(s);
  for (size_t i = 0; i < s->count; i++) {
    stream *of = &s->streams[i];
    check_end(of);
    check_attempts(s, of);
    count_end(total, of);
    mend_exchange_release(of->exchange);
    mend__buffer_free(&of->text);
    mend__buffer_free(&of->letters);
    mend__buffer_free(&of->attempts);
  }
  cr_assert_str_eq(s->w.log, "");
  free(s->log);
  free(s->streams);
}

/* ---- Tests ---- */

static void run_storm(uint64_t seed, mend_fallback_profile profile, size_t count, tally *total) {
  static storm s;
  s = (storm){.random = seed * UINT64_C(0x9e3779b97f4a7c15),
              .count = count,
              .lock = PTHREAD_MUTEX_INITIALIZER,
              .changed = PTHREAD_COND_INITIALIZER};
  world_open(&s.w);
  start_server(&s);
  open_chain(&s, profile);
  s.streams = calloc(count, sizeof *s.streams);
  for (size_t i = 0; i < count; i++) {
    s.streams[i].number = i;
    send_stream(&s, &s.streams[i]);
  }
  await_ends(&s);
  cr_assert(mend_test_faults_wait_idle(s.server), "a connection that nobody wants any more is still open");
  check_streams(&s, total);
  mend_model_release(s.chain);
  cr_assert(mend_test_faults_wait_open(s.server, 0));
  mend_test_faults_stop(s.server);
  world_close(&s.w);
}

/* Both ends of every connection are in this process. */
static void allow_descriptors(void) {
  struct rlimit limit;
  cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = limit.rlim_max;
  cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void run_storms(mend_fallback_profile profile) {
  const bool all = getenv("MEND_TEST_ALL") != NULL;
  const size_t count = all ? 1000 : 100;
  tally total = {.cancelled = 0};
  allow_descriptors();
  for (uint64_t seed = 1; seed <= 4; seed++)
    run_storm(seed, profile, count, &total);
  for (int i = 0; i < TARGETS; i++)
    cr_assert(total.replies[i] > 0, "%s has never answered", names[i]);
  cr_assert(total.before_content > 0 && total.after_content > 0 && total.cancelled > 0, "%u, %u, %u",
            total.before_content, total.after_content, total.cancelled);
}

Test(streams_http, seed_profile) { run_storms(MEND_FALLBACK_SEED); }
Test(streams_http, resilient_profile) { run_storms(MEND_FALLBACK_RESILIENT); }

/* ---- Memory of a long stream ---- */

static mend_status count_event(void *ctx, const mend_event *event) {
  (void)event;
  ++*(size_t *)ctx;
  return MEND_OK;
}

/* How many allocations a stream of so many deltas takes, each of which is an event. */
static size_t allocations_of(storm *s, size_t deltas) {
  char list[32];
  size_t events = 0;
  mend_subscription *subscription;
  mend_reply reply = MEND_REPLY_INIT;
  const mend_model_request request = world_request(&s->w);
  cr_assert_eq(mend_bus_subscribe(s->w.bus, "model.delta", count_event, &events, NULL, &subscription, NULL), MEND_OK);
  snprintf(list, sizeof list, "deltas=%zu", deltas);
  mend_test_faults_set(s->server, list);
  const size_t before = atomic_load(&s->w.memory.calls);
  cr_assert_eq(mend_model_ask(s->chain, &request, &reply, NULL), MEND_OK);
  const size_t calls = atomic_load(&s->w.memory.calls) - before;
  mend_reply_clear(&reply);
  mend_subscription_close(&subscription);
  cr_assert(events >= deltas, "%zu", events);
  return calls;
}

/* What grows with the stream is the text and the events that are kept of it, to twice the size each time. Apart from
 * that it depends on where the kernel cuts the bytes: a line that comes in two pieces is put together in memory that is
 * made, and made longer, when it first happens. */
Test(streams_http, deltas_allocate_nothing) {
  storm s = {.count = 0};
  world_open(&s.w);
  start_server(&s);
  open_chain(&s, MEND_FALLBACK_RESILIENT);
  const size_t few = allocations_of(&s, 500), many = allocations_of(&s, 4000);
  cr_assert(many <= few + (4000 - 500) / 100, "%zu allocations of 500 deltas, %zu of 4000", few, many);
  mend_model_release(s.chain);
  mend_test_faults_stop(s.server);
  world_close(&s.w);
}

Test(streams_http, every_fault_has_its_turn) {
  for (size_t i = 0; i < fault_count; i++)
    cr_assert(is_listed(fault_table[i].name), "%s", fault_table[i].name);
  for (size_t i = 0; wording_kinds[i].name != NULL; i++)
    cr_assert(is_listed(wording_kinds[i].name), "%s", wording_kinds[i].name);
}
