/* The log of the fault server: a JSON object a line for every request, when it has ended. */
#ifndef MEND_PROGRAM_FAULT_SERVER_LOG_H
#define MEND_PROGRAM_FAULT_SERVER_LOG_H

#include "program/fault_server/server.h"

#include <stdio.h>

/* Keys and cookies are left out, and so is the query, where a key may be. False when the line is not written, or not
 * all of it: errno. */
bool fault_log_write(FILE *out, const fault_exchange *exchange);

#endif
