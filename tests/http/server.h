/* A server on 127.0.0.1 for tests: every path has its reply, and a way to go on. */
#ifndef MEND_TESTS_HTTP_SERVER_H
#define MEND_TESTS_HTTP_SERVER_H

#include "loop/world.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

typedef enum serving {
  KEEP,       /* the next request */
  CLOSE,      /* the connection */
  RESET,      /* the connection, hard */
  HOLD,       /* until the client goes */
  DRIP,       /* sends byte by byte, then KEEP */
  OVER_AGAIN, /* sends the last part of the reply, behind "|", until the client goes */
} serving;

typedef struct reply {
  const char *path, *text;
  size_t len; /* 0: that of the text */
  serving then;
} reply;

enum { CONNECTIONS_MAX = 512, REQUEST_MAX = 16 * 1024 };

typedef struct server {
  const reply *replies;
  size_t reply_count;
  int fd;
  unsigned port;
  pthread_t acceptor;
  gate holds; /* how often HOLD has sent its reply */
  gate held;  /* how many clients have gone from there */
  atomic_uint connections;
  pthread_mutex_t lock;
  char last_request[REQUEST_MAX + 1];
} server;

typedef struct connection {
  server *of;
  int fd;
  char request[REQUEST_MAX + 1];
  size_t len;
} connection;

static inline bool send_all(int fd, const char *bytes, size_t len) {
  for (ssize_t sent; len > 0; bytes += sent, len -= (size_t)sent) {
    sent = send(fd, bytes, len, MSG_NOSIGNAL);
    if (sent <= 0) return false;
  }
  return true;
}

static inline void read_until_closed(int fd) {
  char rest[4096];
  while (read(fd, rest, sizeof rest) > 0) {
  }
}

static inline size_t body_len_of(const char *request) {
  const char *field = strcasestr(request, "content-length:");
  return field != NULL ? strtoul(field + strlen("content-length:"), NULL, 10) : 0;
}

/* The next request, whole; false when the client has gone or speaks something else. */
static inline bool read_request(connection *c) {
  c->len = 0;
  for (;;) {
    const ssize_t got = read(c->fd, c->request + c->len, REQUEST_MAX - c->len);
    if (got <= 0 || (c->len == 0 && c->request[0] < 'A')) return false;
    c->len += (size_t)got;
    c->request[c->len] = '\0';
    const char *end = strstr(c->request, "\r\n\r\n");
    if (end != NULL && c->len >= (size_t)(end + 4 - c->request) + body_len_of(c->request)) return true;
  }
}

static inline const reply *find_reply(const server *s, const char *request) {
  const char *path = strchr(request, ' ') + 1;
  const size_t len = strcspn(path, " ");
  for (size_t i = 0; i < s->reply_count; i++) {
    if (strncmp(s->replies[i].path, path, len) == 0 && s->replies[i].path[len] == '\0') return &s->replies[i];
  }
  return NULL;
}

static inline void note_request(server *s, const char *request) {
  pthread_mutex_lock(&s->lock);
  strcpy(s->last_request, request);
  pthread_mutex_unlock(&s->lock);
}

static inline void count_at(gate *g) {
  pthread_mutex_lock(&g->mutex);
  g->stage++;
  pthread_cond_broadcast(&g->changed);
  pthread_mutex_unlock(&g->mutex);
}

static inline void reset_when_closed(int fd) {
  const struct linger at_once = {1, 0};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

static inline bool drip(int fd, const char *bytes, size_t len) {
  bool ok = true;
  for (size_t i = 0; ok && i < len; i++)
    ok = send_all(fd, bytes + i, 1);
  return ok;
}

static inline void send_over_again(int fd, const char *text) {
  const char *part = strchr(text, '|');
  bool ok = send_all(fd, text, (size_t)(part - text));
  while (ok)
    ok = send_all(fd, part + 1, strlen(part + 1));
}

/* Whether the connection goes on. */
static inline bool answer(connection *c, const reply *r) {
  const size_t len = r->len != 0 ? r->len : strlen(r->text);
  switch (r->then) {
  case KEEP: return send_all(c->fd, r->text, len);
  case DRIP: return drip(c->fd, r->text, len);
  case CLOSE: send_all(c->fd, r->text, len); return false;
  case RESET:
    send_all(c->fd, r->text, len);
    reset_when_closed(c->fd);
    return false;
  case HOLD:
    send_all(c->fd, r->text, len);
    count_at(&c->of->holds);
    read_until_closed(c->fd);
    count_at(&c->of->held);
    return false;
  case OVER_AGAIN: send_over_again(c->fd, r->text); return false;
  }
  return false;
}

static inline void *serve_connection(void *ctx) {
  connection *c = ctx;
  const int on = 1;
  setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  while (read_request(c)) {
    const reply *found = find_reply(c->of, c->request);
    note_request(c->of, c->request);
    if (found == NULL || !answer(c, found)) break;
  }
  close(c->fd);
  free(c);
  return NULL;
}

/* Until the listening socket is shut down; then waits for the clients to go. */
static inline void *accept_connections(void *ctx) {
  server *s = ctx;
  pthread_t threads[CONNECTIONS_MAX];
  size_t count = 0;
  for (int fd; count < CONNECTIONS_MAX && (fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC)) >= 0; count++) {
    connection *c = calloc(1, sizeof *c);
    c->of = s;
    c->fd = fd;
    atomic_fetch_add(&s->connections, 1);
    if (pthread_create(&threads[count], NULL, serve_connection, c) != 0) abort();
  }
  for (size_t i = 0; i < count; i++)
    pthread_join(threads[i], NULL);
  return NULL;
}

static inline int listen_on_loopback(unsigned *ret_port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t len = sizeof address;
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  cr_assert(fd >= 0);
  cr_assert_eq(bind(fd, (struct sockaddr *)&address, len), 0);
  cr_assert_eq(listen(fd, CONNECTIONS_MAX), 0);
  cr_assert_eq(getsockname(fd, (struct sockaddr *)&address, &len), 0);
  *ret_port = ntohs(address.sin_port);
  return fd;
}

static inline void start_server(server *s, const reply *replies, size_t count) {
  *s = (server){.replies = replies,
                .reply_count = count,
                .holds = GATE_INIT,
                .held = GATE_INIT,
                .lock = PTHREAD_MUTEX_INITIALIZER};
  s->fd = listen_on_loopback(&s->port);
  cr_assert_eq(pthread_create(&s->acceptor, NULL, accept_connections, s), 0);
}

/* When all clients have gone. */
static inline void stop_server(server *s) {
  shutdown(s->fd, SHUT_RDWR);
  pthread_join(s->acceptor, NULL);
  close(s->fd);
}

#endif
