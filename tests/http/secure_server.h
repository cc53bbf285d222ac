/* Servers with TLS on 127.0.0.1, as child processes: openssl's, and front.js before a plain one. They do not outlive
 * the test. */
#ifndef MEND_TESTS_HTTP_SECURE_SERVER_H
#define MEND_TESTS_HTTP_SECURE_SERVER_H

#include "support/mend_test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static inline bool run_command(const char *command) {
  const int status = system(command);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Says so when it is not. */
static inline bool is_installed(const char *program) {
  char command[64];
  snprintf(command, sizeof command, "command -v %s >/dev/null", program);
  const bool found = run_command(command);
  if (!found) printf("skipped: %s is not installed\n", program);
  return found;
}

/* ---- Certificates ---- */

typedef struct certificate {
  char folder[32];
  char file[48], key[48]; /* in the folder */
} certificate;

/* Signed by itself, for the address and not for any name; days: how long it is good from now on, or -1 for none. */
static inline void make_certificate(certificate *c, int days) {
  char command[1024];
  strcpy(c->folder, "/tmp/mend-test-XXXXXX");
  cr_assert_not_null(mkdtemp(c->folder));
  snprintf(c->file, sizeof c->file, "%.31s/cert.pem", c->folder);
  snprintf(c->key, sizeof c->key, "%.31s/key.pem", c->folder);
  snprintf(command, sizeof command,
           "(cd %s && openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=mend-test "
           "-addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out request.pem && openssl x509 -req -in request.pem "
           "-days %d -copy_extensions copy -signkey key.pem -out cert.pem && rm request.pem) 2>/dev/null",
           c->folder, days);
  cr_assert(run_command(command), "%s", command);
}

static inline void remove_certificate(const certificate *c) {
  unlink(c->file);
  unlink(c->key);
  rmdir(c->folder);
}

/* ---- Servers ---- */

typedef struct secure_server {
  pid_t pid;
  unsigned port;
} secure_server;

/* Each prints ACCEPT and where. */
static inline unsigned read_port(int in) {
  char line[256];
  unsigned port = 0;
  FILE *said = fdopen(in, "r");
  while (port == 0 && fgets(line, sizeof line, said) != NULL)
    sscanf(line, "ACCEPT 127.0.0.1:%u", &port);
  fclose(said);
  return port;
}

static inline void become(const char *const *command, int out) {
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* it does not outlive a test that failed */
  dup2(out, STDOUT_FILENO);
  dup2(open("/dev/null", O_WRONLY), STDERR_FILENO); /* openssl tells there of every client that does not trust it */
  execvp(command[0], (char *const *)command);
  _exit(127);
}

static inline void start_command(secure_server *s, const char *const *command) {
  int ends[2];
  cr_assert_eq(pipe(ends), 0);
  s->pid = fork();
  cr_assert(s->pid >= 0);
  if (s->pid == 0) become(command, ends[1]);
  close(ends[1]);
  s->port = read_port(ends[0]);
  cr_assert(s->port != 0, "%s does not say where it listens", command[0]);
}

/* A page for whoever asks with GET. */
static inline void start_secure_server(secure_server *s, const certificate *c) {
  const char *const command[] = {"openssl", "s_server", "-accept", "127.0.0.1:0", "-www",
                                 "-cert",   c->file,    "-key",    c->key,        NULL};
  start_command(s, command);
}

/* Before the plain server on that port, with HTTP/2. Needs node. */
static inline void start_front(secure_server *s, const certificate *c, unsigned plain_port) {
  char port[16];
  snprintf(port, sizeof port, "%u", plain_port);
  const char *const command[] = {"node", MEND_TEST_DATA "/../http/front.js", port, c->file, c->key, NULL};
  start_command(s, command);
}

static inline void stop_secure_server(const secure_server *s) {
  kill(s->pid, SIGKILL);
  waitpid(s->pid, NULL, 0);
}

#endif
