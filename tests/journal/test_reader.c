#include "mend/journal.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- Files to read ---- */

static char path[] = "/tmp/mend-journal-XXXXXX";

static int new_file(void) {
  strcpy(path + sizeof path - 7, "XXXXXX");
  int fd = mkstemp(path);
  cr_assert(fd >= 0);
  return fd;
}

static void put_file(const char *text, size_t len) {
  int fd = new_file();
  cr_assert_eq(write(fd, text, len), (ssize_t)len);
  close(fd);
}

/* ---- What a reader says of a file: "1 run.reset|2 !MEND_ESYNTAX 2:5|3 !MEND_ESYNTAX 3:9 torn|" ---- */

typedef struct transcript {
  char text[4096];
  size_t len;
} transcript;

static void note(transcript *t, mend_status status, const mend_journal_line *line, const mend_error *error) {
  char *at = t->text + t->len;
  size_t room = sizeof t->text - t->len;
  int len = status == MEND_OK ? snprintf(at, room, "%u %.*s|", (unsigned)line->number, MEND_STR_ARG(line->topic))
                              : snprintf(at, room, "%u !%s %u:%u%s|", (unsigned)line->number, mend_status_name(status),
                                         error->line, error->column, line->torn ? " torn" : "");
  cr_assert(len > 0 && (size_t)len < room);
  t->len += (size_t)len;
}

static const char *read_all(transcript *t, const mend_allocator *allocator) {
  mend_journal_reader *reader;
  mend_journal_line line = MEND_JOURNAL_LINE_INIT;
  mend_error error;
  t->len = 0;
  t->text[0] = '\0';
  cr_assert_eq(mend_journal_reader_open(allocator, path, &reader, &error), MEND_OK);
  for (mend_status status; (status = mend_journal_reader_next(reader, &line, &error)) != MEND_ENOENT;) {
    cr_assert(status == MEND_OK || status == MEND_ESYNTAX || status == MEND_ELIMIT);
    cr_assert_eq(line.text.ptr != NULL, status != MEND_ELIMIT);
    note(t, status, &line, &error);
  }
  cr_assert_eq(mend_journal_reader_next(reader, &line, &error), MEND_ENOENT, "the end stays the end");
  mend_journal_reader_free(reader);
  return t->text;
}

#define RESET "{\"topic\":\"run.reset\"}"
#define TEXT(literal) literal, sizeof(literal) - 1

