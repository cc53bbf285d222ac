/* Transfers that are cancelled, at every moment and from every place: the connection is closed at once, nothing more is
 * told, nothing is left. */
#include "http/client_world.h"

static const reply replies[] = {
    {"/ok", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 0, KEEP},
    {"/silent", "", 0, HOLD},
    {"/head", "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", 0, HOLD},
    {"/body", "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: a\n\n", 0, HOLD},
};
enum { REPLIES = sizeof replies / sizeof *replies };

static void cancel_now(void *ctx) {
  exchange *e = ctx;
  mend__http_cancel(&e->transfer);
  cr_assert_null(e->transfer);
  mend__http_cancel(&e->transfer);
}

static void open_kind(client_world *w, world_kind kind) { open_client(w, kind, replies, REPLIES); }

/* ---- In its own calls ---- */

static const struct {
  const char *path;
  moment cancel_on;
  unsigned connected, heads;
  uint64_t body_len;
  unsigned ends;
} cases[] = {
    {"/silent", ON_CONNECTED, 1, 0, 0, 0}, {"/head", ON_HEAD, 1, 1, 0, 0}, {"/body", ON_BODY, 1, 1, 9, 0},
    {"/ok", ON_CONNECTED, 1, 0, 0, 0},     {"/ok", ON_HEAD, 1, 1, 0, 0},   {"/ok", ON_BODY, 1, 1, 5, 0},
    {"/ok", ON_END, 1, 1, 5, 1},
};

static void cancel_inside(client_world *w, size_t i) {
  exchange e;
  set_exchange(&e, w, cases[i].path);
  e.cancel_on = cases[i].cancel_on;
  send_exchange(&e);
  await_exchange(&e);
  cr_assert_eq(e.connected, cases[i].connected, "case %zu", i);
  cr_assert_eq(e.heads, cases[i].heads, "case %zu", i);
  cr_assert_eq(e.body_len, cases[i].body_len, "case %zu", i);
  cr_assert_eq(e.ends, cases[i].ends, "case %zu", i);
  cr_assert_null(e.transfer);
  finish_exchange(&e);
}

Test(http_cancel, works_in_every_call) {
  for (world_kind kind = 0; kind < WORLD_KINDS; kind++) {
    client_world w;
    open_kind(&w, kind);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
      cancel_inside(&w, i);
    gate_await(&w.server.held, 2); /* who was told nothing at all may have gone before the server read the request */
    close_client(&w);
  }
}

/* ---- From outside ---- */

static uint64_t now_ns(void) { return mend_clock_now(mend_clock_real()).mono_ns; }

typedef struct look {
  exchange *exchange;
  bool answered;
} look;

/* Whether the server has answered as much as it will. */
static void look_now(void *ctx) {
  look *l = ctx;
  exchange *e = l->exchange;
  server *s = &e->world->server;
  const char *path = strrchr(e->url, '/');
  pthread_mutex_lock(&s->lock);
  l->answered = strstr(s->last_request, path) != NULL;
  pthread_mutex_unlock(&s->lock);
  if (strcmp(path, "/head") == 0) l->answered = e->heads > 0;
  if (strcmp(path, "/body") == 0) l->answered = e->body_len > 0;
}

static void await_answer(exchange *e) {
  for (look l = {e, false}; !l.answered; sched_yield())
    mend__loop_call(e->world->world.loop, look_now, &l);
}

Test(http_cancel, closes_the_connection_at_once) {
  for (world_kind kind = 0; kind < WORLD_KINDS; kind++) {
    client_world w;
    open_kind(&w, kind);
    for (int i = 1; i < REPLIES; i++) {
      exchange e;
      set_exchange(&e, &w, replies[i].path);
      send_exchange(&e);
      await_answer(&e);
      const uint64_t start_ns = now_ns();
      mend__loop_call(w.world.loop, cancel_now, &e);
      gate_await(&w.server.held, i);
      const uint64_t took_ms = (now_ns() - start_ns) / 1000000;
      cr_assert(took_ms < 500, "%s: the server saw it after %u ms", replies[i].path, (unsigned)took_ms);
      flush(w.world.loop);
      cr_assert_eq(e.ends, 0u);
      finish_exchange(&e);
    }
    close_client(&w);
  }
}

static void send_and_cancel(void *ctx) {
  send_now(ctx);
  cancel_now(ctx);
}

