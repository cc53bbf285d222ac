/* Journals beside other writers, killed, on full disks, into pipes. */
#include "scene.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* ---- Instead of the C library's, so that something can happen just before and just after a journal writes ---- */

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

Test(writer_trouble, shares_a_file) {
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

Test(writer_trouble, a_killed_writer_loses_one_line_at_most) {
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

Test(writer_trouble, a_full_disk_leaves_whole_lines) {
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

Test(writer_trouble, pipes) {
  a_pipe_without_a_reader_is_refused();
  a_full_pipe_is_not_waited_for();
}
