#include "program/reports/page_limits.h"

static uint64_t share(uint64_t of_page, size_t files, uint64_t least) {
  const uint64_t part = files > 0 ? of_page / files : of_page;
  return part > least ? part : least;
}

page_limits page_limits_of_file(size_t files) {
  return (page_limits){.calls = share(PAGE_CALLS, files, 20),
                       .readings = share(PAGE_READINGS, files, 20),
                       .runs = share(PAGE_RUNS, files, 50),
                       .incidents = share(PAGE_INCIDENTS, files, 20),
                       .content_bytes = share(PAGE_CONTENT_BYTES, files, 4096)};
}

uint64_t page_block_size(uint64_t count, uint64_t limit) {
  uint64_t size = 1;
  while (count / size >= limit)
    size *= 2;
  return size;
}
