/* Private to fallback/: how long a provider says to wait, in all the forms they say it in. */
#ifndef MEND_FALLBACK_RETRY_AFTER_H
#define MEND_FALLBACK_RETRY_AFTER_H

#include "http/client.h"

/* A wait: "20", "1.5", "1m30.5s", "6ms", a time since 1970 in seconds or milliseconds, an HTTP date, or one of RFC
 * 3339. In seconds from now on, 0 for what is past. False for what is none of these. */
bool mend__wait_read(mend_str text, uint64_t wall_ns, double *ret_seconds);

/* What a reply's head says, at most MEND__COOL_DOWN_MAX_S; NaN: nothing. In this order: retry-after-ms, retry-after,
 * and, of a 429, the limits that are used up (x-ratelimit-reset-*, anthropic-ratelimit-*-reset): the longest. */
double mend__retry_after_of_head(const mend__http_head *head, uint64_t wall_ns);
/* Likewise what Gemini says in a body:
 * {"error": {"details": [{"@type": ".../google.rpc.RetryInfo", "retryDelay": "17s"}]}}. */
double mend__retry_after_of_body(mend_str body);

#endif
