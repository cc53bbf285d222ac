/* House header: what whoever sets watchdogs up needs beside mend/watchdogs.h. */
#ifndef MEND_WATCHDOGS_POLL_H
#define MEND_WATCHDOGS_POLL_H

#include "mend/watchdogs.h"

/* Lets every watchdog of the run do what is due, and asks those without deadlines of their own whether it is time or not:
 * the last look before a scope ends. What they find is announced. */
void mend__run_poll_watchdogs(mend_run *run);

/* A sentence about options that are allowed and often regretted; NULL when there is none. Static. */
const char *mend__watch_warning(const mend_options *options);

#endif
