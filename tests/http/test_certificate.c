/* Whom a client trusts. The server is openssl's; where that program is not installed the test says so. */
#include "http/client_world.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

typedef struct secure_server {
  char folder[32], certificate[64], key[64];
  pid_t pid;
  unsigned port;
} secure_server;

static bool run(const char *command) {
  const int status = system(command);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Signed by itself, for the address and not for any name. */
static void make_certificate(secure_server *s) {
  char command[512];
  strcpy(s->folder, "/tmp/mend-test-XXXXXX");
  cr_assert_not_null(mkdtemp(s->folder));
  snprintf(s->certificate, sizeof s->certificate, "%s/cert.pem", s->folder);
  snprintf(s->key, sizeof s->key, "%s/key.pem", s->folder);
  snprintf(command, sizeof command,
           "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=mend-test "
           "-addext subjectAltName=IP:127.0.0.1 -keyout %s -out %s 2>/dev/null",
           s->key, s->certificate);
  cr_assert(run(command), "%s", command);
}

static void become_server(const secure_server *s, int out) {
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* it does not outlive a test that failed */
  dup2(out, STDOUT_FILENO);
  execlp("openssl", "openssl", "s_server", "-accept", "127.0.0.1:0", "-www", "-cert", s->certificate, "-key", s->key,
         (char *)NULL);
  _exit(127);
}

/* It prints ACCEPT and where. */
static unsigned read_port(int in) {
  char line[256];
  unsigned port = 0;
  FILE *said = fdopen(in, "r");
  while (port == 0 && fgets(line, sizeof line, said) != NULL)
    sscanf(line, "ACCEPT 127.0.0.1:%u", &port);
  fclose(said);
  return port;
}

static void start_secure_server(secure_server *s) {
  int ends[2];
  make_certificate(s);
  cr_assert_eq(pipe(ends), 0);
  s->pid = fork();
  cr_assert(s->pid >= 0);
  if (s->pid == 0) become_server(s, ends[1]);
  close(ends[1]);
  s->port = read_port(ends[0]);
  cr_assert(s->port != 0, "openssl s_server does not say where it listens");
}

static void stop_secure_server(secure_server *s) {
  kill(s->pid, SIGTERM);
  waitpid(s->pid, NULL, 0);
  unlink(s->certificate);
  unlink(s->key);
  rmdir(s->folder);
}

static const struct {
  bool knows_certificate;
  const char *host, *fault;
} cases[] = {
    {true, "127.0.0.1", ""},
    {false, "127.0.0.1", "certificate"},
    {true, "localhost", "certificate"},
};

static void check_case(const secure_server *s, size_t i) {
  client_world w = {.http = NULL};
  open_world(&w.world, OWN_THREAD_VIRTUAL);
  const mend__http_options options = {.allocator = &w.world.allocator.base,
                                      .loop = w.world.loop,
                                      .ca_file = cases[i].knows_certificate ? s->certificate : NULL};
  cr_assert_eq(mend__http_new(&options, &w.http, NULL), MEND_OK);
  exchange e;
  set_exchange(&e, &w, "/");
  snprintf(e.url, sizeof e.url, "https://%s:%u/", cases[i].host, s->port);
  send_exchange(&e);
  await_exchange(&e);
  cr_assert_str_eq(e.fault, cases[i].fault, "case %zu: %s, %s", i, e.fault, e.message);
  cr_assert_eq(e.status, e.fault[0] == '\0' ? 200u : 0u, "case %zu", i);
  finish_exchange(&e);
  mend__http_release(w.http);
  flush(w.world.loop);
  close_world(&w.world);
}

Test(http_certificate, is_verified) {
  if (!run("command -v openssl >/dev/null")) {
    puts("skipped: openssl is not installed");
    return;
  }
  secure_server s;
  start_secure_server(&s);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    check_case(&s, i);
  stop_secure_server(&s);
}
