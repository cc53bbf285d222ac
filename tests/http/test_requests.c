/* What is not sent: bad URLs, methods, headers and options, and what is said of them. */
#include "http/client_world.h"

#include <malloc.h>

static const struct {
  const char *url, *method, *name, *value;
  bool allow_http;
  const char *message; /* how it begins; NULL: it is sent */
} cases[] = {
    {"http://127.0.0.1:1/", "GET", "a", "b", false, NULL},
    {"http://127.9.9.9:1/", "GET", "a", "b", false, NULL},
    {"http://localhost:1/", "GET", "a", "b", false, NULL},
    {"http://[::1]:1/", "GET", "a", "b", false, NULL},
    {"http://LOCALhost:1/", "GET", "a", "b", false, NULL},
    {"http://127.1:1/", "GET", "a", "b", false, NULL},
    {"http://2130706433:1/", "GET", "a", "b", false, NULL},
    {"http://0x7f.0.0.1:1/", "GET", "a", "b", false, NULL},
    {"http://[0:0:0:0:0:0:0:1]:1/", "GET", "a", "b", false, NULL},
    {"http://[::ffff:127.0.0.1]:1/", "GET", "a", "b", false, NULL},
    {"http://[::1%25lo]:1/", "GET", "a", "b", false, NULL},
    {"http://localhost.:1/", "GET", "a", "b", false,
     "plain http to localhost., which is not this machine, was not allowed"},
    {"http://0.0.0.0:1/", "GET", "a", "b", false, "plain http to 0.0.0.0, which is not this machine, was not allowed"},
    {"http://128.1:1/", "GET", "a", "b", false, "plain http to 128.0.0.1, which is not this machine, was not allowed"},
    {"http://[::2]:1/", "GET", "a", "b", false, "plain http to [::2], which is not this machine, was not allowed"},
    {"http://[::ffff:10.0.0.1]:1/", "GET", "a", "b", false,
     "plain http to [::ffff:10.0.0.1], which is not this machine, was not allowed"},
    {"http://[::1", "GET", "a", "b", false, "no URL: "},
    {"HTTPS://127.0.0.1:1/", "GET", "a", "b", false, NULL},
    {"http://10.0.0.1/", "GET", "a", "b", false, "plain http to 10.0.0.1, which is not this machine, was not allowed"},
    {"http://127.0.0.1.example/", "GET", "a", "b", false,
     "plain http to 127.0.0.1.example, which is not this machine, was not allowed"},
    {"http://localhost.example/", "GET", "a", "b", false,
     "plain http to localhost.example, which is not this machine, was not allowed"},
    {"http://127.0.0.1:1/?plain", "GET", "a", "b", true, NULL},
    {"https://user:secret@example.com/", "GET", "a", "b", true,
     "the URL holds a user name or a password, which belong in headers"},
    {"https://user@example.com/", "GET", "a", "b", true,
     "the URL holds a user name or a password, which belong in headers"},
    {"ftp://example.com/", "GET", "a", "b", true, "the URL's scheme is ftp, not https or http"},
    {"file:///etc/passwd", "GET", "a", "b", true, "the URL's scheme is file, not https or http"},
    {"example.com/v1", "GET", "a", "b", true, "no URL: "},
    {"https://", "GET", "a", "b", true, "no URL: "},
    {"", "GET", "a", "b", true, "no URL: "},
    {"https://example.com/\r\nx: y", "GET", "a", "b", true, "no URL: "},
    {"http://127.0.0.1:1/", "", "a", "b", false, "the method is no word"},
    {"http://127.0.0.1:1/", "GET / HTTP/1.1\r\n", "a", "b", false, "the method is no word"},
    {"http://127.0.0.1:1/", "GET", "", "b", false, "the name of header 1 is no word"},
    {"http://127.0.0.1:1/", "GET", "a:", "b", false, "the name of header 1 is no word"},
    {"http://127.0.0.1:1/", "GET", "x-key", "secret\n", false,
     "the header x-key holds a line feed or another control character"},
    {"http://127.0.0.1:1/", "GET", "x-key", "secret\r\nx: y", false,
     "the header x-key holds a line feed or another control character"},
    {"http://127.0.0.1:1/", "GET", "a", "b\tc \xC3\xA4", false, NULL},
};

