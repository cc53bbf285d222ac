/* Whom a client trusts, and what it says of who it does not. */
#include "http/client_world.h"
#include "http/secure_server.h"

enum { GOOD, EXPIRED, SERVERS };

static const struct {
  int server;
  bool knows_certificate;
  const char *host, *fault, *message; /* message: is in what is told */
} cases[] = {
    {GOOD, true, "127.0.0.1", "", ""},
    {GOOD, false, "127.0.0.1", "certificate", "the server's certificate could not be verified: "},
    {GOOD, false, "127.0.0.1", "certificate", "self-signed certificate"},
    {GOOD, true, "localhost", "certificate", "matches target host name 'localhost'"},
    {EXPIRED, true, "127.0.0.1", "certificate", "certificate has expired"},
};

typedef struct servers {
  certificate certificates[SERVERS];
  secure_server list[SERVERS];
} servers;

static void check_case(const servers *s, size_t i) {
  const int of = cases[i].server;
  client_world w = {.http = NULL};
  open_world(&w.world, OWN_THREAD_VIRTUAL);
  const mend__http_options options = {.allocator = &w.world.allocator.base,
                                      .loop = w.world.loop,
                                      .ca_file = cases[i].knows_certificate ? s->certificates[of].file : NULL};
  cr_assert_eq(mend__http_new(&options, &w.http, NULL), MEND_OK);
  exchange e;
  set_exchange(&e, &w, "/");
  snprintf(e.url, sizeof e.url, "https://%s:%u/", cases[i].host, s->list[of].port);
  send_exchange(&e);
  await_exchange(&e);
  cr_assert_str_eq(e.fault, cases[i].fault, "case %zu: %s, %s", i, e.fault, e.message);
  cr_assert_not_null(strstr(e.message, cases[i].message), "case %zu: %s", i, e.message);
  cr_assert_eq(e.status, e.fault[0] == '\0' ? 200u : 0u, "case %zu", i);
  cr_assert_eq(e.connected, e.fault[0] == '\0' ? 1u : 0u, "case %zu", i);
  finish_exchange(&e);
  mend__http_release(w.http);
  flush(w.world.loop);
  close_world(&w.world);
}

Test(http_certificate, is_verified) {
  servers s;
  if (!is_installed("openssl")) return;
  for (int i = 0; i < SERVERS; i++) {
    make_certificate(&s.certificates[i], i == EXPIRED ? -1 : 2);
    start_secure_server(&s.list[i], &s.certificates[i]);
  }
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    check_case(&s, i);
  for (int i = 0; i < SERVERS; i++) {
    stop_secure_server(&s.list[i]);
    remove_certificate(&s.certificates[i]);
  }
}
