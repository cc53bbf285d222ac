/* A host with several addresses, of which some do not answer or refuse; and that libevent has nothing to do with a
 * descriptor any more when curl closes it. Both are found out by standing between the two and the system. */
#include "http/client_world.h"

#include <errno.h>
#include <netdb.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

static const reply replies[] = {{"/ok", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 0, KEEP}};

/* ---- What names mean ---- */

enum { SERVER = 1, SILENT = 2, NOBODY = 3, ADDRESSES_MAX = 2 }; /* 127.0.0.1 and so on */
enum { UNREACHABLE = 0xffffff };                                /* the kernel refuses at once */

static const struct {
  int addresses[ADDRESSES_MAX]; /* of the host; 0: no more */
  bool cancels;                 /* while there is no connection */
  const char *fault;
} cases[] = {
    {{SERVER}, false, ""},
    {{NOBODY}, false, "refused"},
    {{NOBODY, SERVER}, false, ""},
    {{SILENT}, true, ""},
    {{SILENT, SERVER}, true, ""},
    {{SILENT, SERVER}, false, ""},
    {{SILENT, NOBODY}, false, "refused"},
    {{SILENT, UNREACHABLE}, false, "connect_failed"},
};
enum { CASES = sizeof cases / sizeof *cases };

typedef struct entry {
  struct addrinfo info;
  struct sockaddr_in address;
} entry;

static struct addrinfo *entry_new(int number, const char *port, struct addrinfo *next) {
  entry *e = calloc(1, sizeof *e);
  e->address = (struct sockaddr_in){.sin_family = AF_INET,
                                    .sin_port = htons((uint16_t)strtoul(port, NULL, 10)),
                                    .sin_addr.s_addr = htonl(UINT32_C(0x7f000000) + (uint32_t)number)};
  e->info = (struct addrinfo){.ai_family = AF_INET,
                              .ai_socktype = SOCK_STREAM,
                              .ai_protocol = IPPROTO_TCP,
                              .ai_addr = (struct sockaddr *)&e->address,
                              .ai_addrlen = sizeof e->address,
                              .ai_next = next};
  return &e->info;
}

/* In the place of the C library's. */
int getaddrinfo(const char *name, const char *port, const struct addrinfo *hints, struct addrinfo **ret_info) {
  (void)hints;
  const size_t number = strtoul(name + strlen("case-"), NULL, 10);
  *ret_info = NULL;
  for (int i = ADDRESSES_MAX - 1; i >= 0; i--) {
    if (cases[number].addresses[i] != 0) *ret_info = entry_new(cases[number].addresses[i], port, *ret_info);
  }
  return 0;
}

void freeaddrinfo(struct addrinfo *info) {
  while (info != NULL) {
    struct addrinfo *next = info->ai_next;
    free(info); /* the first member of its entry */
    info = next;
  }
}

/* ---- What libevent asks of the system ---- */

static atomic_uint closed_ones; /* calls about a descriptor that is closed, or was and is another one now */

int epoll_ctl(int set, int operation, int fd, struct epoll_event *event) {
  const int result = (int)syscall(SYS_epoll_ctl, set, operation, fd, event);
  if (result < 0 && (errno == EBADF || errno == ENOENT)) atomic_fetch_add(&closed_ones, 1);
  return result;
}

/* ---- An address that says nothing, because somebody waits there already, until it refuses ---- */

typedef struct silent_place {
  int fd, waiting;
} silent_place;

static void open_silent(silent_place *s, unsigned port) {
  const struct sockaddr_in address = {.sin_family = AF_INET,
                                      .sin_port = htons((uint16_t)port),
                                      .sin_addr.s_addr = htonl(UINT32_C(0x7f000000) + SILENT)};
  s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  cr_assert_eq(bind(s->fd, (const struct sockaddr *)&address, sizeof address), 0);
  cr_assert_eq(listen(s->fd, 0), 0);
  s->waiting = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  cr_assert_eq(connect(s->waiting, (const struct sockaddr *)&address, sizeof address), 0);
}

/* Whoever waits is refused when the kernel asks again, after a second. */
static void close_silent(silent_place *s) {
  close(s->fd);
  close(s->waiting);
}

/* ---- All at once ---- */

static size_t count_connecting(const client_world *w) {
  static const char waits[] = "(HTTP), waits to be written";
  size_t count = 0;
  char *text;
  cr_assert_eq(mend_loop_dump(w->world.loop, NULL, &text), MEND_OK);
  for (const char *place = text; (place = strstr(place, waits)) != NULL; place += sizeof waits)
    count++;
  mend_free(NULL, text);
  return count;
}

static void send_case(client_world *w, exchange *e, size_t i) {
  set_exchange(e, w, "/ok");
  snprintf(e->url, sizeof e->url, "http://case-%zu.test:%u/ok", i, w->server.port);
  send_exchange(e);
}

static void cancel_now(void *ctx) { mend__http_cancel(&((exchange *)ctx)->transfer); }

static void check_case(exchange *e, size_t i) {
  if (!cases[i].cancels) await_exchange(e);
  const bool answers = !cases[i].cancels && cases[i].fault[0] == '\0';
  cr_assert_str_eq(e->fault, cases[i].fault, "case %zu: %s, %s", i, e->fault, e->message);
  cr_assert_eq(e->ends, cases[i].cancels ? 0u : 1u, "case %zu", i);
  cr_assert(body_is(e, answers ? "hello" : ""), "case %zu", i);
  finish_exchange(e);
}

/* Those from `first` on, all at once. */
static void check_from(client_world *w, size_t first) {
  exchange exchanges[CASES];
  silent_place silent;
  size_t waiting = 0;
  open_silent(&silent, w->server.port);
  for (size_t i = first; i < CASES; i++) {
    send_case(w, &exchanges[i], i);
    waiting += cases[i].addresses[0] == SILENT;
  }
  while (count_connecting(w) < waiting)
    sched_yield();
  for (size_t i = first; i < CASES; i++) {
    if (cases[i].cancels) mend__loop_call(w->world.loop, cancel_now, &exchanges[i]);
  }
  close_silent(&silent);
  for (size_t i = first; i < CASES; i++)
    check_case(&exchanges[i], i);
}

static void open_lenient_client(client_world *w, world_kind kind) {
  open_client(w, kind, replies, 1);
  mend__http_release(w->http);
  const mend__http_options options = {.allocator = &w->world.allocator.base, .loop = w->world.loop, .allow_http = true};
  cr_assert_eq(mend__http_new(&options, &w->http, NULL), MEND_OK);
}

Test(http_addresses, are_tried_in_turn) {
  static const struct {
    world_kind kind;
    size_t first; /* the last one alone: nobody else's bytes wake the loop for it */
  } rounds[] = {{OWN_THREAD, 0}, {DISPATCHED_VIRTUAL, 0}, {OWN_THREAD, CASES - 1}};
  for (size_t i = 0; i < sizeof rounds / sizeof *rounds; i++) {
    client_world w;
    open_lenient_client(&w, rounds[i].kind);
    check_from(&w, rounds[i].first);
    close_client(&w);
  }
  cr_assert_eq(atomic_load(&closed_ones), 0u, "libevent was late %u times", atomic_load(&closed_ones));
}
