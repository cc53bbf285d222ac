/* The fault server: a mock provider of models on 127.0.0.1 that fails on demand. It lives on an event base; everything
 * of it happens on the thread that runs the base. What each fault does, and how one is chosen: docs/fault-server.md. */
#ifndef MEND_PROGRAM_FAULT_SERVER_SERVER_H
#define MEND_PROGRAM_FAULT_SERVER_SERVER_H

#include "program/fault_server/http_request.h"

struct event_base;

/* How a request ended. */
typedef enum fault_end {
  FAULT_END_NONE,     /* it is under way */
  FAULT_END_COMPLETE, /* everything was sent */
  FAULT_END_CUT,      /* a fault ended it */
  FAULT_END_CLOSED,   /* the client closed the connection before */
  FAULT_END_RESET,    /* the client reset it */
  FAULT_END_STOPPED   /* the server was stopped before */
} fault_end;
/* "complete", "cut", "client closed", ... Static. */
const char *fault_end_name(fault_end end);

/* A request, borrowed from its connection. */
typedef struct fault_exchange {
  uint64_t number;     /* from 1 */
  uint64_t connection; /* from 1 */
  uint64_t nth;        /* on that connection, from 1 */
  const http_request *request;
  mend_str path;   /* without faults and query */
  mend_str faults; /* all that were chosen, as they were written */
  int status;      /* that was sent; 0: none */
  uint64_t bytes;  /* that were sent */
  double ms;       /* since the request was complete */
  fault_end end;
} fault_exchange;

/* Who wants to know. All are called on the server's thread; absent members are not. */
typedef struct fault_observer {
  void *ctx;
  void (*connected)(void *ctx);
  void (*disconnected)(void *ctx);
  void (*faults)(void *ctx, const fault_exchange *exchange, mend__buffer *ret_list); /* more faults for this request */
  void (*asked)(void *ctx, const fault_exchange *exchange);                          /* the reply is about to begin */
  void (*ended)(void *ctx, const fault_exchange *exchange);
} fault_observer;

typedef struct fault_server_options {
  unsigned port;   /* 0: any */
  mend_str script; /* JSON (script.h); absent: none */
  mend_str faults; /* for every request; absent: none */
  fault_observer observer;
} fault_server_options;

typedef struct fault_server fault_server;
/* Errors: MEND_EINVAL and MEND_ESYNTAX of script and faults, MEND_EIO (the port is taken), MEND_ENOMEM. */
mend_status fault_server_new(struct event_base *base, const fault_server_options *options, fault_server **ret_server,
                             mend_error *error);
unsigned fault_server_port(const fault_server *server);
/* Closes all connections; what is under way ends as FAULT_END_STOPPED. NULL is allowed. */
void fault_server_free(fault_server *server);

#endif
