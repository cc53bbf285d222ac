/* How much of a recording its page holds: a page of a million calls must still open. */
#ifndef MEND_PROGRAM_REPORTS_PAGE_LIMITS_H
#define MEND_PROGRAM_REPORTS_PAGE_LIMITS_H

#include <stddef.h>
#include <stdint.h>

/* Of one run so many calls are drawn one by one; each page has room for so much, of which every file has its share. */
enum {
  PAGE_CALLS_PER_RUN = 20000,
  PAGE_CALLS = 100000,
  PAGE_READINGS = 50000,
  PAGE_RUNS = 5000,
  PAGE_INCIDENTS = 5000,
  PAGE_CONTENT_BYTES = 32 * 1024 * 1024 /* of arguments and answers of calls; then they are cut */
};

/* The share of a file. */
typedef struct page_limits {
  uint64_t calls, readings, runs, incidents, content_bytes;
} page_limits;
page_limits page_limits_of_file(size_t files);

/* Of how many calls the call after `count` others is to be drawn together: 1 up to the limit, and from there on twice
 * as many whenever there are twice as many calls. So a million calls are some five times the limit to draw. */
uint64_t page_block_size(uint64_t count, uint64_t limit);

#endif
