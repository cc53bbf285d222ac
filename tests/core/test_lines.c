#include "core/lines.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static int file_with(const char *bytes, size_t len) {
  const int fd = memfd_create("lines", MFD_CLOEXEC);
  cr_assert(fd >= 0);
  cr_assert_eq(write(fd, bytes, len), (ssize_t)len);
  cr_assert_eq(lseek(fd, 0, SEEK_SET), 0);
  return fd;
}

static mend__lines *lines_of(int fd, size_t max_line, const mend_allocator *allocator) {
  mend__lines *lines;
  cr_assert_eq(mend__lines_new(allocator, fd, max_line, &lines), MEND_OK);
  return lines;
}

/* A file's lines as text: each ends in '|', or in '!' if unfinished; one that is too long is a '#'. */
static void describe(int fd, size_t max_line, char *out) {
  mend__lines *lines = lines_of(fd, max_line, NULL);
  mend__line line;
  mend_status status;
  for (uint64_t number = 1; (status = mend__lines_next(lines, &line)) != MEND_ENOENT; number++) {
    cr_assert(status == MEND_OK || status == MEND_ELIMIT);
    cr_assert_eq(line.number, number);
    if (status == MEND_ELIMIT) {
      cr_assert_null(line.text.ptr);
      *out++ = '#';
    }
    if (line.text.len != 0) memcpy(out, line.text.ptr, line.text.len);
    out += line.text.len;
    *out++ = line.unfinished ? '!' : '|';
  }
  *out = '\0';
  cr_assert_eq(mend__lines_next(lines, &line), MEND_ENOENT, "the end stays the end");
  mend__lines_free(lines);
}

static const struct {
  const char *bytes;
  size_t max_line;
  const char *lines;
} cases[] = {
    {"", 10, ""},
    {"a", 10, "a!"},
    {"a\n", 10, "a|"},
    {"\n", 10, "|"},
    {"\n\n", 10, "||"},
    {"a\nb", 10, "a|b!"},
    {"a\r\nb\r\n", 10, "a|b|"},
    {"a\rb\n", 10, "a\rb|"},
    {"a\r\r\n", 10, "a\r|"},
    {"\r\n\n", 10, "||"},
    {"a\r", 10, "a\r!"},
    {"12345\n1234\n", 5, "12345|1234|"},
    {"12345\r\n1\n", 5, "12345|1|"},
    {"123456\n1\n", 5, "#|1|"},
    {"1234567\r\n1\n", 5, "#|1|"},
    {"12345678901234567890\n1\n\n123456\n2", 5, "#|1||#|2!"},
    {"1\n123456", 5, "1|#!"},
    {"12345\r", 5, "#!"},
    {"\n1\n", 0, "|#|"},
    {"1\n2\n", SIZE_MAX, "1|2|"},
};

Test(lines, cases) {
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char lines[200];
    const int fd = file_with(cases[i].bytes, strlen(cases[i].bytes));
    describe(fd, cases[i].max_line, lines);
    close(fd);
    cr_assert_str_eq(lines, cases[i].lines, "case %zu", i);
  }
}

/* Lines of every length around the buffer's size, so that boundaries fall everywhere, with NUL bytes in them. */
Test(lines, across_buffers) {
  static const size_t lengths[] = {0, 1, 4095, 65534, 65535, 65536, 65537, 3, 131071, 131072, 131073, 7, 300000, 2};
  enum { COUNT = sizeof lengths / sizeof lengths[0] };
  char *text = malloc(1 << 21);
  size_t len = 0;
  for (size_t i = 0; i < COUNT; i++) {
    memset(text + len, (int)('a' + i), lengths[i]);
    if (lengths[i] > 2) text[len + 1] = '\0';
    len += lengths[i];
    text[len++] = '\n';
  }
  const int fd = file_with(text, len);
  mend__lines *lines = lines_of(fd, 1 << 20, NULL);
  const char *expected = text;
  mend__line line;
  for (size_t i = 0; i < COUNT; i++) {
    cr_assert_eq(mend__lines_next(lines, &line), MEND_OK);
    cr_assert_eq(line.number, i + 1);
    cr_assert_eq(line.text.len, lengths[i]);
    cr_assert(memcmp(line.text.ptr, expected, lengths[i]) == 0);
    expected += lengths[i] + 1;
  }
  cr_assert_eq(mend__lines_next(lines, &line), MEND_ENOENT);
  mend__lines_free(lines);
  close(fd);
  free(text);
}

