/* Servers that send without end or hardly at all: what their requests end with, when, and how much memory they take:
 * mend's and curl's together, which has nothing of the server in it. */
#include "http/server.h"
#include "mend/fallback.h"
#include "support/fault_server.h"

#include <curl/curl.h>
#include <malloc.h>

/* ---- Memory ---- */

static atomic_size_t held, most_held;

static void *count(void *block) {
  if (block == NULL) return NULL;
  const size_t size = malloc_usable_size(block), now = atomic_fetch_add(&held, size) + size;
  for (size_t most = atomic_load(&most_held); now > most;) {
    if (atomic_compare_exchange_weak(&most_held, &most, now)) break;
  }
  return block;
}

static void discount(void *block) {
  if (block != NULL) atomic_fetch_sub(&held, malloc_usable_size(block));
}

static void *count_malloc(size_t size) { return count(malloc(size)); }
static void *count_calloc(size_t number, size_t size) { return count(calloc(number, size)); }
static char *count_strdup(const char *text) { return count(strdup(text)); }

static void *count_realloc(void *block, size_t size) {
  discount(block);
  return count(realloc(block, size));
}

static void count_free(void *block) {
  discount(block);
  free(block);
}

static void *allocate(void *ctx, size_t size) {
  (void)ctx;
  return count_malloc(size);
}

static void *reallocate(void *ctx, void *block, size_t size) {
  (void)ctx;
  return count_realloc(block, size);
}

static void release(void *ctx, void *block) {
  (void)ctx;
  count_free(block);
}

static const mend_allocator counting = {
    .size = sizeof counting, .allocate = allocate, .reallocate = reallocate, .release = release};

/* ---- Asking ---- */

typedef struct asked {
  gate done;
  char type[32], message[256];
  bool after_content;
} asked;

static void take_end(void *ctx, mend_status status, mend_reply *got, const mend_failure *failure) {
  asked *a = ctx;
  (void)status;
  if (failure != NULL) {
    snprintf(a->type, sizeof a->type, "%.*s", MEND_STR_ARG(failure->type));
    snprintf(a->message, sizeof a->message, "%.*s", MEND_STR_ARG(failure->message));
    a->after_content = failure->after_content;
  }
  if (got != NULL) snprintf(a->message, sizeof a->message, "%.*s", MEND_STR_ARG(got->text));
  gate_reach(&a->done, 1);
}

static mend_model *open_model(mend_loop *loop, const char *base_url, uint64_t reply_limit) {
  const mend_key key = {"openai", "a key"};
  const mend_endpoint endpoint = {"openai", base_url};
  mend_fallback_options options = MEND_FALLBACK_OPTIONS_INIT;
  options.loop = loop;
  options.allocator = &counting;
  options.keys = &key;
  options.endpoints = &endpoint;
  options.key_count = options.endpoint_count = 1;
  if (reply_limit != 0) options.reply_limit = reply_limit;
  mend_model *model;
  cr_assert_eq(mend_model_open("openai:m", &options, &model, NULL), MEND_OK);
  return model;
}

static void begin_asking(asked *a, mend_model *model, bool stream) {
  const mend_model_listener listener = {.size = sizeof listener, .done = take_end, .ctx = a};
  mend_messages *messages;
  mend_model_request request = MEND_MODEL_REQUEST_INIT;
  *a = (asked){.done = GATE_INIT};
  cr_assert_eq(mend_messages_new(&counting, &messages), MEND_OK);
  cr_assert_eq(mend_messages_add_user(messages, MEND_STR("one two three")), MEND_OK);
  request.messages = messages;
  request.stream = stream;
  cr_assert_eq(mend_model_send(model, &request, &listener, NULL, NULL), MEND_OK);
  mend_messages_free(messages);
}

/* What had begun on the loop's thread is over, and what that has posted; what was sent to it, too: it has waited and
 * found it. */
static void settle(mend_loop *loop) {
  flush(loop);
  flush(loop);
}

/* ---- Without end ---- */

enum { KIB = 1024, MIB = 1024 * 1024 };

static const struct {
  const char *faults;
  bool stream;
  size_t limit; /* reply_limit; 0: its default, 64 MiB */
  size_t bytes; /* of memory that it may take */
  const char *type, *message;
} endless[] = {
    {"big_body=1024", false, MIB, 2 * MIB, "bad_reply", "the reply is larger than allowed"},
    {"big_body=1024", false, 0, 80 * MIB, "bad_reply", "the reply is larger than allowed"},
    {"gzip_bomb=1024", false, MIB, 2 * MIB, "bad_reply", "the reply is larger than allowed"},
    {"gzip_bomb=1024", true, MIB, 2 * MIB, "bad_reply", "the reply is larger than allowed"},
    {"long_line=100", true, MIB, 2 * MIB, "bad_reply", "than"}, /* of the reply or of the event: which comes first */
    {"long_line=100", true, 0, 80 * MIB, "bad_reply", "than"},
    {"endless_headers", true, 0, MIB, "bad_reply", "the head of the reply is too long"},
    {"endless_line", false, 0, MIB, "bad_reply", "the head of the reply is too long"},
    {"tool_calls=1025", true, 0, 2 * MIB, "after_content", "openai: the reply has more than 1024 tool calls"},
    {"tool_calls=1025", false, 0, 2 * MIB, "after_content", "openai: the reply has more than 1024 tool calls"},
    {"invalid_utf8", true, 0, MIB, "", "\xEF\xBF\xBD"},
    {"invalid_utf8", false, 0, MIB, "", "\xEF\xBF\xBD"},
};

