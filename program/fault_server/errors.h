/* The error a reply consists of, or breaks off with. */
#ifndef MEND_PROGRAM_FAULT_SERVER_ERRORS_H
#define MEND_PROGRAM_FAULT_SERVER_ERRORS_H

#include "program/fault_server/dialect.h"

typedef struct error_reply {
  unsigned status;
  const char *content_type; /* static */
  const char *header;       /* "name: value"; NULL: none */
  mend__buffer body;
} error_reply;

/* A plan that has no error in it gives an overloaded provider. To be freed. */
void error_reply_make(error_reply *made, const reply_facts *facts);
void error_reply_free(error_reply *made);

#endif
