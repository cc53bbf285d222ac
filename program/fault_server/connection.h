/* A connection of the fault server: reads requests, plays out deliveries, sees how clients leave. */
#ifndef MEND_PROGRAM_FAULT_SERVER_CONNECTION_H
#define MEND_PROGRAM_FAULT_SERVER_CONNECTION_H

#include "program/fault_server/delivery.h"
#include "program/fault_server/server.h"

/* What connections need of their server. */
typedef struct connection_owner {
  struct event_base *base;
  const fault_observer *observer;
  uint64_t connections, exchanges; /* so far */
  struct connection *first;
  /* Plans the reply. exchange->path and ->faults are filled in by it; texts of `faults` go into the buffer. */
  void (*plan)(struct connection_owner *owner, fault_exchange *exchange, mend__buffer *faults, delivery *reply);
} connection_owner;

typedef struct connection connection;
/* Takes the descriptor, which is closed when there is no memory. */
void connection_open(connection_owner *owner, int fd);
/* Ends all; what is under way was stopped. */
void connection_close_all(connection_owner *owner);

#endif
