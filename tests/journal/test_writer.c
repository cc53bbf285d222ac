#include "mend/journal.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Instead of the C library's, so that tests see when a file is forced to the disk, and can make that fail ---- */

static unsigned syncs;
static int sync_errno;

int fdatasync(int fd) {
  (void)fd;
  syncs++;
  errno = sync_errno;
  return sync_errno == 0 ? 0 : -1;
}

/* ---- The same, so that something can happen just before and just after a journal writes ---- */

typedef struct scene scene;

static struct {
  void (*before)(scene *); /* when it has looked at the file; each is called once */
  void (*after)(scene *);  /* when it asks where the write has ended */
  scene *scene;
} meanwhile;

static void happen(void (**what)(scene *)) {
  void (*call)(scene *) = *what;
  *what = NULL;
  if (call != NULL) call(meanwhile.scene);
}

int fstat(int fd, struct stat *about) {
  int result = fstatat(fd, "", about, AT_EMPTY_PATH);
  happen(&meanwhile.before);
  return result;
}

off_t lseek(int fd, off_t offset, int whence) {
  happen(&meanwhile.after);
  return syscall(SYS_lseek, fd, offset, whence);
}

/* ---- A bus with a journal in a file of its own ---- */

struct scene {
  mend_clock *clock;
  mend_bus *bus;
  mend_run *run;
  mend_journal *journal;
  mend_journal_options options;
  char path[32];
};