typedef struct attempt {
  size_t number;
  exchange exchange;
  mend_error error;
} attempt;

static void try_to_send(void *ctx) {
  attempt *a = ctx;
  mend__http_header header = {mend_str_from(cases[a->number].name), mend_str_from(cases[a->number].value)};
  const mend__http_request request = {
      .method = cases[a->number].method, .url = cases[a->number].url, .headers = &header, .header_count = 1};
  a->exchange.sent =
      mend__http_send(a->exchange.world->http, &request, &note_all, &a->exchange, &a->exchange.transfer, &a->error);
  mend__http_cancel(&a->exchange.transfer);
}

static void check_case(client_world *w, size_t number) {
  attempt a = {.number = number, .error = MEND_ERROR_INIT};
  set_exchange(&a.exchange, w, "/");
  mend__loop_call(w->world.loop, try_to_send, &a);
  const char *wanted = cases[number].message;
  cr_assert_eq(a.exchange.sent, wanted == NULL ? MEND_OK : MEND_EINVAL, "case %zu: %s", number, a.error.message);
  if (wanted != NULL)
    cr_assert_eq(strncmp(a.error.message, wanted, strlen(wanted)), 0, "%zu: %s", number, a.error.message);
  cr_assert_null(strstr(a.error.message, "secret"));
}

Test(http_requests, are_refused_with_a_sentence) {
  client_world w;
  open_client(&w, OWN_THREAD, NULL, 0);
  mend__http *strict = w.http, *lenient;
  const mend__http_options options = {.allocator = &w.world.allocator.base, .loop = w.world.loop, .allow_http = true};
  cr_assert_eq(mend__http_new(&options, &lenient, NULL), MEND_OK);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    w.http = cases[i].allow_http ? lenient : strict;
    check_case(&w, i);
  }
  w.http = strict;
  mend__http_release(lenient);
  close_client(&w);
}

static const struct {
  const char *proxy, *ca_file;
  mend_status status;
  const char *message;
} options_cases[] = {
    {"http://user:secret@127.0.0.1:1", NULL, MEND_OK, ""},
    {"socks5://127.0.0.1:1", NULL, MEND_OK, ""},
    {"127.0.0.1:1", NULL, MEND_OK, ""},
    {"http://secret:x:y", NULL, MEND_EINVAL, "the proxy is no URL"},
    {NULL, "/nowhere/ca.pem", MEND_ENOENT, "/nowhere/ca.pem: No such file or directory"},
};

Test(http_requests, options_are_refused_with_a_sentence) {
  world w;
  open_world(&w, OWN_THREAD);
  for (size_t i = 0; i < sizeof options_cases / sizeof *options_cases; i++) {
    mend_error error = MEND_ERROR_INIT;
    mend__http *http = NULL;
    const mend__http_options options = {.allocator = &w.allocator.base,
                                        .loop = w.loop,
                                        .proxy = options_cases[i].proxy,
                                        .ca_file = options_cases[i].ca_file};
    cr_assert_eq(mend__http_new(&options, &http, &error), options_cases[i].status, "case %zu", i);
    cr_assert_str_eq(error.message, options_cases[i].message, "case %zu: %s", i, error.message);
    mend__http_release(http);
  }
  close_world(&w);
}

/* ---- What decides where a request goes: options, and never the environment ---- */