/* What has been read so far is one byte too long, which may turn out to be the carriage return. */
Test(lines, the_longest_line_in_two_pieces) {
  static const struct {
    const char *first, *second;
    mend_status status;
  } pieces[] = {
      {"12345\r", "\n", MEND_OK},      {"12345", "\r\n", MEND_OK},       {"12345", "\n", MEND_OK},
      {"123456", "\r\n", MEND_ELIMIT}, {"12345\r", "\r\n", MEND_ELIMIT}, {"1234567", "\n", MEND_ELIMIT},
  };
  for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
    int ends[2];
    mend__line line;
    cr_assert_eq(pipe2(ends, O_NONBLOCK), 0);
    mend__lines *lines = lines_of(ends[0], 5, NULL);
    cr_assert(write(ends[1], pieces[i].first, strlen(pieces[i].first)) > 0);
    cr_assert_eq(mend__lines_next(lines, &line), MEND_EIO, "nothing more to read yet");
    cr_assert(write(ends[1], pieces[i].second, strlen(pieces[i].second)) > 0);
    cr_assert_eq(mend__lines_next(lines, &line), pieces[i].status, "case %zu", i);
    cr_assert_eq(line.text.len, pieces[i].status == MEND_OK ? 5u : 0u);
    mend__lines_free(lines);
    close(ends[0]);
    close(ends[1]);
  }
}

/* ---- Memory ---- */

static size_t largest_block;

static void *measured_reallocate(void *ctx, void *pointer, size_t size) {
  (void)ctx;
  if (size > largest_block) largest_block = size;
  return realloc(pointer, size);
}

static void *measured_allocate(void *ctx, size_t size) { return measured_reallocate(ctx, NULL, size); }

static void measured_release(void *ctx, void *pointer) {
  (void)ctx;
  free(pointer);
}

static const mend_allocator measured = {sizeof measured, NULL, measured_allocate, measured_reallocate,
                                        measured_release};

enum { HUGE_LINE = 100 * 1024 * 1024 };

/* A short line, one of 100 MB, a short one. */
static void *write_huge_line(void *fd_pointer) {
  const int fd = *(const int *)fd_pointer;
  static char chunk[64 * 1024];
  memset(chunk, 'x', sizeof chunk);
  bool fine = write(fd, "before\n", 7) == 7;
  for (size_t sent = 0; fine && sent < HUGE_LINE;) {
    const ssize_t wrote = write(fd, chunk, sizeof chunk);
    fine = wrote > 0;
    sent += (size_t)wrote;
  }
  fine = fine && write(fd, "\nafter\n", 7) == 7;
  close(fd);
  return fine ? fd_pointer : NULL;
}

Test(lines, a_line_of_100_mb_through_a_pipe) {
  int ends[2];
  pthread_t writer;
  void *written;
  cr_assert_eq(pipe(ends), 0);
  cr_assert_eq(pthread_create(&writer, NULL, write_huge_line, &ends[1]), 0);
  largest_block = 0;
  mend__lines *lines = lines_of(ends[0], 1 << 20, &measured);
  mend__line line;
  cr_assert_eq(mend__lines_next(lines, &line), MEND_OK);
  cr_assert(mend_str_equal(line.text, MEND_STR("before")));
  cr_assert_eq(largest_block, (size_t)64 * 1024, "short lines need no more");
  cr_assert_eq(mend__lines_next(lines, &line), MEND_ELIMIT);
  cr_assert_eq(line.number, 2u);
  cr_assert_eq(mend__lines_next(lines, &line), MEND_OK);
  cr_assert(mend_str_equal(line.text, MEND_STR("after")));
  cr_assert_eq(line.number, 3u);
  cr_assert_eq(mend__lines_next(lines, &line), MEND_ENOENT);
  cr_assert(largest_block <= (size_t)2 << 20, "%zu bytes for lines of at most 1 MiB", largest_block);
  mend__lines_free(lines);
  cr_assert_eq(pthread_join(writer, &written), 0);
  cr_assert_not_null(written);
  close(ends[0]);
}

/* ---- Errors ---- */

static void nothing(int signal_number) { (void)signal_number; }

struct interruption {
  pthread_t reader;
  int fd;
};

/* Sends signals until the reader has surely been blocked in read(), then what it waits for. */
static void *interrupt(void *ctx) {
  const struct interruption *interruption = ctx;
  for (int i = 0; i < 50; i++) {
    pthread_kill(interruption->reader, SIGUSR1);
    usleep(100);
  }
  const bool fine = write(interruption->fd, "line\n", 5) == 5;
  close(interruption->fd);
  return fine ? ctx : NULL;
}