static void whole_torn_and_broken_lines(void) {
  static const struct {
    const char *text;
    size_t len;
    const char *expected;
  } cases[] = {
      {TEXT(""), ""},
      {TEXT("\n\n  \t\r\n"), ""},
      {TEXT(RESET), "1 run.reset|"},
      {TEXT(RESET "\n"), "1 run.reset|"},
      {TEXT(RESET "\r\n\n" RESET "\n"), "1 run.reset|3 run.reset|"},
      {TEXT(RESET "\n{\"topic\":\"run.re"), "1 run.reset|2 !MEND_ESYNTAX 2:17 torn|"},
      {TEXT(RESET "\n{"), "1 run.reset|2 !MEND_ESYNTAX 2:2 torn|"},
      {TEXT(RESET "\n{\"topic\":\"\xe2\x82"), "1 run.reset|2 !MEND_ESYNTAX 2:13 torn|"},
      {TEXT(RESET "\n\0\0\0"), "1 run.reset|2 !MEND_ESYNTAX 2:1 torn|"},
      {TEXT("{\"topic\":\"run.re\n" RESET "\n"), "1 !MEND_ESYNTAX 1:17|2 run.reset|"},
      {TEXT("{\"topic\":\"run\0reset\"}\n" RESET "\n"), "1 !MEND_ESYNTAX 1:14|2 run.reset|"},
      {TEXT("{\"topic\":\0\"run.reset\"}\n" RESET "\n"), "1 !MEND_ESYNTAX 1:10|2 run.reset|"},
      {TEXT("\xff\n" RESET "\n"), "1 !MEND_ESYNTAX 1:1|2 run.reset|"},
      {TEXT("[]\n{}\n5\n" RESET "\n5"),
       "1 !MEND_ESYNTAX 1:1|2 !MEND_ESYNTAX 2:1|3 !MEND_ESYNTAX 3:1|4 run.reset|5 !MEND_ESYNTAX 5:1|"},
      {TEXT(RESET " " RESET "\n" RESET), "1 !MEND_ESYNTAX 1:23|2 run.reset|"},
      {TEXT("{\"event\":\"tick\",\"ts\":1,\"n\":123456789012345678901234567890}\n{\"topic\":\"my.own\"}"),
       "1 tick|2 my.own|"},
      {TEXT("This is no journal.\nIt is a letter.\n"), "1 !MEND_ESYNTAX 1:1|2 !MEND_ESYNTAX 2:1|"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    static transcript t;
    put_file(cases[i].text, cases[i].len);
    const char *said = read_all(&t, NULL);
    cr_assert_str_eq(said, cases[i].expected, "case %zu: %s", i, said);
    unlink(path);
  }
}

static void every_member_of_a_line(void) {
  static const char text[] =
      "{\"ts\":1790000000.123456789,\"seq\":9,\"topic\":\"tool.before\",\"run_id\":\"r\",\"agent\":\"a\",\"call_id\":7,"
      "\"parent_call_id\":\"pc\",\"parent_run_id\":\"pr\",\"session_id\":\"s\",\"project_id\":\"p\",\"tool\":\"t\\n\"}";
  put_file(text, sizeof text - 1);
  mend_journal_reader *reader;
  mend_journal_line line = MEND_JOURNAL_LINE_INIT;
  cr_assert_eq(mend_journal_reader_open(NULL, path, &reader, NULL), MEND_OK);
  cr_assert_eq(mend_journal_reader_next(reader, &line, NULL), MEND_OK);
  cr_assert(line.number == 1 && mend_str_equal(line.text, mend_str_from(text)) && !line.torn && line.seq == 9);
  cr_assert(line.has_ts && line.ts_ns == UINT64_C(1790000000123456789));
  cr_assert(mend_str_equal(line.topic, MEND_STR("tool.before")) && mend_str_equal(line.run_id, MEND_STR("r")));
  cr_assert(mend_str_equal(line.agent, MEND_STR("a")) && mend_str_equal(line.parent_call, MEND_STR("pc")));
  cr_assert(mend_str_equal(line.parent_run_id, MEND_STR("pr")) && mend_str_equal(line.session_id, MEND_STR("s")));
  cr_assert(mend_str_equal(line.project_id, MEND_STR("p")));
  cr_assert(line.event->event.kind == MEND_EVENT_TOOL_BEFORE && line.event->event.call == 7);
  cr_assert(mend_str_equal(line.event->tool_before.tool_name, MEND_STR("t\n")));
  mend_journal_reader_free(reader);
  unlink(path);

  put_file(TEXT("{\"topic\":\"my.own\",\"call_id\":\"c\"}\n"));
  cr_assert_eq(mend_journal_reader_open(NULL, path, &reader, NULL), MEND_OK);
  line.size = 0;
  cr_assert_eq(mend_journal_reader_next(reader, &line, NULL), MEND_EINVAL, "a line of size 0");
  line.size = offsetof(mend_journal_line, event);
  mend_any_event *untouched = line.event;
  cr_assert_eq(mend_journal_reader_next(reader, &line, NULL), MEND_OK, "a line of an older program");
  cr_assert_eq(line.event, untouched);
  cr_assert(!line.has_ts && line.seq == 0 && line.run_id.ptr == NULL && line.agent.ptr == NULL);
  mend_journal_reader_free(reader);
  unlink(path);
}

static mend_status keep_json(void *ctx, const mend_event *event) {
  return mend_event_to_json(event, NULL, NULL, ctx, NULL);
}

/* What the reader gives of an own topic is neither ended by NUL nor without the head's members. */
static void own_topics_go_back_on_a_bus(void) {
  put_file(TEXT("{\"ts\":1,\"topic\":\"my.own\",\"run_id\":\"r\",\"a\":[1]}\n" RESET "\n"));
  mend_journal_reader *reader;
  mend_journal_line line = MEND_JOURNAL_LINE_INIT;
  mend_bus *bus;
  mend_run *run;
  char *json = NULL;
  cr_assert_eq(mend_bus_new(NULL, &bus, NULL), MEND_OK);
  cr_assert_eq(mend_bus_subscribe(bus, "my.own", keep_json, &json, NULL, NULL, NULL), MEND_OK);
  cr_assert_eq(mend_run_new(bus, NULL, &run, NULL), MEND_OK);
  cr_assert_eq(mend_journal_reader_open(NULL, path, &reader, NULL), MEND_OK);
  cr_assert_eq(mend_journal_reader_next(reader, &line, NULL), MEND_OK);
  cr_assert_null(line.event);
  cr_assert_eq(mend_run_emit_text(run, line.topic, line.text, NULL), MEND_OK);
  cr_assert_not_null(strstr(json, ",\"topic\":\"my.own\",\"run_id\":"), "%s", json);
  cr_assert_not_null(strstr(json, ",\"a\":[1]}"), "%s", json);
  cr_assert_null(strstr(json, "\"run_id\":\"r\""), "%s", json);
  mend_free(NULL, json);
  mend_journal_reader_free(reader);
  mend_run_release(run);
  mend_bus_release(bus);
  unlink(path);
}

static void deep_lines_are_broken(void) {
  enum { DEPTH = 10000 };
  static char text[DEPTH + 100];
  static transcript t;
  int len = snprintf(text, sizeof text, "{\"topic\":\"tool.before\",\"args\":");
  memset(text + len, '[', DEPTH);
  strcpy(text + len + DEPTH, "\n" RESET "\n");
  put_file(text, strlen(text));
  read_all(&t, NULL);
  cr_assert_not_null(strstr(t.text, "1 !MEND_ESYNTAX 1:"), "%s", t.text);
  cr_assert_not_null(strstr(t.text, "2 run.reset|"), "%s", t.text);
  unlink(path);
}

/* The file grows while it is read, and a line is half there. */
static void a_reader_does_not_follow(void) {
  int fd = new_file();
  mend_journal_reader *reader;
  mend_journal_line line = MEND_JOURNAL_LINE_INIT;
  mend_error error;
  cr_assert_eq(mend_journal_reader_open(NULL, path, &reader, &error), MEND_OK);
  cr_assert(dprintf(fd, RESET "\n" RESET "\n{\"topic\":\"ru") > 0);
  cr_assert_eq(mend_journal_reader_next(reader, &line, &error), MEND_OK, "what came after opening is read");
  cr_assert_eq(mend_journal_reader_next(reader, &line, &error), MEND_OK);
  cr_assert(mend_journal_reader_next(reader, &line, &error) == MEND_ESYNTAX && line.torn && line.number == 3);
  cr_assert(dprintf(fd, "n.reset\"}\n" RESET "\n") > 0);
  cr_assert_eq(mend_journal_reader_next(reader, &line, &error), MEND_ENOENT);
  mend_journal_reader_free(reader);
  transcript t;
  cr_assert_str_eq(read_all(&t, NULL), "1 run.reset|2 run.reset|3 run.reset|4 run.reset|", "%s", t.text);
  close(fd);
  unlink(path);
}

static void paths_are_refused(void) {
  static const struct {
    const char *path;
    mend_status status;
  } cases[] = {{"/tmp", MEND_EIO}, {"/tmp/mend/no/such/file", MEND_ENOENT}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    mend_journal_reader *reader = NULL;
    mend_error error;
    cr_assert_eq(mend_journal_reader_open(NULL, cases[i].path, &reader, &error), cases[i].status, "%s", cases[i].path);
    cr_assert_not_null(strstr(error.message, cases[i].path), "%s", error.message);
    cr_assert_null(reader);
  }
  mend_journal_reader_free(NULL);
}

static void standard_input_is_a_dash(void) {
  put_file(TEXT(RESET "\n" RESET "\n"));
  int kept = dup(STDIN_FILENO), fd = open(path, O_RDONLY);
  dup2(fd, STDIN_FILENO);
  close(fd);
  mend_journal_reader *reader;
  mend_journal_line line = MEND_JOURNAL_LINE_INIT;
  cr_assert_eq(mend_journal_reader_open(NULL, "-", &reader, NULL), MEND_OK);
  cr_assert_eq(mend_journal_reader_next(reader, &line, NULL), MEND_OK);
  cr_assert_eq(mend_journal_reader_next(reader, &line, NULL), MEND_OK);
  cr_assert_eq(mend_journal_reader_next(reader, &line, NULL), MEND_ENOENT);
  mend_journal_reader_free(reader);
  cr_assert_neq(fcntl(STDIN_FILENO, F_GETFD), -1, "standard input is not the reader's to close");
  dup2(kept, STDIN_FILENO);
  close(kept);
  unlink(path);
}

static void memory_may_run_out(void) {
  put_file(TEXT(RESET "\n{\"topic\":\"run.reset\",\"reason\":\"\\n\"}\n"));
  size_t files = mend_test_open_files();
  mend_test_allocator allocator;
  mend_test_allocator_init(&allocator);
  bool failed = true;
  for (size_t n = 1; failed; n++) {
    mend_journal_reader *reader;
    mend_journal_line line = MEND_JOURNAL_LINE_INIT;
    mend_test_allocator_arm(&allocator, n, false);
    mend_status status = mend_journal_reader_open(&allocator.base, path, &reader, NULL);
    cr_assert(status == MEND_OK || status == MEND_ENOMEM);
    while (status == MEND_OK)
      status = mend_journal_reader_next(reader, &line, NULL);
    failed = mend_test_allocator_failed(&allocator);
    cr_assert_eq(status, failed ? MEND_ENOMEM : MEND_ENOENT);
    if (allocator.blocks > 0) mend_journal_reader_free(reader);
    cr_assert_eq(allocator.blocks, 0);
    cr_assert_eq(mend_test_open_files(), files);
  }
  unlink(path);
}

Test(journal_reader, reads_what_can_be_read) {
  size_t files = mend_test_open_files();
  whole_torn_and_broken_lines();
  every_member_of_a_line();
  deep_lines_are_broken();
  own_topics_go_back_on_a_bus();
  a_reader_does_not_follow();
  paths_are_refused();
  standard_input_is_a_dash();
  memory_may_run_out();
  cr_assert_eq(mend_test_open_files(), files);
}

/* ---- Memory does not grow with a line that is too long ---- */

typedef struct metered {
  mend_allocator base;
  size_t now, peak;
} metered;

/* Every block is preceded by its size. */
enum { PREFIX = 16 };

static void *metered_reallocate(void *ctx, void *pointer, size_t size) {
  metered *meter = ctx;
  char *block = pointer != NULL ? (char *)pointer - PREFIX : NULL;
  if (block != NULL) meter->now -= *(size_t *)(void *)block;
  block = realloc(block, size + PREFIX);
  cr_assert_not_null(block);
  *(size_t *)(void *)block = size;
  meter->now += size;
  if (meter->now > meter->peak) meter->peak = meter->now;
  return block + PREFIX;
}

static void *metered_allocate(void *ctx, size_t size) { return metered_reallocate(ctx, NULL, size); }

static void metered_release(void *ctx, void *pointer) {
  ((metered *)ctx)->now -= *(size_t *)(void *)((char *)pointer - PREFIX);
  free((char *)pointer - PREFIX);
}

static void start(metered *meter) {
  *meter = (metered){.base = {sizeof(mend_allocator), meter, metered_allocate, metered_reallocate, metered_release}};
}

/* The buffer doubles, so it takes twice the longest line, and so does the scratch space of one that is parsed. */
#define LINES_PEAK (2 * MEND_JOURNAL_LINE_MAX)
#define SMALL_THINGS ((size_t)1024 * 1024)

/* A hole of that many bytes, which takes no place on the disk, is the second line. */
static size_t peak_with_a_line_of(off_t len) {
  static transcript t;
  metered meter;
  start(&meter);
  int fd = new_file();
  cr_assert_eq(write(fd, RESET "\n", sizeof RESET), (ssize_t)sizeof RESET);
  cr_assert(lseek(fd, len, SEEK_CUR) > 0);
  cr_assert_eq(write(fd, "\n" RESET, sizeof RESET), (ssize_t)sizeof RESET);
  close(fd);
  const char *said = read_all(&t, &meter.base);
  unlink(path);
  cr_assert_str_eq(said, "1 run.reset|2 !MEND_ELIMIT 2:0|3 run.reset|", "%s", said);
  cr_assert_eq(meter.now, 0);
  return meter.peak;
}

static int open_long_line(void) {
  static const char head[] = "{\"topic\":\"run.reset\"";
  static char blanks[1024 * 1024];
  memset(blanks, ' ', sizeof blanks);
  int fd = new_file();
  cr_assert_eq(write(fd, head, sizeof head - 1), (ssize_t)(sizeof head - 1));
  for (size_t len = 0; len < MEND_JOURNAL_LINE_MAX; len += sizeof blanks)
    cr_assert_eq(write(fd, blanks, sizeof blanks), (ssize_t)sizeof blanks);
  return fd;
}

/* Makes it a line of that many bytes, with another one behind. */
static void end_long_line(int fd, size_t len, const char *feed) {
  off_t end = (off_t)len - 2;
  cr_assert_eq(ftruncate(fd, end), 0);
  cr_assert_eq(lseek(fd, end, SEEK_SET), end);
  cr_assert(dprintf(fd, " }%s" RESET, feed) > 0);
}

Test(journal_reader, the_longest_line_is_read) {
  static const struct {
    size_t len;
    const char *feed;
    const char *expected;
    size_t peak;
  } cases[] = {
      {MEND_JOURNAL_LINE_MAX, "\n", "1 run.reset|2 run.reset|", 2 * LINES_PEAK},
      {MEND_JOURNAL_LINE_MAX, "\r\n", "1 run.reset|2 run.reset|", 2 * LINES_PEAK},
      {MEND_JOURNAL_LINE_MAX + 1, "\n", "1 !MEND_ELIMIT 1:0|2 run.reset|", LINES_PEAK},
      {MEND_JOURNAL_LINE_MAX + 1, "\r\n", "1 !MEND_ELIMIT 1:0|2 run.reset|", LINES_PEAK},
  };
  int fd = open_long_line();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    static transcript t;
    metered meter;
    start(&meter);
    end_long_line(fd, cases[i].len, cases[i].feed);
    const char *said = read_all(&t, &meter.base);
    cr_assert_str_eq(said, cases[i].expected, "case %zu: %s", i, said);
    cr_assert(meter.now == 0 && meter.peak <= cases[i].peak + SMALL_THINGS, "case %zu: %zu", i, meter.peak);
  }
  close(fd);
  unlink(path);
}

Test(journal_reader, memory_is_flat) {
  size_t peak = peak_with_a_line_of((off_t)MEND_JOURNAL_LINE_MAX + 2);
  cr_assert_eq(peak_with_a_line_of(100 * 1024 * 1024), peak);
  cr_assert_eq(peak_with_a_line_of(400 * 1024 * 1024), peak);
  cr_assert(peak <= LINES_PEAK + SMALL_THINGS, "%zu", peak);
}
