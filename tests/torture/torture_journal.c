#include "mend/journal.h"
#include "mend/watchdogs.h"
#include "torture/torture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { CALLS = 6 };

/* A file of its own, empty at first; t->own is its path. */
static void make_file(torture *t) {
  char path[] = "/tmp/mend-torture-XXXXXX";
  const int fd = mkstemp(path);
  torture_must(t, fd >= 0 && close(fd) == 0, "a temporary file is made");
  t->own = strdup(path);
}

static void remove_file(torture *t) {
  unlink(t->own);
  free(t->own);
}

/* One call after the other, with the same arguments; false when a publish failed. */
static mend_status publish_calls(torture *t) {
  for (uint64_t call = 1; call <= CALLS; call++) {
    mend_tool_before_event before = MEND_TOOL_BEFORE_EVENT_INIT;
    mend_tool_after_event after = MEND_TOOL_AFTER_EVENT_INIT;
    before.event.call = after.event.call = call;
    before.tool_name = after.tool_name = MEND_STR("search");
    before.args = MEND_STR("{\"q\": \"rain\"}");
    after.result = MEND_STR("{\"found\": []}");
    mend_status status = mend_run_publish(t->run, &before.event);
    if (status == MEND_OK) status = mend_run_publish(t->run, &after.event);
    if (status != MEND_OK) return status;
  }
  return MEND_OK;
}

static mend_status write_journal(torture *t, bool content) {
  mend_journal_options options = MEND_JOURNAL_OPTIONS_INIT;
  mend_journal_stats stats = {.size = sizeof stats};
  mend_journal *journal = NULL;
  options.path = t->own;
  options.content = content;
  mend_status status = torture_open_bus(t);
  if (status == MEND_OK) status = mend_journal_open(t->bus, &options, &journal, NULL);
  if (status != MEND_OK) goto end;
  TRY(publish_calls(t));
  mend_journal_get_stats(journal, &stats);
  torture_claim(t, stats.lost > 0 || stats.lines >= 2 * CALLS, "an event is a line, or is counted as lost");
end:
  if (journal != NULL) {
    const mend_status closed = mend_journal_close(journal, NULL);
    if (status == MEND_OK) status = closed;
  }
  torture_close_bus(t);
  return status;
}

static mend_status write_with_content(torture *t) { return write_journal(t, true); }
static mend_status write_without_content(torture *t) { return write_journal(t, false); }

static void make_journal(torture *t) {
  make_file(t);
  torture_must(t, write_journal(t, true) == MEND_OK, "a journal is written");
}

/* ---- Reading it, and on a bus again ---- */

static mend_status take_line(torture *t, const mend_journal_line *line) {
  if (line->event == NULL) return mend_run_emit_text(t->run, line->topic, line->text, NULL);
  return mend_run_publish(t->run, (mend_event *)line->event);
}

/* `take` may be NULL. */
static mend_status read_lines(torture *t, mend_status (*take)(torture *t, const mend_journal_line *line),
                              uint64_t *ret_lines) {
  mend_journal_reader *reader = NULL;
  mend_journal_line line = MEND_JOURNAL_LINE_INIT;
  mend_status status = mend_journal_reader_open(t->allocator, t->own, &reader, NULL);
  *ret_lines = 0;
  while (status == MEND_OK && (status = mend_journal_reader_next(reader, &line, NULL)) == MEND_OK) {
    ++*ret_lines;
    if (take != NULL) status = take(t, &line);
  }
  mend_journal_reader_free(reader);
  return status == MEND_ENOENT ? MEND_OK : status;
}

static mend_status read_journal(torture *t) {
  uint64_t lines;
  const mend_status status = read_lines(t, NULL, &lines);
  torture_claim(t, status != MEND_OK || lines == 2 * CALLS, "every line is read");
  return status;
}

static mend_status replay(torture *t) {
  uint64_t lines;
  mend_watch *watch;
  mend_status status = torture_open_bus(t);
  if (status == MEND_OK) status = mend_bus_watch(t->bus, NULL, NULL);
  if (status != MEND_OK) goto end;
  TRY(mend_run_watch(t->run, &watch));
  TRY(read_lines(t, take_line, &lines));
  torture_claim(t, mend_watch_count(watch) == 1, "the loop in it is found");
end:
  torture_close_bus(t);
  return status;
}

static const torture_scenario scenarios[] = {
    {"writing", write_with_content, make_file, remove_file},
    {"writing without content", write_without_content, make_file, remove_file},
    {"reading", read_journal, make_journal, remove_file},
    {"replay: a journal onto a watched bus", replay, make_journal, remove_file},
};
const torture_room torture_journal = TORTURE_ROOM("journal", scenarios);
