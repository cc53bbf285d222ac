#include "scene.h"

#include <fcntl.h>
#include <pthread.h>

/* ---- What is written ---- */

static void every_event_is_a_line(void) {
  scene s;
  open_scene(&s, NULL);
  unlink(s.path);
  open_journal(&s);
  struct stat about;
  cr_assert_eq(stat(s.path, &about), 0);
  cr_assert_eq(about.st_mode & 0777, 0600);
  emit(&s, "a");
  cr_assert_eq(mend_run_emit(s.run, "my.own", "{\"n\":[1]}", NULL), MEND_OK);
  mend_journal_stats stats = stats_of(&s);
  cr_assert(stats.lines == 2 && stats.lost == 0 && (off_t)stats.bytes == size_of(s.path));
  char *text = mend_test_read_path(s.path, NULL), *second = strchr(text, '\n');
  cr_assert_eq(strncmp(text, "{\"ts\":1.5,\"seq\":1,\"topic\":\"run.reset\",\"run_id\":\"r\",\"trace_id\":\"", 62), 0,
               "%s", text);
  cr_assert_not_null(strstr(second, "\"topic\":\"my.own\""));
  cr_assert_not_null(strstr(second, ",\"n\":[1]}\n"));
  free(text);
  close_scene(&s);
}

static void a_journal_takes_what_it_asked_for(void) {
  scene s;
  open_scene(&s, NULL);
  s.options.pattern = "tool.*";
  s.options.content = false;
  open_journal(&s);
  emit(&s, "not wanted");
  cr_assert_eq(mend_run_emit(s.run, "tool.before", "{\"args\":{\"n\":1.0}}", NULL), MEND_OK);
  cr_assert_eq(mend_run_emit(s.run, "tool.after", "{\"result\":[1]}", NULL), MEND_OK);
  char *text = mend_test_read_path(s.path, NULL);
  cr_assert_not_null(strstr(text, ",\"args_hash_loose\":\""), "%s", text);
  cr_assert_null(strstr(text, "\"result\":"), "%s", text);
  cr_assert_not_null(strstr(text, "\"result_preview\":\"[1]\",\"result_len\":3,\"result_hash\":"), "%s", text);
  free(text);
  cr_assert_eq(stats_of(&s).lines, 2);
  close_scene(&s);
}

static void lines_stay_within_what_readers_take(void) {
  scene s;
  open_scene(&s, NULL);
  open_journal(&s);
  mend_tool_after_event after = MEND_TOOL_AFTER_EVENT_INIT;
  size_t len = MEND_JOURNAL_LINE_MAX;
  char *result = malloc(len);
  memset(result, 'x', len);
  result[0] = result[len - 1] = '"';
  after.result = (mend_str){result, len};
  cr_assert_eq(mend_run_publish(s.run, &after.event), MEND_OK);
  cr_assert_eq(stats_of(&s).lines, 1);
  cr_assert(size_of(s.path) < 2000, "the result is left out");
  mend_run_reset_event reset = MEND_RUN_RESET_EVENT_INIT;
  reset.reason = after.result;
  cr_assert_eq(mend_run_publish(s.run, &reset.event), MEND_OK);
  mend_journal_stats stats = stats_of(&s);
  cr_assert(stats.lost == 1 && stats.lines == 2, "the event, which is lost, and bus.handler_failed, which is not");
  free(result);
  mend_error error;
  cr_assert_eq(close_journal(&s, &error), MEND_EIO);
  cr_assert_not_null(strstr(error.message, "1 events could not be written"), "%s", error.message);
  close_scene(&s);
}

Test(journal_writer, writes_what_is_published) {
  size_t files = mend_test_open_files();
  every_event_is_a_line();
  a_journal_takes_what_it_asked_for();
  lines_stay_within_what_readers_take();
  cr_assert_eq(mend_test_open_files(), files);
}

/* ---- Going on in a file ---- */

/* A journal that was cut anywhere goes on with a line of its own; whole lines before it are all there. */
static void goes_on_after_a_cut_anywhere(void) {
  scene s;
  open_scene(&s, NULL);
  open_journal(&s);
  emit(&s, "a");
  emit(&s, "\xc3\xbc");
  cr_assert_eq(close_journal(&s, NULL), MEND_OK);
  size_t len;
  char *text = mend_test_read_path(s.path, &len);
  const char *second = strchr(text, '\n') + 1;
  size_t first_len = (size_t)(second - text);
  for (size_t cut = 0; cut <= len; cut++) {
    int fd = open(s.path, O_WRONLY | O_TRUNC);
    cr_assert_eq(write(fd, text, cut), (ssize_t)cut);
    close(fd);
    open_journal(&s);
    emit(&s, "b");
    emit(&s, "c");
    cr_assert_eq(close_journal(&s, NULL), MEND_OK);
    const char *first = cut == 0 ? "" : cut < first_len - 1 ? "!" : "a";
    const char *torn = cut <= first_len ? "" : cut < len - 1 ? "!" : "\xc3\xbc";
    char expected[32];
    snprintf(expected, sizeof expected, "%s%sbc", first, torn);
    cr_assert_str_eq(reasons(&s), expected, "cut at %zu", cut);
  }
  free(text);
  close_scene(&s);
}