Test(lines, interrupted_reads_go_on) {
  struct sigaction action = {.sa_handler = nothing}, old; /* without SA_RESTART */
  int ends[2];
  pthread_t thread;
  cr_assert_eq(sigaction(SIGUSR1, &action, &old), 0);
  cr_assert_eq(pipe(ends), 0);
  struct interruption interruption = {pthread_self(), ends[1]};
  cr_assert_eq(pthread_create(&thread, NULL, interrupt, &interruption), 0);
  mend__lines *lines = lines_of(ends[0], 100, NULL);
  mend__line line;
  cr_assert_eq(mend__lines_next(lines, &line), MEND_OK);
  cr_assert(mend_str_equal(line.text, MEND_STR("line")));
  mend__lines_free(lines);
  cr_assert_eq(pthread_join(thread, NULL), 0);
  close(ends[0]);
  sigaction(SIGUSR1, &old, NULL);
}

Test(lines, errors_leave_the_reader_usable) {
  mend__line line;
  const int folder = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  mend__lines *lines = lines_of(folder, 100, NULL);
  errno = 0;
  cr_assert_eq(mend__lines_next(lines, &line), MEND_EIO);
  cr_assert_eq(errno, EISDIR);
  mend__lines_free(lines);
  close(folder);

  int ends[2];
  cr_assert_eq(pipe2(ends, O_NONBLOCK), 0);
  lines = lines_of(ends[0], 100, NULL);
  cr_assert_eq(write(ends[1], "one\ntw", 6), 6);
  cr_assert_eq(mend__lines_next(lines, &line), MEND_OK);
  cr_assert_eq(mend__lines_next(lines, &line), MEND_EIO, "nothing to read yet");
  cr_assert_eq(errno, EAGAIN);
  cr_assert_eq(write(ends[1], "o\n", 2), 2);
  cr_assert_eq(mend__lines_next(lines, &line), MEND_OK);
  cr_assert(mend_str_equal(line.text, MEND_STR("two")));
  cr_assert_eq(line.number, 2u);
  mend__lines_free(lines);
  close(ends[0]);
  close(ends[1]);

  mend_test_allocator allocator;
  mend_test_allocator_init(&allocator);
  mend_test_allocator_arm(&allocator, 1, false);
  const int fd = file_with("a\n", 2);
  cr_assert_eq(mend__lines_new(&allocator.base, fd, 100, &lines), MEND_ENOMEM);
  cr_assert_eq(mend__lines_new(&allocator.base, fd, 100, &lines), MEND_OK);
  mend_test_allocator_arm(&allocator, 1, false);
  cr_assert_eq(mend__lines_next(lines, &line), MEND_ENOMEM);
  cr_assert_eq(mend__lines_next(lines, &line), MEND_OK);
  cr_assert(mend_str_equal(line.text, MEND_STR("a")));
  mend__lines_free(lines);
  cr_assert_eq(allocator.blocks, 0u);
  mend__lines_free(NULL);
  close(fd);
}

Test(lines, opening) {
  const size_t open_before = mend_test_open_files();
  mend_error error;
  int fd = -1;
  cr_assert_eq(mend__open_input("/no/such/file", &fd, &error), MEND_ENOENT);
  cr_assert_str_eq(error.message, "/no/such/file: No such file or directory");
  cr_assert_eq(mend__open_input("/", &fd, &error), MEND_EIO);
  cr_assert_str_eq(error.message, "/: Is a directory");
  cr_assert_eq(mend__open_input("/dev/null/x", &fd, NULL), MEND_EIO);
  cr_assert_eq(fd, -1, "written only on success");
  cr_assert_eq(mend_test_open_files(), open_before);

  cr_assert_eq(mend__open_input("/dev/null", &fd, &error), MEND_OK);
  close(fd);
  const int saved = dup(STDIN_FILENO);
  const int input = file_with("from stdin\n", 11);
  cr_assert_eq(dup2(input, STDIN_FILENO), STDIN_FILENO);
  cr_assert_eq(mend__open_input("-", &fd, &error), MEND_OK);
  cr_assert(fd != STDIN_FILENO, "a descriptor of its own, which may be closed");
  char lines[40];
  describe(fd, 100, lines);
  cr_assert_str_eq(lines, "from stdin|");
  close(fd);
  close(input);
  dup2(saved, STDIN_FILENO);
  close(saved);
}
