/* The table of faults. A new one is a row in fault_table.c, a member of the plan (plan.h), and what is done about it
 * where a reply is made; or a function that delivers something else (instead.h). */
#ifndef MEND_PROGRAM_FAULT_SERVER_FAULT_TABLE_H
#define MEND_PROGRAM_FAULT_SERVER_FAULT_TABLE_H

#include "program/fault_server/plan.h"

typedef enum fault_kind {
  FAULT_FLAG,    /* sets a bool */
  FAULT_COUNT,   /* an unsigned */
  FAULT_STATUS,  /* an unsigned that is a status of HTTP */
  FAULT_SECONDS, /* a double */
  FAULT_TEXT,    /* a mend__buffer */
  FAULT_CALL,    /* calls a function with the parameter */
  FAULT_CALL_SECONDS,
  FAULT_INSTEAD /* delivers something else; a parameter is its size */
} fault_kind;

typedef struct fault {
  const char *name;
  fault_kind kind;
  const char *parameter; /* what it is called; NULL: there is none */
  const char *standard;  /* what it is when it is not given; NULL: it must be given */
  size_t member;         /* its offset in a plan */
  void (*call)(fault_plan *plan, mend_str text);
  plan_instead instead;
  const char *help;
} fault;

extern const fault fault_table[];
extern const size_t fault_count;

#endif
