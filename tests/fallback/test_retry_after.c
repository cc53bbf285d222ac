/* How long providers say to wait. */
#include "fallback/retry_after.h"
#include "mend/events.h"
#include "support/mend_test.h"

#include <math.h>
#include <strings.h>

/* 2026-11-30T16:20:00Z */
#define NOW_S 1796055600.0
#define NOW_NS (UINT64_C(1796055600) * 1000000000)

static const struct {
  const char *text;
  double seconds; /* NaN: it is none */
} waits[] = {
    {"0", 0},
    {"20", 20},
    {"1.5", 1.5},
    {" 20\t", 20},
    {"6ms", 0.006},
    {"1s", 1},
    {"7.66s", 7.66},
    {"6m0s", 360},
    {"1m30.5s", 90.5},
    {"2h3m4s5ms", 7384.005},
    {"1d", 86400},
    {"250us", 0.00025},
    {"1796055617", 17},
    {"1796055617000", 17},
    {"1796055000", 0},
    {"2026-11-30T16:20:17Z", 17},
    {"2026-11-30T16:20:17.250Z", 17},
    {"2026-11-30T17:20:17+01:00", 17},
    {"2026-11-30T11:20:17-05:00", 17},
    {"2026-11-30 16:20:17z", 17},
    {"2026-11-30T16:19:00Z", 0},
    {"Mon, 30 Nov 2026 16:20:17 GMT", 17},
    {"Tue, 01 Dec 2026 16:20:00 GMT", 86400},
    {"Sun, 06 Nov 1994 08:49:37 GMT", 0},
    {"", MEND_NAN},
    {"soon", MEND_NAN},
    {"-5", MEND_NAN},
    {"5x", MEND_NAN},
    {"5s6", MEND_NAN},
    {"1.2.3", MEND_NAN},
    {".", MEND_NAN},
    {"s", MEND_NAN},
    {"1e9", MEND_NAN},
    {"2026-11-30", MEND_NAN},
    {"2026-11-30T16:20:17+1", MEND_NAN},
    {"Mon, 30 Foo 2026 16:20:17 GMT", MEND_NAN},
    {"Mon, 30 anF 2026 16:20:17 GMT", MEND_NAN},
    {"nan", MEND_NAN},
    {"11111111111111111111111111111111111111111111111111111111111111111111", MEND_NAN},
};

Test(retry_after, waits) {
  for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
    double seconds = MEND_NAN;
    const bool read = mend__wait_read(mend_str_from(waits[i].text), NOW_NS, &seconds);
    cr_assert_eq(read, !isnan(waits[i].seconds), "\"%s\" is read as %g", waits[i].text, seconds);
    if (read) cr_assert_float_eq(seconds, waits[i].seconds, 1e-6, "\"%s\" is %g", waits[i].text, seconds);
  }
}

enum { HEADERS_MAX = 6 };

