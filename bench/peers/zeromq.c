#include "bench/peers/peers.h"

#include <zmq.h>

/* As many as are sent before all of them are read; below the 1,000 that a
 * socket holds. */
enum { BATCH = 500, MANY = 64 };

static struct {
  void *context;
  void *publisher;
  void *subscribers[MANY];
  int count;
} with;

static const char topic[] = "tool.before";

static void set(void *socket, int option, int value) {
  bench_need(zmq_setsockopt(socket, option, &value, sizeof value) == 0, "zmq_setsockopt");
}

/* Nothing is dropped because a socket is full; a message that was lost nevertheless ends the bench. */
static void *open_socket(int type) {
  enum { UNBOUNDED = 0, SECOND_MS = 1000 };
  void *socket = zmq_socket(with.context, type);
  set(socket, ZMQ_SNDHWM, UNBOUNDED);
  set(socket, ZMQ_RCVHWM, UNBOUNDED);
  set(socket, ZMQ_RCVTIMEO, SECOND_MS);
  return socket;
}

void bench_zeromq_open(const bench_row *row) {
  char subscribed[sizeof topic];
  with.count = (int)row->argument;
  with.context = zmq_ctx_new();
  with.publisher = open_socket(ZMQ_XPUB); /* told of subscriptions, so that none is late */
  set(with.publisher, ZMQ_XPUB_VERBOSE, 1);
  bench_need(zmq_bind(with.publisher, "inproc://bench") == 0, "zmq_bind");
  for (int i = 0; i < with.count; i++) {
    with.subscribers[i] = open_socket(ZMQ_SUB);
    bench_need(zmq_setsockopt(with.subscribers[i], ZMQ_SUBSCRIBE, topic, sizeof topic - 1) == 0, "zmq_setsockopt");
    bench_need(zmq_connect(with.subscribers[i], "inproc://bench") == 0, "zmq_connect");
    bench_need(zmq_recv(with.publisher, subscribed, sizeof subscribed, 0) > 0, "zmq_recv of a subscription");
  }
}

/* A message: the topic, and where the event is. */
static void send_one(const mend_event *event) {
  char message[sizeof topic + sizeof event];
  memcpy(message, topic, sizeof topic);
  memcpy(message + sizeof topic, &event, sizeof event);
  bench_need(zmq_send(with.publisher, message, sizeof message, ZMQ_DONTWAIT) >= 0, "zmq_send");
}

static uint64_t read_one(void *subscriber) {
  char message[sizeof topic + sizeof(const mend_event *)];
  const mend_event *event;
  bench_need(zmq_recv(subscriber, message, sizeof message, 0) == (int)sizeof message, "zmq_recv");
  memcpy(&event, message + sizeof topic, sizeof event);
  return event->call;
}

void bench_zeromq_run(const bench_row *row, uint64_t count) {
  (void)row;
  mend_tool_before_event event = MEND_TOOL_BEFORE_EVENT_INIT;
  event.event.call = 1;
  for (uint64_t sent = 0; sent < count; sent += BATCH) {
    const uint64_t now = count - sent < BATCH ? count - sent : BATCH;
    for (uint64_t i = 0; i < now; i++)
      send_one(&event.event);
    for (int s = 0; s < with.count; s++) {
      for (uint64_t i = 0; i < now; i++)
        bench_use(read_one(with.subscribers[s]));
    }
  }
}

void bench_zeromq_close(const bench_row *row) {
  (void)row;
  for (int i = 0; i < with.count; i++)
    zmq_close(with.subscribers[i]);
  zmq_close(with.publisher);
  zmq_ctx_term(with.context);
}