static void borrows_a_descriptor(void) {
  static const int modes[] = {O_RDWR, O_RDWR | O_APPEND, O_WRONLY | O_APPEND};
  for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
    scene s;
    open_scene(&s, NULL);
    int fd = open(s.path, modes[i]);
    cr_assert_eq(write(fd, "torn", 4), 4);
    s.options.path = NULL;
    s.options.fd = fd;
    open_journal(&s);
    emit(&s, "a");
    cr_assert_eq(close_journal(&s, NULL), MEND_OK);
    cr_assert_eq(close(fd), 0, "the descriptor is the caller's to close");
    cr_assert_str_eq(reasons(&s), "!a");
    close_scene(&s);
  }
}

static void two_journals_share_a_file(void) {
  scene s;
  open_scene(&s, NULL);
  open_journal(&s);
  mend_journal *other;
  cr_assert_eq(mend_journal_open(s.bus, &s.options, &other, NULL), MEND_OK);
  emit(&s, "a");
  emit(&s, "b");
  cr_assert_eq(mend_journal_close(other, NULL), MEND_OK);
  cr_assert_str_eq(reasons(&s), "aabb");
  close_scene(&s);
}

Test(journal_writer, goes_on_in_a_file) {
  goes_on_after_a_cut_anywhere();
  borrows_a_descriptor();
  two_journals_share_a_file();
}

/* ---- Refusals ---- */

