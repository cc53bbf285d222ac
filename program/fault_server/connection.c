#include "program/fault_server/connection.h"

#include "core/memory.h"
#include "program/fault_server/compose.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* More is not taken from a delivery before the client has read some of this. */
enum { OUTPUT_MAX = 256 * 1024, INPUT_MAX = 1024 * 1024 };
/* How long a client that was refused may still send. */
static const double LINGER_S = 2;
/* Who sends nothing any more may have gone or be waiting: it counts as gone when it would have to wait for so long. */
static const double GONE_S = 1;

typedef enum connection_state {
  READING, /* a request, or waiting for one */
  PLAYING, /* a delivery */
  SILENT,  /* the delivery is over and the client is still there */
  LINGERING
} connection_state;

struct connection {
  connection_owner *owner;
  connection *next, **link;
  struct bufferevent *stream;
  struct event *timer;
  connection_state state;
  bool refused;     /* the client may still be sending what will not be read */
  bool half_closed; /* the client sends nothing any more */
  http_request request;
  fault_exchange exchange;
  mend__buffer faults; /* texts of the exchange */
  struct timespec asked_at;
  delivery reply;
  delivery_place place;
  bool waited; /* what is to be sent next has waited */
  uint64_t queued;
};

/* ---- Ends --------------------------------------------------------------------------------------------------- */

static double ms_since(const struct timespec *then) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)(now.tv_sec - then->tv_sec) * 1e3 + (double)(now.tv_nsec - then->tv_nsec) / 1e6;
}

static void end_exchange(connection *of, fault_end end) {
  if (of->state == READING || of->exchange.end != FAULT_END_NONE) return;
  const fault_observer *observer = of->owner->observer;
  of->exchange.end = end;
  of->exchange.ms = ms_since(&of->asked_at);
  of->exchange.bytes = of->queued - evbuffer_get_length(bufferevent_get_output(of->stream));
  if (observer->ended != NULL) observer->ended(observer->ctx, &of->exchange);
}

static void free_connection(connection *of) {
  const fault_observer *observer = of->owner->observer;
  if (of->next != NULL) of->next->link = of->link;
  *of->link = of->next;
  if (of->timer != NULL) event_free(of->timer);
  bufferevent_free(of->stream);
  http_request_free(&of->request);
  mend__buffer_free(&of->faults);
  delivery_free(&of->reply);
  mend__free(NULL, of);
  if (observer->disconnected != NULL) observer->disconnected(observer->ctx);
}

