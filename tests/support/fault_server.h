/* The fault server in a test: on 127.0.0.1, on a thread and an event base of its own. What can go wrong with a reply,
 * and how a request says so, is docs/fault-server.md.
 *
 *   mend_test_faults *server = mend_test_faults_start(NULL);
 *   snprintf(url, sizeof url, "%s/fault/reset_after=2/v1", mend_test_faults_url(server));
 *   ... requests ...
 *   cr_assert(mend_test_faults_wait_open(server, 0));       the client has closed its connections
 *   mend_test_request request = mend_test_faults_request(server, 0);
 *   cr_assert_str_eq(request.body, "{...}");
 *   mend_test_faults_stop(server);
 *
 * Functions are for the test's own thread (they assert), unless they say otherwise. Nothing here sleeps: what waits is
 * woken by the server, and gives up after ten seconds. */
#ifndef MEND_TEST_FAULT_SERVER_H
#define MEND_TEST_FAULT_SERVER_H

#include "program/fault_server/server.h"

typedef struct mend_test_faults mend_test_faults;

/* script: JSON, as docs/fault-server.md describes it; NULL: none. */
mend_test_faults *mend_test_faults_start(const char *script);
/* Closes everything; what was borrowed from the server is gone. */
void mend_test_faults_stop(mend_test_faults *server);

/* "http://127.0.0.1:PORT" */
const char *mend_test_faults_url(const mend_test_faults *server);
unsigned mend_test_faults_port(const mend_test_faults *server);

/* Every request that comes from now on has these faults too: "status=503"; "": none. Any thread. */
void mend_test_faults_set(mend_test_faults *server, const char *list);

/* ---- What has happened ---- */

typedef struct mend_test_fault_counts {
  size_t connections; /* so far */
  size_t open;        /* of them, now */
  size_t requests;    /* so far, counted when they are complete */
  size_t under_way;   /* of them, now */
  size_t ended[FAULT_END_STOPPED + 1];
} mend_test_fault_counts;
/* Any thread. */
mend_test_fault_counts mend_test_faults_counts(mend_test_faults *server);

/* Each waits until it is so; false when it is not after ten seconds. Any thread. */
bool mend_test_faults_wait_requests(mend_test_faults *server, size_t at_least);
bool mend_test_faults_wait_open(mend_test_faults *server, size_t connections);
bool mend_test_faults_wait_idle(mend_test_faults *server); /* nothing is under way */

/* ---- What was asked ---- */

/* Texts are ended by NUL and valid until the server is stopped. */
typedef struct mend_test_request {
  const char *head;   /* the lines of the request's head as they came, each ended by a line feed */
  const char *target; /* its path and query, with the faults */
  const char *body;
  size_t body_len;
  uint64_t connection; /* from 1 */
  uint64_t nth;        /* on that connection, from 1 */
  int status;          /* that was sent; 0: none so far */
  uint64_t bytes;      /* that were sent, once it has ended */
  fault_end end;       /* FAULT_END_NONE: it is under way */
} mend_test_request;
/* The index-th, from 0; it must have come. */
mend_test_request mend_test_faults_request(mend_test_faults *server, size_t index);
/* Whether the head has this line, whatever the case of its letters: "x-api-key: sk-1". */
bool mend_test_request_has(const mend_test_request *request, const char *line);

#endif
