/* Connections: kept, reused, found dead, refused; how requests look; many at once. */
#include "http/client_world.h"

static const reply replies[] = {
    {"/ok", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 0, KEEP},
    {"/reset", "", 0, RESET},
    {"/close", "", 0, CLOSE},
    {"/half", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", 0, CLOSE},
};
enum { REPLIES = sizeof replies / sizeof *replies };

/* ---- One after the other ---- */

static const struct {
  const char *path;
  bool fresh, reused;
  const char *fault;
  unsigned connections; /* that were made until then */
} steps[] = {
    {"/ok", false, false, "", 1},
    {"/ok", false, true, "", 1},
    {"/ok", true, false, "", 2}, /* fresh, though there is one */
    {"/ok", false, true, "", 2},
    {"/reset", false, true, "reset", 2}, /* nothing is sent again, so no connection is made */
    {"/reset", false, false, "reset", 3},
    {"/ok", false, false, "", 4},
    {"/close", false, true, "reset", 4}, /* as when the server gave it up meanwhile */
    {"/close", false, false, "closed", 5},
    {"/ok", false, false, "", 6},
    {"/half", false, true, "closed", 6},
    {"/ok", false, false, "", 7},
};

static void take_step(client_world *w, size_t i) {
  exchange e;
  set_exchange(&e, w, steps[i].path);
  e.request.fresh = steps[i].fresh;
  send_exchange(&e);
  await_exchange(&e);
  cr_assert_str_eq(e.fault, steps[i].fault, "step %zu: %s", i, e.fault);
  cr_assert_eq(e.reused, steps[i].reused, "step %zu", i);
  if (e.heads > 0) cr_assert_eq(e.head_reused, steps[i].reused, "step %zu", i);
  cr_assert_eq(atomic_load(&w->server.connections), steps[i].connections, "step %zu", i);
  finish_exchange(&e);
}

Test(http_connections, are_reused) {
  for (world_kind kind = 0; kind < WORLD_KINDS; kind++) {
    client_world w;
    open_client(&w, kind, replies, REPLIES);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
      take_step(&w, i);
    close_client(&w);
  }
}

Test(http_connections, are_refused) {
  client_world w;
  open_client(&w, OWN_THREAD, replies, REPLIES);
  unsigned port;
  close(listen_on_loopback(&port));
  exchange e;
  set_exchange(&e, &w, "/ok");
  snprintf(e.url, sizeof e.url, "http://localhost:%u/", port);
  send_exchange(&e);
  await_exchange(&e);
  cr_assert_str_eq(e.fault, "refused", "%s: %s", e.fault, e.message);
  cr_assert_eq(e.connected, 0u);
  cr_assert(!e.any_byte && !e.reused);
  finish_exchange(&e);
  close_client(&w);
}

/* ---- What the server sees ---- */

enum { HEADERS_MAX = 3 };

static const struct {
  const char *method, *body;
  const char *headers[HEADERS_MAX][2]; /* name, value */
  const char *request;                 /* all of it, without the line of the host */
} sent[] = {
    {"GET",
     "",
     {{NULL}},
     "GET /ok HTTP/1.1\r\nUser-Agent: mend/" MEND_VERSION "\r\nAccept: */*\r\nAccept-Encoding: gzip, deflate\r\n\r\n"},
    {"POST",
     "{}",
     {{"Content-Type", "application/json"}, {"authorization", "Bearer k"}, {"X-Empty", ""}},
     "POST /ok HTTP/1.1\r\nUser-Agent: mend/" MEND_VERSION
     "\r\nAccept: */*\r\nAccept-Encoding: gzip, deflate\r\nContent-Type: application/json\r\nauthorization: Bearer "
     "k\r\nX-Empty:\r\nContent-Length: 2\r\n\r\n{}"},
    {"POST",
     "",
     {{"user-agent", "me"}},
     "POST /ok HTTP/1.1\r\nAccept: */*\r\nAccept-Encoding: gzip, deflate\r\nuser-agent: me\r\nContent-Length: "
     "0\r\n\r\n"},
    {"PUT",
     "x",
     {{NULL}},
     "PUT /ok HTTP/1.1\r\nUser-Agent: mend/" MEND_VERSION
     "\r\nAccept: */*\r\nAccept-Encoding: gzip, deflate\r\nContent-Length: 1\r\n\r\nx"},
    {"DELETE",
     "",
     {{NULL}},
     "DELETE /ok HTTP/1.1\r\nUser-Agent: mend/" MEND_VERSION
     "\r\nAccept: */*\r\nAccept-Encoding: gzip, deflate\r\n\r\n"},
};

static void cut_host_out(char *request) {
  char *host = strstr(request, "Host: "), *end = strstr(host, "\r\n") + 2;
  memmove(host, end, strlen(end) + 1);
}

Test(http_connections, carry_requests_as_asked) {
  client_world w;
  open_client(&w, OWN_THREAD_VIRTUAL, replies, REPLIES);
  for (size_t i = 0; i < sizeof sent / sizeof *sent; i++) {
    exchange e;
    set_exchange(&e, &w, "/ok");
    e.request.method = sent[i].method;
    e.request.body = mend_str_from(sent[i].body);
    mend__http_header headers[HEADERS_MAX];
    e.request.headers = headers;
    for (size_t j = 0; j < HEADERS_MAX && sent[i].headers[j][0] != NULL; j++)
      headers[e.request.header_count++] =
          (mend__http_header){mend_str_from(sent[i].headers[j][0]), mend_str_from(sent[i].headers[j][1])};
    send_exchange(&e);
    await_exchange(&e);
    cr_assert_str_eq(e.fault, "");
    cut_host_out(w.server.last_request);
    cr_assert_str_eq(w.server.last_request, sent[i].request, "case %zu: %s", i, w.server.last_request);
    finish_exchange(&e);
  }
  close_client(&w);
}

/* Larger than what a socket takes at once, so the client has to wait; and than what the server takes at all. */
Test(http_connections, end_when_the_server_has_read_enough) {
  static char body[8 << 20];
  client_world w;
  open_client(&w, OWN_THREAD, replies, REPLIES);
  exchange e;
  set_exchange(&e, &w, "/ok");
  e.request.method = "POST";
  e.request.body = (mend_str){body, sizeof body};
  memset(body, 'x', sizeof body);
  send_exchange(&e);
  await_exchange(&e);
  cr_assert(strcmp(e.fault, "reset") == 0 || strcmp(e.fault, "closed") == 0, "%s: %s", e.fault, e.message);
  finish_exchange(&e);
  close_client(&w);
}

/* ---- Many at once ---- */

enum { MANY = 200 };

Test(http_connections, are_made_by_the_hundred) {
  for (world_kind kind = 0; kind < WORLD_KINDS; kind++) {
    static exchange exchanges[MANY];
    client_world w;
    open_client(&w, kind, replies, REPLIES);
    for (size_t i = 0; i < MANY; i++) {
      set_exchange(&exchanges[i], &w, replies[i % REPLIES].path);
      send_exchange(&exchanges[i]);
    }
    for (size_t i = 0; i < MANY; i++) {
      await_exchange(&exchanges[i]);
      cr_assert_eq(exchanges[i].fault[0] == '\0', i % REPLIES == 0, "%zu: %s", i, exchanges[i].message);
      cr_assert_eq(exchanges[i].ends, 1u);
      finish_exchange(&exchanges[i]);
    }
    close_client(&w);
  }
}
