/* Rows of lines and documents, from files and from pipes that give a few bytes at a time. */
#include "program/transcripts/input.h"
#include "support/mend_test.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static const char *const containers[] = {"messages", NULL};

/* Rows as "number:text|"; a row that cannot be read as "number!"; unfinished lines end in '~'. */
static const struct {
  const char *bytes;
  const char *rows;
} cases[] = {
    {"", "nothing"},
    {" \n\t\r\n", "nothing"},
    {"{\"a\":1}\n{\"b\":2}\n", "1:{\"a\":1}|2:{\"b\":2}|"},
    {"{\"a\":1}", "1:{\"a\":1}~"},
    {"\n\n{\"a\":1}\n\n{\"b\":2}", "3:{\"a\":1}|5:{\"b\":2}~"},
    {"\xEF\xBB\xBF{\"a\":1}\n", "1:{\"a\":1}|"},
    {"{\"a\":1}\r\n7\r\n", "1:{\"a\":1}\r|2:7\r|"},
    {"\"text\"\n{\"a\":1}\n", "1:\"text\"|2:{\"a\":1}|"},
    {"[1]\n{\"a\":1}\n", "1:[1]|2:{\"a\":1}|"},
    {"broken\n{\"a\":1}\n", "1:broken|2:{\"a\":1}|"},
    {"[{\"a\":1},{\"b\":[2,3]},4,\"five\",null]", "1:{\"a\":1}|2:{\"b\":[2,3]}|3:4|4:\"five\"|5:null|"},
    {"[\n  {\n    \"a\": 1\n  },\n  {}\n]\n", "1:{\n    \"a\": 1\n  }|2:{}|"},
    {"[]", ""},
    {"{\"model\":\"m\",\"messages\":[{\"a\":1},{\"b\":2}],\"more\":[3]}", "1:{\"a\":1}|2:{\"b\":2}|"},
    {"{\n\"model\": {\"messages\": 1},\n\"messages\": [1, 2]\n}", "1:1|2:2|"},
    {"{\"messages\":[1,2]}\n{\"messages\":[3]}\n", "1:{\"messages\":[1,2]}|2:{\"messages\":[3]}|"},
    {"{\n\"other\": [1]\n}", ""},
    {"{\n\"other\": [1], \"inner\": {\"deep\": [{}]}, \"rows\": [{\"a\":1}, 2]\n}", "1:{\"a\":1}|2:2|"},
    {"{\n\"other\": [{}], \"messages\": [1]\n}", "1:1|"},
    {"{\"other\": [{}]}", "1:{\"other\": [{}]}~"},
    {"[{\"a\":1},{\"b\":", "1:{\"a\":1}|2!"},
    {"[{\"a\":1},\n{\"b\":2},\n oops]", "1:{\"a\":1}|2:{\"b\":2}|3!"},
    {"[{\"a\":1}\n]\ntrailing", "1:{\"a\":1}|2!"},
    {"[\n{\"a\":\"\xFF\"}]", "1!"},
    {"[{\"a\":1},{\"b\":oops}]\n", "1:{\"a\":1}|2!"},
    {"[oops\n{\"a\":1}\n", "1:[oops|2:{\"a\":1}|"},
};

typedef struct feeder {
  int fd;
  const char *bytes;
  size_t step;
} feeder;

static void *feed(void *ctx) {
  const feeder *of = ctx;
  for (size_t at = 0, len = strlen(of->bytes); at < len; at += of->step) {
    const size_t size = len - at < of->step ? len - at : of->step;
    if (write(of->fd, of->bytes + at, size) != (ssize_t)size) break;
  }
  close(of->fd);
  return NULL;
}

static void describe(input *in, char *out, bool look_ahead) {
  input_row row;
  mend_status status = MEND_OK;
  for (int i = 0; look_ahead && i < 3 && status == MEND_OK; i++)
    status = input_look_ahead(in, &row);
  while ((status = input_next(in, &row)) == MEND_OK) {
    const char *end = row.problem != NULL ? "!" : row.unfinished ? "~" : "|";
    out += sprintf(out, "%llu%s%.*s%s", (unsigned long long)row.number, row.problem != NULL ? "" : ":",
                   MEND_STR_ARG(row.text), end);
  }
  cr_assert_eq(status, MEND_ENOENT);
  cr_assert_eq(input_next(in, &row), MEND_ENOENT, "the end stays the end");
}

static void check(const char *bytes, const char *expected, size_t step, bool look_ahead) {
  int ends[2];
  pthread_t thread;
  cr_assert_eq(pipe(ends), 0);
  feeder of = {ends[1], bytes, step};
  cr_assert_eq(pthread_create(&thread, NULL, feed, &of), 0);
  char rows[1024] = "";
  input in;
  const mend_status status = input_open(&in, ends[0], containers);
  if (status == MEND_ENOENT) {
    strcpy(rows, "nothing");
  } else {
    cr_assert_eq(status, MEND_OK);
    describe(&in, rows, look_ahead);
  }
  input_close(&in);
  pthread_join(thread, NULL);
  close(ends[0]);
  cr_assert_str_eq(rows, expected, "%s, %zu bytes at a time: %s", bytes, step, rows);
}