static void check_endless(mend_loop *loop, const char *server_url, size_t i) {
  char url[128];
  asked a;
  snprintf(url, sizeof url, "%s/fault/%s/v1", server_url, endless[i].faults);
  mend_model *model = open_model(loop, url, endless[i].limit);
  const size_t before = atomic_load(&held);
  atomic_store(&most_held, before);
  begin_asking(&a, model, endless[i].stream);
  gate_await(&a.done, 1);
  settle(loop);
  const size_t most = atomic_load(&most_held) - before;
  cr_assert_str_eq(a.type, endless[i].type, "%s: %s, %s", url, a.type, a.message);
  cr_assert_not_null(strstr(a.message, endless[i].message), "%s: %s", url, a.message);
  cr_assert(most <= endless[i].bytes, "%s: %zu KiB of memory", url, most / KIB);
  mend_model_release(model);
  settle(loop);
}

Test(hostile_replies, without_end) {
  cr_assert_eq(
      curl_global_init_mem(CURL_GLOBAL_DEFAULT, count_malloc, count_free, count_realloc, count_strdup, count_calloc),
      CURLE_OK);
  world w;
  open_world(&w, OWN_THREAD);
  mend_test_faults *faults = mend_test_faults_start(NULL);
  for (size_t i = 0; i < sizeof endless / sizeof *endless; i++)
    check_endless(w.loop, mend_test_faults_url(faults), i);
  mend_test_faults_stop(faults);
  close_world(&w);
}

/* ---- What is hidden of what was said, and where there is no chain, too ---- */

Test(hostile_replies, what_is_hidden) {
  static const struct {
    const char *faults, *type, *message;
  } cases[] = {
      {"bad_key", "auth", "auth (HTTP status 401)"},
      {"forbidden", "auth", "auth (HTTP status 403)"},
      {"status=503,html", "html_page", "html_page (HTTP status 503)"},
      {"rate_limit", "rate_limit", "openai: HTTP status 429: "},
  };
  world w;
  open_world(&w, OWN_THREAD);
  mend_test_faults *faults = mend_test_faults_start(NULL);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char url[128];
    asked a;
    snprintf(url, sizeof url, "%s/fault/%s/v1", mend_test_faults_url(faults), cases[i].faults);
    mend_model *model = open_model(w.loop, url, 0);
    begin_asking(&a, model, true);
    gate_await(&a.done, 1);
    settle(w.loop);
    cr_assert_str_eq(a.type, cases[i].type, "%s: %s", url, a.message);
    cr_assert(strncmp(a.message, cases[i].message, strlen(cases[i].message)) == 0, "%s: %s", url, a.message);
    mend_model_release(model);
    settle(w.loop);
  }
  mend_test_faults_stop(faults);
  close_world(&w);
}

/* ---- A byte a second, by a clock that has not the time to wait ---- */

#define HEAD "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
#define DELTA "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n" /* in 48 seconds */

static const struct {
  const char *at_once, *slowly; /* the second over and over */
  unsigned seconds;             /* until it is given up */
  const char *type, *message;
} slow[] = {
    {"", HEAD, 120, "first_content_timeout", "no content within first_content_s"},
    {HEAD, ": nothing\n", 120, "first_content_timeout", "no content within first_content_s"},
    {HEAD DELTA, ": nothing\n", 60, "idle_timeout", "no content for idle_s"},
    {HEAD DELTA, "data: {\"choices\":[{\"delta\":{}, \"more\": 123456789}]}\n\n", 60, "idle_timeout",
     "no content for idle_s"},
    {HEAD DELTA, DELTA, 900, "total_timeout", "not complete within total_s"},
};

static bool has_ended(asked *a) {
  pthread_mutex_lock(&a->done.mutex);
  const bool ended = a->done.stage == 1;
  pthread_mutex_unlock(&a->done.mutex);
  return ended;
}

/* Returns after how many seconds it ended. */
static unsigned send_slowly(world *w, asked *a, int fd, const char *slowly) {
  unsigned seconds = 0;
  for (const char *place = slowly; !has_ended(a) && seconds < 1000; seconds++) {
    send_all(fd, place++, 1);
    if (*place == '\0') place = slowly;
    settle(w->loop);
    cr_assert_eq(mend_clock_advance(w->clock, MEND_SECOND_NS), MEND_OK);
  }
  return seconds;
}

static void check_slow(size_t i) {
  world w;
  asked a;
  unsigned port;
  char url[64];
  connection c = {.len = 0};
  open_world(&w, OWN_THREAD_VIRTUAL);
  const int listener = listen_on_loopback(&port);
  snprintf(url, sizeof url, "http://127.0.0.1:%u/v1", port);
  mend_model *model = open_model(w.loop, url, 0);
  begin_asking(&a, model, true);
  c.fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  cr_assert(read_request(&c));
  send_all(c.fd, slow[i].at_once, strlen(slow[i].at_once));
  settle(w.loop);
  const unsigned seconds = send_slowly(&w, &a, c.fd, slow[i].slowly);
  cr_assert(seconds == slow[i].seconds || seconds == slow[i].seconds + 1, "case %zu: after %u seconds", i, seconds);
  cr_assert_str_eq(a.type, slow[i].type, "case %zu: %s, %s", i, a.type, a.message);
  cr_assert_not_null(strstr(a.message, slow[i].message), "case %zu: %s", i, a.message);
  cr_assert_eq(a.after_content, strstr(slow[i].at_once, DELTA) != NULL, "case %zu", i);
  read_until_closed(c.fd);
  close(c.fd);
  close(listener);
  settle(w.loop);
  mend_model_release(model);
  settle(w.loop);
  close_world(&w);
}

Test(hostile_replies, a_byte_a_second) {
  for (size_t i = 0; i < sizeof slow / sizeof *slow; i++)
    check_slow(i);
}
