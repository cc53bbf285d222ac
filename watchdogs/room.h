/* House header: what whoever sets watchdogs up, or acts on what they find, needs beside mend/watchdogs.h. */
#ifndef MEND_WATCHDOGS_ROOM_H
#define MEND_WATCHDOGS_ROOM_H

#include "mend/watchdogs.h"

/* For who plays what was recorded: the host stood still for so long, up to now. Each watchdog that wants it is told
 * `clock.rebased` before it sees anything else of its run, so it costs the same whatever the number of runs. Nothing is
 * published, and from now on what is published of it on a run is no news to its watchdogs. MEND_ENOMEM. */
mend_status mend__bus_stood_still(mend_bus *bus, uint64_t gap_ns);

/* Lets every watchdog of the run do what is due, and asks those without deadlines of their own whether it is time or
 * not: the last look before a scope ends. What they find is announced, and so is what an expiry under way on another
 * thread has found. */
void mend__run_poll_watchdogs(mend_run *run);

/* For as long as a scope lasts, beside whoever else watches the run with it; counted. */
mend_status mend__scope_watch(mend_watchdog *watchdog, mend_run *run);
void mend__scope_unwatch(mend_watchdog *watchdog, mend_run *run);

/* A detection is announced when its `healing.detection` has been delivered to everybody, or could not be published. */
bool mend__detection_is_announced(const mend_detection *detection);
/* How many of the run's have been announced. */
uint64_t mend__run_announcements(mend_run *run);
/* Counts that of this id as announced from here on, for who acts at the end of its delivery. One that is not in the
 * log, or counts already, is allowed. */
void mend__run_announced(mend_run *run, uint64_t id);

/* mend_detection_decide, which also says how the policy failed: NULL when it did not. */
mend_status mend__decide_detection(const mend_detection *detection, mend_policy policy, void *ctx,
                                   mend_action *ret_action, const char **ret_failure);

/* How far incidents of the bus's runs may go: what the options say of the ladder. MEND_ENOMEM. */
mend_status mend__bus_set_ladder(mend_bus *bus, const mend_options *options);

/* The watchdogs of the options' mode as far as they enable them, one reference each; the options are checked. Errors:
 * MEND_EINVAL, MEND_ENOMEM; then there are none. */
enum { MEND__BUILTIN_MAX = 4 };
mend_status mend__builtins_new(const mend_options *options, const mend_allocator *allocator,
                               mend_watchdog *ret_watchdogs[MEND__BUILTIN_MAX], size_t *ret_count, mend_error *error);

/* Sentences about options that are allowed and have no effect, or are often regretted. Static. Returns how many. */
enum { MEND__WATCH_WARNINGS_MAX = 3 };
size_t mend__watch_warnings(const mend_options *options, const char *ret_warnings[MEND__WATCH_WARNINGS_MAX]);

#endif
