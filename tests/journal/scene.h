/* A bus with a journal in a file of its own. */
#ifndef MEND_TEST_JOURNAL_SCENE_H
#define MEND_TEST_JOURNAL_SCENE_H

#include "mend/journal.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct scene {
  mend_clock *clock;
  mend_bus *bus;
  mend_run *run;
  mend_journal *journal;
  mend_journal_options options;
  char path[32];
} scene;

static inline void open_scene(scene *s, const mend_allocator *allocator) {
  *s = (scene){.options = MEND_JOURNAL_OPTIONS_INIT, .path = "/tmp/mend-journal-XXXXXX"};
  cr_assert_eq(mend_clock_new_virtual(NULL, (mend_time){0, UINT64_C(1500000000)}, &s->clock), MEND_OK);
  mend_bus_options options = MEND_BUS_OPTIONS_INIT;
  options.allocator = allocator;
  options.clock = s->clock;
  options.id_seed = 1;
  cr_assert_eq(mend_bus_new(&options, &s->bus, NULL), MEND_OK);
  mend_run_options of_run = MEND_RUN_OPTIONS_INIT;
  of_run.id = MEND_STR("r");
  cr_assert_eq(mend_run_new(s->bus, &of_run, &s->run, NULL), MEND_OK);
  int fd = mkstemp(s->path);
  cr_assert(fd >= 0);
  close(fd);
  s->options.path = s->path;
}

static inline void open_journal(scene *s) {
  mend_error error = {.message = ""};
  cr_assert_eq(mend_journal_open(s->bus, &s->options, &s->journal, &error), MEND_OK, "%s", error.message);
}

static inline mend_status close_journal(scene *s, mend_error *error) {
  mend_status status = mend_journal_close(s->journal, error);
  s->journal = NULL;
  return status;
}

static inline void close_scene(scene *s) {
  cr_assert_eq(close_journal(s, NULL), MEND_OK);
  mend_run_release(s->run);
  mend_bus_release(s->bus);
  mend_clock_release(s->clock);
  unlink(s->path);
}

static inline void emit(scene *s, const char *reason) {
  mend_run_reset_event event = MEND_RUN_RESET_EVENT_INIT;
  event.reason = mend_str_from(reason);
  cr_assert_eq(mend_run_publish(s->run, &event.event), MEND_OK);
}

/* A line's reason for every line that is one, ! for a broken one, ~ for a torn one. */
static inline const char *reasons(const scene *s) {
  static char text[4096];
  mend_journal_reader *reader;
  mend_journal_line line = MEND_JOURNAL_LINE_INIT;
  size_t len = 0;
  cr_assert_eq(mend_journal_reader_open(NULL, s->path, &reader, NULL), MEND_OK);
  for (mend_status status; (status = mend_journal_reader_next(reader, &line, NULL)) != MEND_ENOENT;) {
    mend_str shown = mend_str_from(line.torn ? "~" : "!");
    if (status == MEND_OK && line.event->event.kind == MEND_EVENT_RUN_RESET) shown = line.event->run_reset.reason;
    if (status == MEND_OK && line.event->event.kind == MEND_EVENT_BUS_HANDLER_FAILED) shown = MEND_STR("F");
    len += (size_t)snprintf(text + len, sizeof text - len, "%.*s", MEND_STR_ARG(shown));
    cr_assert(len < sizeof text);
  }
  text[len] = '\0';
  mend_journal_reader_free(reader);
  return text;
}

static inline mend_journal_stats stats_of(const scene *s) {
  mend_journal_stats stats = {.size = sizeof stats};
  mend_journal_get_stats(s->journal, &stats);
  return stats;
}

static inline off_t size_of(const char *path) {
  struct stat about;
  cr_assert_eq(stat(path, &about), 0);
  return about.st_size;
}

#endif