static const reply replies[] = {
    {"http://10.1.1.1/through", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nproxy", 0, KEEP},
    {"/ok", "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\ndirect", 0, KEEP}};

static void expect_body(client_world *w, const char *url, const char *body) {
  exchange e;
  set_exchange(&e, w, "/ok");
  if (url != NULL) e.request.url = url;
  send_exchange(&e);
  await_exchange(&e);
  cr_assert(body_is(&e, body), "%s: %s", e.request.url, e.message);
  finish_exchange(&e);
}

Test(http_requests, go_through_the_proxy_that_was_given) {
  client_world w;
  open_client(&w, OWN_THREAD_VIRTUAL, replies, 2);
  setenv("http_proxy", "http://127.0.0.1:1", 1);
  setenv("all_proxy", "http://127.0.0.1:1", 1);
  setenv("no_proxy", "*", 1);
  expect_body(&w, NULL, "direct");
  mend__http_release(w.http);
  char proxy[64];
  snprintf(proxy, sizeof proxy, "http://127.0.0.1:%u", w.server.port);
  const mend__http_options options = {
      .allocator = &w.world.allocator.base, .loop = w.world.loop, .proxy = proxy, .allow_http = true};
  cr_assert_eq(mend__http_new(&options, &w.http, NULL), MEND_OK);
  expect_body(&w, "http://10.1.1.1/through", "proxy");
  close_client(&w);
}

static const struct {
  const char *url, *fault;
} nowhere[] = {
    {"https://name.invalid/", "dns"}, {"https://127.0.0.1:%u/ok", "connect_failed"}, /* no TLS there */
};

Test(http_requests, say_why_there_is_no_connection) {
  client_world w;
  open_client(&w, OWN_THREAD_VIRTUAL, replies, 2);
  for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++) {
    exchange e;
    set_exchange(&e, &w, "/");
    snprintf(e.url, sizeof e.url, nowhere[i].url, w.server.port);
    send_exchange(&e);
    await_exchange(&e);
    cr_assert_str_eq(e.fault, nowhere[i].fault, "%s: %s, %s", e.url, e.fault, e.message);
    finish_exchange(&e);
  }
  close_client(&w);
}

/* ---- Secrets are gone before their memory is free ---- */

static atomic_uint left_behind;

static void *allocate(void *ctx, size_t size) {
  (void)ctx;
  return calloc(size / 16 + 1, 16); /* else what another block left could be found in it, to its last unit */
}

static void *reallocate(void *ctx, void *pointer, size_t size) {
  void *longer = allocate(ctx, size);
  if (pointer == NULL || longer == NULL) return longer;
  const size_t before = malloc_usable_size(pointer);
  memcpy(longer, pointer, before < size ? before : size);
  free(pointer);
  return longer;
}

static void release(void *ctx, void *pointer) {
  (void)ctx;
  if (memmem(pointer, malloc_usable_size(pointer), "s3cret", 6) != NULL) atomic_fetch_add(&left_behind, 1);
  free(pointer);
}

static const mend_allocator looking = {
    .size = sizeof looking, .allocate = allocate, .reallocate = reallocate, .release = release};

Test(http_requests, leave_no_secrets_in_memory) {
  client_world w;
  open_client(&w, OWN_THREAD, replies, 2);
  mend__http_release(w.http);
  char proxy[64];
  snprintf(proxy, sizeof proxy, "http://me:s3cret@127.0.0.1:%u", w.server.port);
  const mend__http_options options = {.allocator = &looking, .loop = w.world.loop, .proxy = proxy, .allow_http = true};
  cr_assert_eq(mend__http_new(&options, &w.http, NULL), MEND_OK);
  exchange e;
  set_exchange(&e, &w, "/");
  const mend__http_header header = {MEND_STR("x-api-key"), MEND_STR("s3cret")};
  e.request.url = "http://10.1.1.1/through";
  e.request.headers = &header;
  e.request.header_count = 1;
  send_exchange(&e);
  await_exchange(&e);
  cr_assert(body_is(&e, "proxy"), "%s", e.message);
  cr_assert_not_null(strstr(w.server.last_request, "x-api-key: s3cret"));
  finish_exchange(&e);
  close_client(&w);
  cr_assert_eq(atomic_load(&left_behind), 0u);
}
