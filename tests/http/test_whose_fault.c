/* What is not the server's fault: no descriptor is left here, a proxy is dead or lets nobody through. */
#include "http/client_world.h"

#include <fcntl.h>
#include <netdb.h>
#include <sys/resource.h>

static const reply replies[] = {
    {"/ok", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 0, KEEP},
    {"provider.test:443", "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", 0, KEEP},
};
enum { REPLIES = sizeof replies / sizeof *replies };

/* In place of the one that is open. */
static void open_client_by(client_world *w, const char *proxy) {
  mend__http_release(w->http);
  const mend__http_options options = {
      .allocator = &w->world.allocator.base, .loop = w->world.loop, .proxy = proxy, .allow_http = true};
  cr_assert_eq(mend__http_new(&options, &w->http, NULL), MEND_OK);
}

static void ask(client_world *w, exchange *e, const char *host, bool fresh) {
  set_exchange(e, w, "/ok");
  if (host != NULL) snprintf(e->url, sizeof e->url, "http://%s:%u/ok", host, w->server.port);
  e->request.fresh = fresh;
  send_exchange(e);
  await_exchange(e);
}

/* In the place of the C library's, which would ask a network: a resolver needs a descriptor, and knows no name. */
int getaddrinfo(const char *name, const char *port, const struct addrinfo *hints, struct addrinfo **ret_info) {
  (void)name, (void)port, (void)hints;
  *ret_info = NULL;
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return EAI_AGAIN;
  close(fd);
  return EAI_NONAME;
}

/* ---- Descriptors ---- */

enum { FILES_MAX = 64 };

typedef struct shortage {
  struct rlimit before;
  int files[FILES_MAX];
  size_t count;
} shortage;

static void begin_shortage(shortage *s) {
  cr_assert_eq(getrlimit(RLIMIT_NOFILE, &s->before), 0);
  const struct rlimit low = {FILES_MAX, s->before.rlim_max};
  cr_assert_eq(setrlimit(RLIMIT_NOFILE, &low), 0);
  s->count = 0;
  for (int fd; (fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;)
    s->files[s->count++] = fd;
}

static void end_shortage(shortage *s) {
  while (s->count > 0)
    close(s->files[--s->count]);
  cr_assert_eq(setrlimit(RLIMIT_NOFILE, &s->before), 0);
}

/* Behind the shortage nothing connects: the server had none to accept with either. */
Test(http_whose_fault, is_it_that_no_descriptor_is_left) {
  static const struct {
    const char *host; /* NULL: the server's address */
    bool fresh, short_of;
    const char *fault;
  } steps[] = {
      {NULL, false, false, ""},
      {NULL, false, true, ""}, /* on the connection that there is */
      {NULL, true, true, "no_descriptors"},
      {"name.test", true, true, "no_descriptors"},
      {"name.test", true, false, "dns"},
  };
#ifdef MEND_TEST_MEMCHECK
  puts("skipped: memcheck opens descriptors of its own beyond the limit");
  return;
#endif
  client_world w;
  open_client(&w, OWN_THREAD, replies, REPLIES);
  open_client_by(&w, NULL);
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    exchange e;
    shortage s;
    if (steps[i].short_of) begin_shortage(&s);
    ask(&w, &e, steps[i].host, steps[i].fresh);
    if (steps[i].short_of) end_shortage(&s);
    cr_assert_str_eq(e.fault, steps[i].fault, "step %zu: %s, %s", i, e.fault, e.message);
    if (steps[i].short_of && steps[i].fresh)
      cr_assert(strstr(e.message, "too many files are open") != NULL, "%s", e.message);
    finish_exchange(&e);
  }
  close_client(&w);
}

/* ---- Proxies ---- */

static const struct {
  bool is_dead;
  const char *url; /* NULL: of the server */
  const char *fault, *message;
} ways[] = {
    {true, NULL, "refused", "the connection to the proxy was refused"},
    {true, "https://provider.test", "refused", "the connection to the proxy was refused"},
    {false, "https://provider.test", "connect_failed", "the proxy makes no connection to the host"},
};

Test(http_whose_fault, is_it_the_proxys) {
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    client_world w;
    exchange e;
    unsigned dead_port;
    char proxy[64];
    close(listen_on_loopback(&dead_port));
    open_client(&w, OWN_THREAD, replies, REPLIES);
    snprintf(proxy, sizeof proxy, "http://127.0.0.1:%u", ways[i].is_dead ? dead_port : w.server.port);
    open_client_by(&w, proxy);
    set_exchange(&e, &w, "/ok");
    if (ways[i].url != NULL) snprintf(e.url, sizeof e.url, "%s", ways[i].url);
    send_exchange(&e);
    await_exchange(&e);
    cr_assert_str_eq(e.fault, ways[i].fault, "way %zu: %s, %s", i, e.fault, e.message);
    cr_assert(strncmp(e.message, ways[i].message, strlen(ways[i].message)) == 0, "way %zu: %s", i, e.message);
    finish_exchange(&e);
    close_client(&w);
  }
}