Test(program_input, rows_are_the_same_however_they_come) {
  static const size_t steps[] = {1, 2, 3, 7, 4096};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    for (size_t j = 0; j < sizeof steps / sizeof steps[0]; j++) {
      check(cases[i].bytes, cases[i].rows, steps[j], false);
      check(cases[i].bytes, cases[i].rows, steps[j], true);
    }
  }
}

/* ---- The longest row --------------------------------------------------------------------------------------- */

/* A row that is `filler` blanks longer than its ends, and a short one after it. */
typedef struct long_rows {
  const char *begin, *end;
  size_t filler;
} long_rows;

static void write_all(int fd, const char *bytes, size_t len) {
  for (size_t at = 0; at < len;) {
    const ssize_t written = write(fd, bytes + at, len - at);
    cr_assert(written > 0, "write: %s", strerror(errno));
    at += (size_t)written;
  }
}

static void write_long_rows(int fd, const long_rows *rows) {
  static char blanks[1024 * 1024];
  memset(blanks, ' ', sizeof blanks);
  write_all(fd, rows->begin, strlen(rows->begin));
  for (size_t left = rows->filler; left > 0;) {
    const size_t size = left < sizeof blanks ? left : sizeof blanks;
    write_all(fd, blanks, size);
    left -= size;
  }
  write_all(fd, rows->end, strlen(rows->end));
}

typedef struct long_feeder {
  int fd;
  const long_rows *rows;
} long_feeder;

static void *feed_long_rows(void *ctx) {
  const long_feeder *of = ctx;
  write_long_rows(of->fd, of->rows);
  close(of->fd);
  return NULL;
}

/* The first row has `len` bytes or cannot be read; the second is there. */
static void expect_long_rows(int fd, const char *what, size_t len) {
  input in;
  input_row row;
  cr_assert_eq(input_open(&in, fd, containers), MEND_OK);
  cr_assert_eq(input_next(&in, &row), MEND_OK);
  cr_assert_eq(row.number, 1);
  if (len <= INPUT_ROW_MAX) {
    cr_assert_null(row.problem, "%s, %zu bytes: %s", what, len, row.problem);
    cr_assert_eq(row.text.len, len, "%s: %zu bytes, not %zu", what, row.text.len, len);
  } else {
    cr_assert_not_null(row.problem, "%s, %zu bytes: read", what, len);
    cr_assert_str_eq(row.problem, "longer than 64 MiB");
  }
  cr_assert_eq(input_next(&in, &row), MEND_OK, "%s, %zu bytes: the next row", what, len);
  cr_assert_eq(row.number, 2);
  cr_assert(mend_str_equal(row.text, MEND_STR("{\"b\":2}")), "%s: %.*s", what, MEND_STR_ARG(row.text));
  cr_assert_eq(input_next(&in, &row), MEND_ENOENT);
  cr_assert(in.bytes.capacity <= SOURCE_WINDOW_MAX, "%zu bytes of memory", in.bytes.capacity);
  input_close(&in);
}

static void check_file(const long_rows *rows, size_t len) {
  FILE *file = tmpfile();
  cr_assert_not_null(file);
  write_long_rows(fileno(file), rows);
  cr_assert_eq(lseek(fileno(file), 0, SEEK_SET), 0);
  expect_long_rows(fileno(file), "file", len);
  fclose(file);
}

static void check_pipe(const long_rows *rows, size_t len) {
  int ends[2];
  pthread_t thread;
  cr_assert_eq(pipe(ends), 0);
  long_feeder of = {ends[1], rows};
  cr_assert_eq(pthread_create(&thread, NULL, feed_long_rows, &of), 0);
  expect_long_rows(ends[0], "pipe", len);
  pthread_join(thread, NULL);
  close(ends[0]);
}

Test(program_input, rows_of_64_mib_are_read_and_longer_ones_told) {
  /* `ends` bytes of the first row are no filler. */
  static const struct {
    long_rows rows;
    size_t ends;
  } shapes[] = {
      {{"{\"a\":", "1}\n{\"b\":2}\n", 0}, sizeof "{\"a\":1}" - 1},
      {{"{\"messages\":[", "1]}\n{\"b\":2}\n", 0}, sizeof "{\"messages\":[1]}" - 1},
      {{"[{\"a\":", "1},\n{\"b\":2}]\n", 0}, sizeof "{\"a\":1}" - 1},
  };
  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
    for (size_t more = 0; more <= 1; more++) {
      const size_t len = INPUT_ROW_MAX + more;
      const long_rows rows = {shapes[i].rows.begin, shapes[i].rows.end, len - shapes[i].ends};
      check_file(&rows, len);
      check_pipe(&rows, len);
    }
  }
}