static void open_scene(scene *s, const mend_allocator *allocator) {
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

static void open_journal(scene *s) {
  mend_error error = {.message = ""};
  cr_assert_eq(mend_journal_open(s->bus, &s->options, &s->journal, &error), MEND_OK, "%s", error.message);
}

static mend_status close_journal(scene *s, mend_error *error) {
  mend_status status = mend_journal_close(s->journal, error);
  s->journal = NULL;
  return status;
}

static void close_scene(scene *s) {
  cr_assert_eq(close_journal(s, NULL), MEND_OK);
  mend_run_release(s->run);
  mend_bus_release(s->bus);
  mend_clock_release(s->clock);
  unlink(s->path);
}

static void emit(scene *s, const char *reason) {
  mend_run_reset_event event = MEND_RUN_RESET_EVENT_INIT;
  event.reason = mend_str_from(reason);
  cr_assert_eq(mend_run_publish(s->run, &event.event), MEND_OK);
}

/* A line's reason for every line that is one, ! for a broken one, ~ for a torn one. */
static const char *reasons(const scene *s) {
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

static mend_journal_stats stats_of(const scene *s) {
  mend_journal_stats stats = {.size = sizeof stats};
  mend_journal_get_stats(s->journal, &stats);
  return stats;
}

static off_t size_of(const char *path) {
  struct stat about;
  cr_assert_eq(stat(path, &about), 0);
  return about.st_size;
}

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

/* ---- Beside other writers ---- */

#define OTHER_LINE "{\"topic\":\"run.reset\",\"reason\":\"O\"}\n"

static void append_as_another(const scene *s, const char *text) {
  int fd = open(s->path, O_WRONLY | O_APPEND);
  cr_assert(fd >= 0);
  cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
  close(fd);
}

static void another_is_torn(scene *s) { append_as_another(s, "{\"topic\":\"run.re"); }
static void another_writes(scene *s) { append_as_another(s, OTHER_LINE); }
static void another_empties_it(scene *s) { cr_assert_eq(truncate(s->path, 0), 0); }

/* Whatever another writer does, before the journal looks at the file or after, lines are whole and none is lost. */
static void others_come_and_go(void) {
  static const struct {
    void (*other)(scene *);
    bool unseen;   /* it happens between the look and the write */
    bool borrowed; /* the descriptor, so that nothing can be blanked out */
    const char *expected;
    const char *border; /* of the other's text and ours, in the file */
    size_t feeds;       /* how often our second line, of as many bytes as the first, has a line feed in front */
  } cases[] = {
      {another_is_torn, false, false, "a!b", "run.re\n{", 1}, {another_is_torn, true, false, "a!b", "run.re  ", 1},
      {another_is_torn, false, true, "a!b", "run.re\n{", 1},  {another_is_torn, true, true, "a!b", "run.re{", 1},
      {another_writes, false, false, "aOb", "\"O\"}\n{", 0},  {another_writes, true, false, "aOb", "\"O\"}\n{", 0},
      {another_empties_it, false, false, "b", "{", 0},        {another_empties_it, true, false, "b", "{", 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    scene s;
    open_scene(&s, NULL);
    int fd = open(s.path, O_RDWR | O_APPEND);
    if (cases[i].borrowed) {
      s.options.path = NULL;
      s.options.fd = fd;
    }
    open_journal(&s);
    emit(&s, "a");
    uint64_t first = stats_of(&s).bytes;
    meanwhile.scene = &s;
    if (cases[i].unseen) {
      meanwhile.before = cases[i].other;
    } else {
      cases[i].other(&s);
    }
    emit(&s, "b");
    cr_assert_null(meanwhile.before);
    cr_assert_str_eq(reasons(&s), cases[i].expected, "case %zu: %s", i, reasons(&s));
    char *text = mend_test_read_path(s.path, NULL);
    cr_assert_not_null(strstr(text, cases[i].border), "case %zu: %s", i, text);
    free(text);
    mend_journal_stats stats = stats_of(&s);
    cr_assert(stats.lines == 2 && stats.lost == 0, "case %zu", i);
    cr_assert_eq(stats.bytes, 2 * first + cases[i].feeds, "case %zu: %u", i, (unsigned)stats.bytes);
    close_scene(&s);
    close(fd);
  }
}

enum { PROCESSES = 2, LINES_EACH = 3000 };

static void write_many(const scene *parent) {
  scene s = *parent;
  open_journal(&s);
  for (int i = 0; i < LINES_EACH; i++)
    emit(&s, "a line of some length, so that every now and then one lies across the border of a page");
  _exit(close_journal(&s, NULL) == MEND_OK ? 0 : 1);
}

static void processes_share_a_file(void) {
  scene s;
  open_scene(&s, NULL);
  pid_t children[PROCESSES];
  for (int i = 0; i < PROCESSES; i++) {
    children[i] = fork();
    cr_assert(children[i] >= 0);
    if (children[i] == 0) write_many(&s);
  }
  for (int i = 0; i < PROCESSES; i++) {
    int status;
    cr_assert_eq(waitpid(children[i], &status, 0), children[i]);
    cr_assert_eq(status, 0);
  }
  mend_journal_reader *reader;
  mend_journal_line line = MEND_JOURNAL_LINE_INIT;
  cr_assert_eq(mend_journal_reader_open(NULL, s.path, &reader, NULL), MEND_OK);
  for (int i = 0; i < PROCESSES * LINES_EACH; i++)
    cr_assert_eq(mend_journal_reader_next(reader, &line, NULL), MEND_OK, "line %d", i);
  cr_assert_eq(mend_journal_reader_next(reader, &line, NULL), MEND_ENOENT);
  mend_journal_reader_free(reader);
  open_journal(&s);
  close_scene(&s);
}

Test(journal_writer, shares_a_file) {
  others_come_and_go();
  processes_share_a_file();
}

/* ---- Killed while writing ---- */

/* Publishes events of a hundred kilobytes and tells of each when it is written, until it is killed. */
static void write_until_killed(const char *path, int tell) {
  mend_bus *bus;
  mend_run *run;
  mend_journal *journal;
  mend_journal_options options = MEND_JOURNAL_OPTIONS_INIT;
  options.path = path;
  if (mend_bus_new(NULL, &bus, NULL) != MEND_OK || mend_run_new(bus, NULL, &run, NULL) != MEND_OK ||
      mend_journal_open(bus, &options, &journal, NULL) != MEND_OK) {
    _exit(1);
  }
  static char text[100 * 1024];
  memset(text, 'x', sizeof text);
  for (int i = 0; i < 10000; i++) {
    mend_run_reset_event event = MEND_RUN_RESET_EVENT_INIT;
    event.reason = (mend_str){text, sizeof text};
    if (mend_run_publish(run, &event.event) != MEND_OK || write(tell, "", 1) != 1) break;
  }
  _exit(1);
}

/* Returns how many events the child had told of when it was killed. */
static unsigned kill_a_writer(const char *path, unsigned after) {
  int pipes[2];
  cr_assert_eq(pipe(pipes), 0);
  pid_t child = fork();
  cr_assert(child >= 0);
  if (child == 0) {
    close(pipes[0]);
    write_until_killed(path, pipes[1]);
  }
  close(pipes[1]);
  unsigned told = 0;
  char byte;
  while (told < after && read(pipes[0], &byte, 1) == 1)
    told++;
  kill(child, SIGKILL);
  while (read(pipes[0], &byte, 1) == 1)
    told++;
  close(pipes[0]);
  int status;
  cr_assert_eq(waitpid(child, &status, 0), child);
  cr_assert(WIFSIGNALED(status), "the child ended by itself");
  return told;
}

Test(journal_writer, a_killed_writer_loses_one_line_at_most) {
  scene s;
  open_scene(&s, NULL);
  unsigned told = 0, whole = 0, broken = 0;
  enum { KILLS = 8 };
  for (unsigned i = 0; i < KILLS; i++)
    told += kill_a_writer(s.path, i);
  mend_journal_reader *reader;
  mend_journal_line line = MEND_JOURNAL_LINE_INIT;
  cr_assert_eq(mend_journal_reader_open(NULL, s.path, &reader, NULL), MEND_OK);
  for (mend_status status; (status = mend_journal_reader_next(reader, &line, NULL)) != MEND_ENOENT;) {
    if (status == MEND_OK) {
      cr_assert_eq(line.event->run_reset.reason.len, 100 * 1024);
      whole++;
    } else {
      broken++;
    }
  }
  mend_journal_reader_free(reader);
  cr_assert(whole >= told && whole <= told + KILLS, "%u of %u", whole, told);
  cr_assert(broken <= KILLS, "%u", broken);
  close_scene(&s);
}

/* ---- Full disks ---- */

static void nothing_fits(void) {
  scene s;
  open_scene(&s, NULL);
  s.options.path = "/dev/full";
  open_journal(&s);
  emit(&s, "a");
  mend_journal_stats stats = stats_of(&s);
  cr_assert(stats.lines == 0 && stats.bytes == 0 && stats.lost == 2, "the event and the report of its failure");
  mend_bus_stats of_bus = {.size = sizeof of_bus};
  mend_bus_get_stats(s.bus, &of_bus);
  cr_assert_eq(of_bus.handler_failures, 2);
  mend_error error;
  cr_assert_eq(close_journal(&s, &error), MEND_EIO);
  cr_assert_str_eq(error.message, "/dev/full: 2 events could not be written, the last: No space left on device");
  close_scene(&s);
}

static void limit_files_to(rlim_t size) {
  struct rlimit limit;
  cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
  limit.rlim_cur = size;
  cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Room for a part of a line; when there is room again the journal goes on. */
static void a_part_of_a_line_is_blanked_out(void) {
  scene s;
  open_scene(&s, NULL);
  open_journal(&s);
  emit(&s, "a");
  off_t full = size_of(s.path);
  limit_files_to((rlim_t)full + 10);
  emit(&s, "b");
  emit(&s, "c");
  limit_files_to(RLIM_INFINITY);
  size_t len;
  char *text = mend_test_read_path(s.path, &len);
  cr_assert_eq((off_t)len, full + 10);
  cr_assert_str_eq(text + full, "         \n");
  free(text);
  emit(&s, "d");
  cr_assert_str_eq(reasons(&s), "ad");
  cr_assert_eq(stats_of(&s).lost, 4);
  cr_assert_eq(close_journal(&s, NULL), MEND_EIO);
  close_scene(&s);
}

static void another_writes_behind(const scene *s, const char *text, rlim_t limit) {
  limit_files_to(RLIM_INFINITY);
  append_as_another(s, text);
  limit_files_to(limit);
}

static void room_for_another(scene *s) { another_writes_behind(s, OTHER_LINE, (rlim_t)size_of(s->path)); }
static void room_for_another_who_ends_ours(scene *s) {
  another_writes_behind(s, "\n" OTHER_LINE, (rlim_t)size_of(s->path));
}
static void room_for_all(scene *s) { another_writes_behind(s, "\n" OTHER_LINE, RLIM_INFINITY); }
static void room_for_all_but_glued(scene *s) { another_writes_behind(s, OTHER_LINE, RLIM_INFINITY); }

/* What another writer has appended behind the part of ours stays as it is. */
static void a_part_of_a_line_is_blanked_out_before_anothers(void) {
  static const struct {
    void (*behind)(scene *);
    const char *expected;
    unsigned lost;
  } cases[] = {
      {room_for_another, "aOc", 1},
      {room_for_another_who_ends_ours, "aOc", 1},
      {room_for_all, "aObc", 0},
      {room_for_all_but_glued, "aObc", 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    scene s;
    open_scene(&s, NULL);
    s.options.pattern = "run.reset";
    open_journal(&s);
    emit(&s, "a");
    limit_files_to((rlim_t)size_of(s.path) + 10);
    meanwhile.scene = &s;
    meanwhile.after = cases[i].behind;
    emit(&s, "b");
    limit_files_to(RLIM_INFINITY);
    cr_assert_null(meanwhile.after);
    emit(&s, "c");
    cr_assert_str_eq(reasons(&s), cases[i].expected, "case %zu: %s", i, reasons(&s));
    cr_assert_eq(stats_of(&s).lost, cases[i].lost, "case %zu", i);
    cr_assert_eq(close_journal(&s, NULL), cases[i].lost > 0 ? MEND_EIO : MEND_OK);
    close_scene(&s);
  }
}

static void a_part_of_a_line_is_ended_where_it_cannot_be_blanked_out(void) {
  scene s;
  open_scene(&s, NULL);
  int pipes[2];
  cr_assert_eq(pipe2(pipes, O_NONBLOCK), 0);
  s.options.path = NULL;
  s.options.fd = pipes[1];
  s.options.pattern = "run.reset";
  open_journal(&s);
  static char text[100 * 1024], got[200 * 1024];
  memset(text, 'x', sizeof text - 1);
  emit(&s, text);
  ssize_t first = read(pipes[0], got, sizeof got);
  cr_assert(first > 0 && (size_t)first < sizeof text && memchr(got, '\n', (size_t)first) == NULL);
  emit(&s, "b");
  emit(&s, "c");
  ssize_t rest = read(pipes[0], got, sizeof got - 1);
  cr_assert(rest > 0);
  got[rest] = '\0';
  cr_assert_eq(strncmp(got, "\n{\"ts\":", 7), 0, "%s", got);
  cr_assert_not_null(strstr(got, "\"reason\":\"b\"}\n{\"ts\":"), "%s", got);
  cr_assert_eq(stats_of(&s).lost, 1);
  cr_assert_eq(close_journal(&s, NULL), MEND_EIO);
  close(pipes[0]);
  close(pipes[1]);
  close_scene(&s);
}

Test(journal_writer, a_full_disk_leaves_whole_lines) {
  signal(SIGXFSZ, SIG_IGN);
  nothing_fits();
  a_part_of_a_line_is_blanked_out();
  a_part_of_a_line_is_blanked_out_before_anothers();
  a_part_of_a_line_is_ended_where_it_cannot_be_blanked_out();
}

/* ---- Pipes ---- */

static void a_pipe_without_a_reader_is_refused(void) {
  scene s;
  open_scene(&s, NULL);
  unlink(s.path);
  cr_assert_eq(mkfifo(s.path, 0600), 0);
  mend_error error;
  cr_assert_eq(mend_journal_open(s.bus, &s.options, &s.journal, &error), MEND_EIO);
  cr_assert(strncmp(error.message, s.path, strlen(s.path)) == 0 && strstr(error.message, ": nobody reads this pipe"),
            "%s", error.message);
  close_scene(&s);
}

static void a_full_pipe_is_not_waited_for(void) {
  scene s;
  open_scene(&s, NULL);
  unlink(s.path);
  cr_assert_eq(mkfifo(s.path, 0600), 0);
  int fd = open(s.path, O_RDONLY | O_NONBLOCK);
  s.options.pattern = "run.reset";
  open_journal(&s);
  static char text[1000], got[128 * 1024];
  memset(text, 'x', sizeof text - 1);
  for (int i = 0; i < 200; i++)
    emit(&s, text);
  mend_journal_stats stats = stats_of(&s);
  cr_assert(stats.lost > 0 && stats.lines > 0 && stats.lines + stats.lost == 200);
  ssize_t len = read(fd, got, sizeof got);
  cr_assert_eq((uint64_t)len, stats.bytes);
  cr_assert_eq(got[len - 1], '\n');
  emit(&s, "there is room again");
  cr_assert_eq(stats_of(&s).lines, stats.lines + 1);
  mend_error error;
  cr_assert_eq(close_journal(&s, &error), MEND_EIO);
  cr_assert_not_null(strstr(error.message, "Resource temporarily unavailable"), "%s", error.message);
  close(fd);
  close_scene(&s);
}

Test(journal_writer, pipes) {
  a_pipe_without_a_reader_is_refused();
  a_full_pipe_is_not_waited_for();
}

/* ---- Deleted while it is written ---- */

Test(journal_writer, tells_that_its_file_was_deleted) {
  static const struct {
    mend_fsync fsync;
    const char *other_name; /* the file is moved there, or, with "", unnamed before the journal opens it */
    unsigned failures;      /* told on the bus */
    mend_status at_close;
  } cases[] = {
      {MEND_FSYNC_NONE, NULL, 0, MEND_EIO},     {MEND_FSYNC_EVERY, NULL, 2, MEND_EIO},
      {MEND_FSYNC_INTERVAL, NULL, 0, MEND_EIO}, {MEND_FSYNC_EVERY, ".1", 0, MEND_OK},
      {MEND_FSYNC_EVERY, "", 0, MEND_OK},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    scene s;
    open_scene(&s, NULL);
    const char *other_name = cases[i].other_name;
    char moved[sizeof s.path + 2], unnamed[32];
    int fd = open(s.path, O_RDWR);
    if (other_name != NULL && *other_name == '\0') {
      unlink(s.path);
      snprintf(unnamed, sizeof unnamed, "/proc/self/fd/%d", fd);
      s.options.path = unnamed;
    }
    s.options.fsync = cases[i].fsync;
    open_journal(&s);
    emit(&s, "a");
    if (other_name == NULL) unlink(s.path);
    if (other_name != NULL && *other_name != '\0') {
      snprintf(moved, sizeof moved, "%s%s", s.path, other_name);
      cr_assert_eq(rename(s.path, moved), 0);
    }
    emit(&s, "b");
    mend_bus_stats of_bus = {.size = sizeof of_bus};
    mend_bus_get_stats(s.bus, &of_bus);
    cr_assert_eq(of_bus.handler_failures, cases[i].failures, "case %zu: %u", i, (unsigned)of_bus.handler_failures);
    mend_error error;
    cr_assert_eq(close_journal(&s, &error), cases[i].at_close, "case %zu", i);
    if (cases[i].at_close != MEND_OK) cr_assert_not_null(strstr(error.message, ": was deleted while it was written"));
    if (other_name != NULL && *other_name != '\0') unlink(moved);
    close(fd);
    close_scene(&s);
  }
}

/* ---- Forcing to the disk ---- */

Test(journal_writer, syncs_as_the_policy_says) {
  static const struct {
    mend_fsync fsync;
    const char *steps; /* e: an event, s: a second passes */
    unsigned syncs, at_close;
  } cases[] = {
      {MEND_FSYNC_NONE, "eesse", 0, 0},           {MEND_FSYNC_EVERY, "", 0, 0},
      {MEND_FSYNC_EVERY, "eese", 3, 3},           {MEND_FSYNC_INTERVAL, "", 0, 0},
      {MEND_FSYNC_INTERVAL, "ee", 0, 1},          {MEND_FSYNC_INTERVAL, "ese", 0, 1},
      {MEND_FSYNC_INTERVAL, "esse", 1, 1},        {MEND_FSYNC_INTERVAL, "sseee", 1, 2},
      {MEND_FSYNC_INTERVAL, "essssesesse", 2, 2},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    scene s;
    open_scene(&s, NULL);
    s.options.fsync = cases[i].fsync;
    s.options.interval_s = 2;
    open_journal(&s);
    syncs = 0;
    for (const char *step = cases[i].steps; *step != '\0'; step++) {
      if (*step == 'e') emit(&s, "a");
      if (*step == 's') mend_clock_advance(s.clock, MEND_SECOND_NS);
    }
    cr_assert_eq(syncs, cases[i].syncs, "case %zu: %u", i, syncs);
    cr_assert_eq(close_journal(&s, NULL), MEND_OK);
    cr_assert_eq(syncs, cases[i].at_close, "case %zu: %u", i, syncs);
    close_scene(&s);
  }

  static const struct {
    int number;
    mend_status status;
  } failures[] = {{EIO, MEND_EIO}, {ENOSPC, MEND_EIO}, {EINVAL, MEND_OK}, {EROFS, MEND_OK}};
  for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
    scene s;
    open_scene(&s, NULL);
    s.options.fsync = MEND_FSYNC_EVERY;
    open_journal(&s);
    sync_errno = failures[i].number;
    emit(&s, "a");
    mend_error error;
    cr_assert_eq(close_journal(&s, &error), failures[i].status);
    if (failures[i].status != MEND_OK) cr_assert_not_null(strstr(error.message, "cannot be synced"));
    sync_errno = 0;
    close_scene(&s);
  }
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
      {{sizeof(mend_journal_options), NULL, -1, NULL, true, MEND_FSYNC_NONE, 1}, MEND_EINVAL, "path"},
      {{sizeof(mend_journal_options), "/tmp", -1, NULL, true, MEND_FSYNC_NONE, 1}, MEND_EIO, "/tmp: Is a directory"},
      {{sizeof(mend_journal_options), "/tmp/mend/no/file", -1, NULL, true, MEND_FSYNC_NONE, 1}, MEND_EIO, "no/file"},
      {{sizeof(mend_journal_options), NULL, 9999, NULL, true, MEND_FSYNC_NONE, 1}, MEND_EIO, "descriptor 9999"},
      {{sizeof(mend_journal_options), "/dev/null", -1, "a*b", true, MEND_FSYNC_NONE, 1},
       MEND_EINVAL,
       "pattern \"a*b\": expected"},
      {{sizeof(mend_journal_options), "/dev/null", -1, NULL, true, (mend_fsync)7, 1}, MEND_EINVAL, "fsync"},
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
