/* Recorded runs of any format: whatever a file holds, it is sniffed, read and told of, or refused with a sentence; and
 * each reader gets through any rows, also those of other formats: the length of the file says which one is tried. */
#include "core/memory.h"
#include "fuzz/fuzz.h"
#include "program/replay/replay.h"
#include "program/reports/outlets.h"
#include "program/reports/report_kinds.h"
#include "program/transcripts/format.h"

#include <sys/mman.h>
#include <unistd.h>

/* What lasts from file to file. */
typedef struct scene {
  mend_options watch;
  outlets outlets; /* to nowhere, */
  size_t turn;     /* so many files so far */
  report_kind *kinds[2];
  size_t format_count;
} scene;

static scene *the_scene(void) {
  static scene self;
  if (self.format_count > 0) return &self;
  self.watch = (mend_options)MEND_OPTIONS_INIT;
  mend_options_set_profile(&self.watch, MEND_WATCH_MODE_EVIDENCE);
  outlets_init(&self.outlets, NULL);
  for (size_t i = 0; i < 2; i++)
    outlets_add(&self.outlets, fopen("/dev/null", "w"));
  self.kinds[0] = report_text_kind(false, 80, false);
  self.kinds[1] = report_json_kind();
  while (formats[self.format_count] != NULL)
    self.format_count++;
  return &self;
}

static int file_of(const uint8_t *data, size_t size, char path[32]) {
  const int fd = memfd_create("run", MFD_CLOEXEC);
  MUST(fd >= 0 && write(fd, data, size) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0);
  snprintf(path, 32, "/proc/self/fd/%d", fd);
  return fd;
}

/* ---- As the program does it -------------------------------------------------------------------------------- */

static void check_counts(const replay_counts *counts) {
  MUST(counts->broken <= counts->rows);
  MUST(counts->results_without_call <= counts->results);
  MUST(counts->unfinished <= counts->calls);
}

static void replay_sniffed(scene *self, const char *path) {
  file_outlets outs;
  reports to = {.count = 0};
  file_outlets_open(&outs, &self->outlets, self->turn++);
  for (size_t i = 0; i < 2; i++)
    reports_add(&to, self->kinds[i]->open(self->kinds[i], &outs.each[i]));
  const replay_settings settings = {.watch = &self->watch, .reports = &to, .content_bytes = 200};
  mend__buffer failure;
  mend__buffer_init(&failure, NULL);
  replay_summary summary;
  const mend_status status = replay_play(path, &settings, &summary, &failure);
  MUST(status == MEND_OK || status == MEND_EINVAL || status == MEND_ENOENT);
  MUST((failure.len > 0) == (status != MEND_OK) && !failure.failed);
  if (status == MEND_OK) check_counts(&summary.counts);
  mend__buffer_free(&failure);
  reports_free(&to);
  MUST(file_outlets_finish(&outs) == MEND_OK);
  file_outlets_close(&outs);
}

/* ---- As one format ----------------------------------------------------------------------------------------- */

static void play_row(const format *as, stage *on, const input_row *row) {
  mend_error error = MEND_ERROR_INIT;
  if (row->problem != NULL) return;
  MUST(stage_begin_row(on, row->number, row->text) == MEND_OK);
  as->look(row->text);
  const mend_status status = as->play(on, row, &error);
  MUST(status == MEND_OK || status == MEND_ESYNTAX || status == MEND_EINVAL || status == MEND_ELIMIT);
}

static void replay_as(const scene *self, const format *as, int fd) {
  static const char *const none[] = {NULL};
  const reports nobody = {.count = 0};
  const replay_settings settings = {.watch = &self->watch, .reports = &nobody};
  const stage_start start = {.wall_ns = 1796029200 * MEND_SECOND_NS, .any_order = as->any_order};
  input in;
  if (input_open(&in, fd, as->containers != NULL ? as->containers : none) == MEND_OK) {
    if (in.shape == INPUT_DOCUMENT && as->look_at_document != NULL) as->look_at_document(in.beginning);
    stage on;
    input_row row;
    MUST(stage_open(&on, &settings, "run", as->has_clock ? &start : NULL, NULL) == MEND_OK);
    while (input_next(&in, &row) == MEND_OK)
      play_row(as, &on, &row);
    MUST(as->finish == NULL || as->finish(&on) == MEND_OK);
    MUST(stage_finish(&on) == MEND_OK);
    stage_close(&on);
  }
  input_close(&in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  scene *self = the_scene();
  char path[32];
  const int fd = file_of(data, size, path);
  replay_sniffed(self, path);
  replay_as(self, formats[size % self->format_count], fd);
  close(fd);
  return 0;
}