Test(http_cancel, works_before_it_has_begun) {
  for (world_kind kind = 0; kind < WORLD_KINDS; kind++) {
    client_world w;
    open_kind(&w, kind);
    exchange e;
    set_exchange(&e, &w, "/ok");
    mend__loop_call(w.world.loop, send_and_cancel, &e);
    cr_assert_eq(e.sent, MEND_OK);
    close_client(&w);
    cr_assert_eq(atomic_load(&w.server.connections), 0u);
    cr_assert_eq(e.connected + e.ends, 0u);
    finish_exchange(&e);
  }
}

/* ---- From another's calls ---- */

typedef struct pair {
  exchange first, second;
  moment when;
  bool sends; /* sends the second, else cancels it */
} pair;

static void act(pair *p, moment now) {
  if (now != p->when) return;
  if (p->sends) send_now(&p->second);
  if (!p->sends) cancel_now(&p->second);
}

static void act_connected(void *ctx) {
  note_connected(&((pair *)ctx)->first);
  act(ctx, ON_CONNECTED);
}

static void act_head(void *ctx, const mend__http_head *head) {
  note_head(&((pair *)ctx)->first, head);
  act(ctx, ON_HEAD);
}

static void act_body(void *ctx, mend_str bytes) {
  note_body(&((pair *)ctx)->first, bytes);
  act(ctx, ON_BODY);
}

static void act_end(void *ctx, const mend__http_end *end) {
  act(ctx, ON_END);
  note_end(&((pair *)ctx)->first, end);
}

static const mend__http_listener act_all = {act_connected, act_head, act_body, act_end};

static void send_first(void *ctx) {
  pair *p = ctx;
  p->first.sent = mend__http_send(p->first.world->http, &p->first.request, &act_all, p, &p->first.transfer, NULL);
}

static void play(client_world *w, pair *p) {
  if (!p->sends) send_exchange(&p->second);
  if (!p->sends) await_answer(&p->second);
  mend__loop_call(w->world.loop, send_first, p);
  cr_assert_eq(p->first.sent, MEND_OK);
  await_exchange(&p->first);
  if (p->sends) await_exchange(&p->second);
  cr_assert_eq(p->first.ends, 1u);
  cr_assert_eq(p->second.ends, p->sends ? 1u : 0u);
  finish_exchange(&p->first);
  finish_exchange(&p->second);
}

Test(http_cancel, works_in_the_calls_of_another) {
  for (world_kind kind = 0; kind < WORLD_KINDS; kind++) {
    client_world w;
    open_kind(&w, kind);
    for (moment when = ON_CONNECTED; when <= ON_END; when++) {
      for (int sends = 0; sends < 2; sends++) {
        pair p = {.when = when, .sends = sends == 1};
        set_exchange(&p.first, &w, "/ok");
        set_exchange(&p.second, &w, p.sends ? "/ok" : "/body");
        play(&w, &p);
      }
    }
    gate_await(&w.server.held, 4);
    close_client(&w);
  }
}

/* ---- The client ---- */

static void release_now(void *ctx) {
  client_world *w = ctx;
  mend__http_release(w->http);
  w->http = NULL;
}

static void release_while_under_way(world_kind kind, bool here) {
  client_world w;
  open_kind(&w, kind);
  exchange held, ends;
  set_exchange(&held, &w, "/body");
  set_exchange(&ends, &w, "/ok");
  send_exchange(&held);
  await_answer(&held);
  send_exchange(&ends);
  if (here) release_now(&w);
  if (!here) mend__loop_call(w.world.loop, release_now, &w);
  await_exchange(&ends);
  cr_assert_str_eq(ends.fault, "", "%s", ends.message);
  cr_assert_eq(held.ends, 0u);
  mend__loop_call(w.world.loop, cancel_now, &held);
  gate_await(&w.server.held, 1);
  close_client(&w);
  finish_exchange(&ends);
  finish_exchange(&held);
}

Test(http_cancel, may_come_after_the_client_was_let_go) {
  for (world_kind kind = 0; kind < WORLD_KINDS; kind++) {
    release_while_under_way(kind, true);
    release_while_under_way(kind, false);
  }
}

/* The last reference to the loop is the client's, and goes with it. */
Test(http_cancel, leaves_nothing_of_client_and_loop) {
  for (world_kind kind = OWN_THREAD; kind <= OWN_THREAD_VIRTUAL; kind++) {
    client_world w;
    open_kind(&w, kind);
    exchange e;
    set_exchange(&e, &w, "/ok");
    send_exchange(&e);
    await_exchange(&e);
    mend_loop_release(w.world.loop);
    release_now(&w);
    stop_server(&w.server);
    mend_clock_release(w.world.clock);
    check_nothing_left(&w.world);
    finish_exchange(&e);
  }
}