static const struct {
  uint32_t status;
  const char *headers[HEADERS_MAX][2];
  double seconds; /* NaN: nothing is said */
} heads[] = {
    {429, {{NULL, NULL}}, MEND_NAN},
    {429, {{"Retry-After", "30"}}, 30},
    {503, {{"retry-after", "Mon, 30 Nov 2026 16:20:17 GMT"}}, 17},
    {429, {{"retry-after", "2"}, {"retry-after-ms", "1250"}}, 1.25},
    {429, {{"retry-after", "soon"}, {"x-ratelimit-reset-requests", "6ms"}}, 0.006},
    {429, {{"x-ratelimit-reset-requests", "6ms"}, {"x-ratelimit-reset-tokens", "1m30s"}}, 90},
    {429,
     {{"x-ratelimit-reset-requests", "2s"},
      {"x-ratelimit-remaining-requests", "0"},
      {"x-ratelimit-reset-tokens", "1m30s"},
      {"x-ratelimit-remaining-tokens", "500"}},
     2},
    {429, {{"X-RateLimit-Reset", "1796055617000"}}, 17},
    {429,
     {{"anthropic-ratelimit-requests-reset", "2026-11-30T16:20:05Z"},
      {"anthropic-ratelimit-requests-remaining", "49"},
      {"Anthropic-Ratelimit-Input-Tokens-Reset", "2026-11-30T16:20:17Z"},
      {"anthropic-ratelimit-input-tokens-remaining", "0"},
      {"anthropic-ratelimit-output-tokens-reset", "2026-11-30T16:21:00Z"}},
     17},
    {429, {{"retry-after", "100000000000000000"}}, 604800},
    {503, {{"retry-after", "99999999999999999999999999999999999999999999999999999999999999"}}, 604800},
    {503, {{"retry-after", "Fri, 31 Dec 9999 23:59:59 GMT"}}, 604800},
    {429, {{"retry-after-ms", "99999999999999999999999999999h"}}, 604800},
    {429, {{"retry-after-ms", "700000000"}}, 604800},
    {429, {{"x-ratelimit-reset-requests", "1000000d"}}, 604800},
    {429, {{"anthropic-ratelimit-reset", "2026-11-30T16:20:05Z"}}, MEND_NAN},
    {200, {{"x-ratelimit-reset-requests", "6ms"}}, MEND_NAN},
    {400,
     {{"x-ratelimit-reset-requests", "6ms"}, {"anthropic-ratelimit-tokens-reset", "2026-11-30T16:20:17Z"}},
     MEND_NAN},
};

Test(retry_after, heads) {
  for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
    mend__http_header headers[HEADERS_MAX];
    mend__http_head head = {.status = heads[i].status, .headers = headers};
    for (; head.header_count < HEADERS_MAX && heads[i].headers[head.header_count][0] != NULL; head.header_count++) {
      const char *const *text = heads[i].headers[head.header_count];
      headers[head.header_count] = (mend__http_header){mend_str_from(text[0]), mend_str_from(text[1])};
    }
    const double seconds = mend__retry_after_of_head(&head, NOW_NS);
    cr_assert_eq(isnan(seconds), isnan(heads[i].seconds), "head %zu says %g", i, seconds);
    if (!isnan(seconds)) cr_assert_float_eq(seconds, heads[i].seconds, 1e-6, "head %zu says %g", i, seconds);
  }
}

#define NINES "99999999999999999999999999999999999999999999999999" /* seven of these are more than a double holds */

static const struct {
  const char *body;
  double seconds;
} bodies[] = {
    {"{\"error\":{\"code\":429,\"status\":\"RESOURCE_EXHAUSTED\",\"details\":[{\"@type\":\"type.googleapis.com/"
     "google.rpc.QuotaFailure\"},{\"@type\":\"type.googleapis.com/google.rpc.RetryInfo\",\"retryDelay\":\"17s\"}]}}",
     17},
    {"{\"error\":{\"details\":[{\"retryDelay\":\"0.5s\"}]}}", 0.5},
    {"{\"error\":{\"details\":[{\"retryDelay\":\"100000000000000000s\"}]}}", 604800},
    {"{\"error\":{\"details\":[{\"retryDelay\":\"" NINES NINES NINES NINES NINES NINES NINES "s\"}]}}", 604800},
    {"{\"error\":{\"details\":[{\"retryDelay\":17}]}}", MEND_NAN},
    {"{\"error\":{\"details\":{}}}", MEND_NAN},
    {"{\"error\":\"slow down\"}", MEND_NAN},
    {"<html>", MEND_NAN},
    {"", MEND_NAN},
};

Test(retry_after, bodies) {
  for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
    const double seconds = mend__retry_after_of_body(mend_str_from(bodies[i].body));
    cr_assert_eq(isnan(seconds), isnan(bodies[i].seconds), "%s says %g", bodies[i].body, seconds);
    if (!isnan(seconds)) cr_assert_float_eq(seconds, bodies[i].seconds, 1e-6, "%s says %g", bodies[i].body, seconds);
  }
}
