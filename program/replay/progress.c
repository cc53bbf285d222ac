#include "program/replay/progress.h"

#include "mend/clock.h"

#include <stdio.h>
#include <sys/stat.h>

static const uint64_t STEP_BYTES = 4 * 1024 * 1024;
static const uint64_t STEP_NS = MEND_SECOND_NS / 4;

static uint64_t now_ns(void) { return mend_clock_now(mend_clock_real()).mono_ns; }

void progress_begin(progress *of, int fd, bool wanted) {
  *of = (progress){.on = wanted, .next_at = STEP_BYTES};
  if (!wanted) return;
  struct stat about;
  if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0) of->size = (uint64_t)about.st_size;
  of->begun_ns = now_ns();
}

static void write_line(progress *of, uint64_t bytes) {
  const unsigned long long mib = bytes >> 20;
  if (of->size > 0) {
    fprintf(stderr, "\r%3u %% of %llu MiB ", (unsigned)(bytes * 100 / of->size), (unsigned long long)of->size >> 20);
  } else {
    fprintf(stderr, "\r%llu MiB ", mib);
  }
  fflush(stderr);
  of->shown = true;
}

void progress_show(progress *of, uint64_t bytes) {
  if (!of->on || bytes < of->next_at) return;
  of->next_at = bytes + STEP_BYTES;
  const uint64_t now = now_ns();
  if (now - of->begun_ns < MEND_SECOND_NS || now - of->last_ns < STEP_NS) return;
  of->last_ns = now;
  write_line(of, bytes);
}

void progress_end(progress *of) {
  if (!of->shown) return;
  fprintf(stderr, "\r%30s\r", "");
  fflush(stderr);
}
