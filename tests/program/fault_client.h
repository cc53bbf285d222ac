/* A client of plain sockets for the fault server, which sees every byte and how the server leaves. A header, because
 * each test is one source. */
#ifndef MEND_TEST_FAULT_CLIENT_H
#define MEND_TEST_FAULT_CLIENT_H

#include "support/fault_server.h"
#include "support/mend_test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

typedef enum leaving { AT_END, AT_RESET, STILL_THERE } leaving;

typedef struct client {
  int fd;
  char *text; /* what came, with a NUL behind */
  size_t len, capacity;
  leaving left;
} client;

static inline client client_connect(const mend_test_faults *server) {
  client made = {.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), .capacity = 1 << 16, .left = STILL_THERE};
  const struct sockaddr_in address = {.sin_family = AF_INET,
                                      .sin_port = htons((uint16_t)mend_test_faults_port(server)),
                                      .sin_addr = {htonl(INADDR_LOOPBACK)}};
  cr_assert(made.fd >= 0);
  cr_assert_eq(connect(made.fd, (const struct sockaddr *)&address, sizeof address), 0);
  made.text = calloc(1, made.capacity);
  cr_assert_not_null(made.text);
  return made;
}

static inline void client_close(client *of) {
  close(of->fd);
  free(of->text);
}

static inline void client_send(const client *of, const char *text) {
  const size_t len = strlen(text);
  cr_assert_eq(send(of->fd, text, len, MSG_NOSIGNAL), (ssize_t)len);
}

/* Reads once. False: nothing more will come. */
static inline bool client_read(client *of) {
  struct pollfd ready = {of->fd, POLLIN, 0};
  cr_assert_eq(poll(&ready, 1, 60000), 1, "nothing came for a minute, after: %s", of->text);
  if (of->len + 1 == of->capacity) {
    of->capacity *= 2;
    of->text = realloc(of->text, of->capacity);
    cr_assert_not_null(of->text);
  }
  const ssize_t got = recv(of->fd, of->text + of->len, of->capacity - of->len - 1, 0);
  if (got <= 0) {
    of->left = got == 0 ? AT_END : AT_RESET;
    cr_assert(got == 0 || errno == ECONNRESET);
    return false;
  }
  of->len += (size_t)got;
  of->text[of->len] = '\0';
  return true;
}

/* Until the server closes, or, when there is such a text, until it has come. */
static inline void client_read_until(client *of, const char *text) {
  while (text == NULL || memmem(of->text, of->len, text, strlen(text)) == NULL) {
    if (!client_read(of)) return;
  }
}

#endif