static void options_are_refused(void) {
  scene s;
  open_scene(&s, NULL);
  static const struct {
    mend_journal_options options;
    mend_status status;
    const char *named;
  } cases[] = {
      {{.size = 0}, MEND_EINVAL, "size"},
      {{sizeof(mend_journal_options), NULL, -1, NULL, true, MEND_FSYNC_NONE, 1},
       MEND_EINVAL,
       "mend_journal_options.path: NULL"},
      {{sizeof(mend_journal_options), "/tmp", -1, NULL, true, MEND_FSYNC_NONE, 1}, MEND_EIO, "/tmp: Is a directory"},
      {{sizeof(mend_journal_options), "/tmp/mend/no/file", -1, NULL, true, MEND_FSYNC_NONE, 1}, MEND_EIO, "no/file"},
      {{sizeof(mend_journal_options), NULL, 9999, NULL, true, MEND_FSYNC_NONE, 1}, MEND_EIO, "descriptor 9999"},
      {{sizeof(mend_journal_options), "/dev/null", -1, "a*b", true, MEND_FSYNC_NONE, 1},
       MEND_EINVAL,
       "pattern \"a*b\": expected"},
      {{sizeof(mend_journal_options), "/dev/null", -1, NULL, true, (mend_fsync)7, 1},
       MEND_EINVAL,
       "mend_journal_options.fsync: 7, expected"},
      {{sizeof(mend_journal_options), "", -1, NULL, true, MEND_FSYNC_NONE, 1}, MEND_EIO, "the path \"\": No such file"},
      {{sizeof(mend_journal_options), "/dev/null", -1, NULL, true, MEND_FSYNC_NONE, 0}, MEND_EINVAL, "interval_s"},
      {{sizeof(mend_journal_options), "/dev/null", -1, NULL, true, MEND_FSYNC_NONE, -1}, MEND_EINVAL, "interval_s"},
      {{sizeof(mend_journal_options), "/dev/null", -1, NULL, true, MEND_FSYNC_NONE, __builtin_nan("")},
       MEND_EINVAL,
       "interval_s"},
      {{sizeof(mend_journal_options), "/dev/null", -1, NULL, true, MEND_FSYNC_NONE, __builtin_inf()},
       MEND_EINVAL,
       "interval_s"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    mend_error error;
    mend_journal *journal = NULL;
    cr_assert_eq(mend_journal_open(s.bus, &cases[i].options, &journal, &error), cases[i].status, "case %zu", i);
    cr_assert_not_null(strstr(error.message, cases[i].named), "%s", error.message);
    cr_assert_null(journal);
  }
  close_scene(&s);
}

static mend_status close_from_handler(void *ctx, const mend_event *event) {
  (void)event;
  scene *s = ctx;
  mend_error error;
  cr_assert_eq(mend_journal_close(s->journal, &error), MEND_EDEADLK);
  cr_assert_not_null(strstr(error.message, s->path));
  return MEND_OK;
}

static void a_handler_cannot_close(void) {
  scene s;
  open_scene(&s, NULL);
  open_journal(&s);
  mend_subscription *subscription;
  cr_assert_eq(mend_bus_subscribe(s.bus, "*", close_from_handler, &s, NULL, &subscription, NULL), MEND_OK);
  emit(&s, "a");
  mend_subscription_close(&subscription);
  emit(&s, "b");
  cr_assert_str_eq(reasons(&s), "ab");
  close_scene(&s);
}

static void a_journal_keeps_its_bus(void) {
  scene s;
  open_scene(&s, NULL);
  open_journal(&s);
  emit(&s, "a");
  mend_run_release(s.run);
  mend_bus_release(s.bus);
  s.run = NULL;
  s.bus = NULL;
  cr_assert_eq(close_journal(&s, NULL), MEND_OK);
  close_scene(&s);
}

static void memory_may_run_out(void) {
  mend_test_allocator allocator;
  mend_test_allocator_init(&allocator);
  scene s;
  open_scene(&s, &allocator.base);
  emit(&s, "the bus's own");
  size_t files = mend_test_open_files();
  mend_status status = MEND_ENOMEM;
  for (size_t n = 1; status != MEND_OK; n++) {
    mend_test_allocator_arm(&allocator, n, true);
    status = mend_journal_open(s.bus, &s.options, &s.journal, NULL);
    mend_test_allocator_arm(&allocator, 0, false);
    cr_assert(status == MEND_OK || status == MEND_ENOMEM);
    if (status != MEND_OK) cr_assert_eq(mend_test_open_files(), files);
  }
  mend_test_allocator_arm(&allocator, 1, false);
  emit(&s, "lost");
  mend_test_allocator_arm(&allocator, 0, false);
  emit(&s, "a");
  cr_assert_eq(stats_of(&s).lost, 1);
  cr_assert_str_eq(reasons(&s), "Fa");
  mend_error error;
  cr_assert_eq(close_journal(&s, &error), MEND_EIO);
  cr_assert_not_null(strstr(error.message, "out of memory"), "%s", error.message);
  close_scene(&s);
  cr_assert_eq(allocator.blocks, 0);
}

Test(journal_writer, refusals) {
  size_t files = mend_test_open_files();
  options_are_refused();
  a_handler_cannot_close();
  a_journal_keeps_its_bus();
  memory_may_run_out();
  cr_assert_eq(mend_journal_close(NULL, NULL), MEND_OK);
  cr_assert_eq(mend_test_open_files(), files);
}

/* ---- Many threads ---- */

enum { THREADS = 4, EVENTS = 500 };

static void *publish_many(void *ctx) {
  scene *s = ctx;
  for (int i = 0; i < EVENTS; i++) {
    if (mend_run_emit(s->run, "tool.before", "{\"args\":{\"a\":[1,2,3]},\"tool\":\"t\"}", NULL) != MEND_OK) return s;
  }
  return NULL;
}

Test(journal_writer, any_thread_may_publish) {
  scene s;
  open_scene(&s, NULL);
  open_journal(&s);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    cr_assert_eq(pthread_create(&threads[i], NULL, publish_many, &s), 0);
  for (int i = 0; i < THREADS; i++) {
    void *failed;
    pthread_join(threads[i], &failed);
    cr_assert_null(failed);
  }
  cr_assert_eq(stats_of(&s).lines, THREADS * EVENTS);
  static bool seen[THREADS * EVENTS];
  mend_journal_reader *reader;
  mend_journal_line line = MEND_JOURNAL_LINE_INIT;
  cr_assert_eq(mend_journal_reader_open(NULL, s.path, &reader, NULL), MEND_OK);
  for (int i = 0; i < THREADS * EVENTS; i++) {
    cr_assert_eq(mend_journal_reader_next(reader, &line, NULL), MEND_OK);
    cr_assert(line.seq >= 1 && line.seq <= THREADS * EVENTS && !seen[line.seq - 1]);
    seen[line.seq - 1] = true;
  }
  cr_assert_eq(mend_journal_reader_next(reader, &line, NULL), MEND_ENOENT);
  mend_journal_reader_free(reader);
  close_scene(&s);
}
