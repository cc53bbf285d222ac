/* House header: asking a run's watchdogs outside of their time. */
#ifndef MEND_WATCHDOGS_POLL_H
#define MEND_WATCHDOGS_POLL_H

#include "mend/watchdogs.h"

/* Lets every watchdog of the run do what is due, and asks those without deadlines of their own whether it is time or not:
 * the last look before a scope ends. What they find is announced. */
void mend__run_poll_watchdogs(mend_run *run);

#endif