static void reset(connection *of) {
  const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
  setsockopt(bufferevent_getfd(of->stream), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  free_connection(of);
}

static void start_timer(connection *of, double seconds) {
  const struct timeval wait = {(time_t)seconds, (suseconds_t)((seconds - (double)(time_t)seconds) * 1e6)};
  event_add(of->timer, &wait);
}

/* Closing while the client still sends would be a reset, and might take the reply with it. */
static void linger(connection *of) {
  shutdown(bufferevent_getfd(of->stream), SHUT_WR);
  of->state = LINGERING;
  start_timer(of, LINGER_S);
}

/* The client has left. */
static void leave(connection *of, bool was_reset) {
  end_exchange(of, was_reset ? FAULT_END_RESET : FAULT_END_CLOSED);
  free_connection(of);
}

/* ---- Sending ------------------------------------------------------------------------------------------------ */

static void read_request(connection *of);

static void next_request(connection *of) {
  of->state = READING;
  http_request_clear(&of->request);
  delivery_free(&of->reply);
  delivery_init(&of->reply);
  read_request(of);
}

/* Everything was sent and taken by the kernel. */
static void finish(connection *of) {
  if (of->reply.ending == ENDING_SILENCE) {
    of->state = SILENT;
    if (of->half_closed) leave(of, false);
    return;
  }
  end_exchange(of, of->reply.cut ? FAULT_END_CUT : FAULT_END_COMPLETE);
  if (of->refused && !of->half_closed) {
    linger(of);
  } else if (of->reply.ending == ENDING_RESET) {
    reset(of);
  } else if (of->reply.ending == ENDING_CLOSE || !of->request.keep_alive) {
    free_connection(of);
  } else {
    next_request(of);
  }
}

static void send_part(connection *of, const piece *part) {
  const size_t len = part->end - part->begin;
  if (len > 0) evbuffer_add(bufferevent_get_output(of->stream), of->reply.bytes.data + part->begin, len);
  of->queued += len;
  of->waited = false;
  delivery_advance(&of->reply, &of->place, part);
}

/* A client that sends nothing any more, has got all there is, and would have to wait for long. */
static bool is_gone(connection *of) {
  piece part;
  if (!of->half_closed || evbuffer_get_length(bufferevent_get_output(of->stream)) > 0) return false;
  return !of->waited && delivery_next(&of->reply, &of->place, &part) && part.wait_s >= GONE_S;
}

/* Sends as far as it goes: until a wait, until much is queued, or to the end. */
static void play(connection *of) {
  struct evbuffer *output = bufferevent_get_output(of->stream);
  piece part;
  while (delivery_next(&of->reply, &of->place, &part)) {
    if (is_gone(of)) {
      leave(of, false);
      return;
    }
    if (part.wait_s > 0 && !of->waited) {
      start_timer(of, part.wait_s);
      return;
    }
    if (evbuffer_get_length(output) >= OUTPUT_MAX) return;
    send_part(of, &part);
  }
  if (evbuffer_get_length(output) == 0) finish(of);
}

static void on_sent(struct bufferevent *stream, void *ctx) {
  connection *of = ctx;
  (void)stream;
  if (of->state == PLAYING && (of->half_closed || !event_pending(of->timer, EV_TIMEOUT, NULL))) play(of);
}

static void on_timer(evutil_socket_t fd, short what, void *ctx) {
  connection *of = ctx;
  (void)fd;
  (void)what;
  if (of->state == LINGERING) {
    free_connection(of);
    return;
  }
  of->waited = true;
  play(of);
}

/* ---- Requests ----------------------------------------------------------------------------------------------- */

static void begin_exchange(connection *of) {
  of->state = PLAYING;
  of->exchange = (fault_exchange){.number = ++of->owner->exchanges,
                                  .connection = of->exchange.connection,
                                  .nth = of->exchange.nth + 1,
                                  .request = &of->request};
  of->place = (delivery_place){0};
  of->queued = 0;
  of->waited = false;
  mend__buffer_clear(&of->faults);
  clock_gettime(CLOCK_MONOTONIC, &of->asked_at);
}

static void begin_reply(connection *of) {
  const fault_observer *observer = of->owner->observer;
  if (observer->asked != NULL) observer->asked(observer->ctx, &of->exchange);
  of->exchange.status = of->reply.status;
  play(of);
}

static void answer_request(connection *of) {
  begin_exchange(of);
  of->owner->plan(of->owner, &of->exchange, &of->faults, &of->reply);
  begin_reply(of);
}

static void refuse_request(connection *of) {
  of->refused = true;
  begin_exchange(of);
  compose_complaint(of->request.status, of->request.complaint, &of->reply);
  begin_reply(of);
}

static void read_request(connection *of) {
  switch (http_request_read(&of->request, bufferevent_get_input(of->stream))) {
  case HTTP_COMPLETE: answer_request(of); break;
  case HTTP_BAD: refuse_request(of); break;
  default:
    if (of->half_closed) {
      free_connection(of);
      return;
    }
    if (of->request.expects) bufferevent_write(of->stream, "HTTP/1.1 100 Continue\r\n\r\n", 25);
    of->request.expects = false;
  }
}

static void on_input(struct bufferevent *stream, void *ctx) {
  connection *of = ctx;
  struct evbuffer *input = bufferevent_get_input(stream);
  if (of->state == LINGERING) evbuffer_drain(input, evbuffer_get_length(input));
  if (of->state == READING) read_request(of);
}

/* A client may close its side behind its request and wait for the reply, so what there is is sent. One that has closed
 * both looks the same until then; what it is sent is answered by a reset. */
static void on_event(struct bufferevent *stream, short what, void *ctx) {
  const int reason = EVUTIL_SOCKET_ERROR();
  connection *of = ctx;
  (void)stream;
  if ((what & BEV_EVENT_EOF) == 0) {
    leave(of, !of->half_closed && (reason == ECONNRESET || reason == EPIPE));
    return;
  }
  of->half_closed = true;
  if (of->state != PLAYING || is_gone(of)) leave(of, false);
}

/* ---- Opening ------------------------------------------------------------------------------------------------ */

static void link_connection(connection *of) {
  of->next = of->owner->first;
  of->link = &of->owner->first;
  if (of->next != NULL) of->next->link = &of->next;
  of->owner->first = of;
}

void connection_open(connection_owner *owner, int fd) {
  const int on = 1;
  connection *of = mend__alloc_zero(NULL, sizeof *of);
  if (of == NULL) {
    close(fd);
    return;
  }
  *of = (connection){.owner = owner, .exchange.connection = ++owner->connections};
  http_request_init(&of->request);
  mend__buffer_init(&of->faults, NULL);
  delivery_init(&of->reply);
  of->stream = bufferevent_socket_new(owner->base, fd, BEV_OPT_CLOSE_ON_FREE);
  if (of->stream == NULL) {
    close(fd);
    mend__free(NULL, of);
    return;
  }
  link_connection(of);
  if (owner->observer->connected != NULL) owner->observer->connected(owner->observer->ctx);
  of->timer = evtimer_new(owner->base, on_timer, of);
  if (of->timer == NULL) {
    free_connection(of);
    return;
  }
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  bufferevent_setcb(of->stream, on_input, on_sent, on_event, of);
  bufferevent_setwatermark(of->stream, EV_READ, 0, INPUT_MAX);
  bufferevent_enable(of->stream, EV_READ | EV_WRITE);
}

void connection_close_all(connection_owner *owner) {
  while (owner->first != NULL) {
    end_exchange(owner->first, FAULT_END_STOPPED);
    free_connection(owner->first);
  }
}
