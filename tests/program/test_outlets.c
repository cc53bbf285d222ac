/* What files write comes out in their order, whenever they write it. */
#include "program/reports/outlets.h"
#include "support/mend_test.h"

#include <stdio.h>

#include <pthread.h>

/* Reads what was written to a stream. */
static void expect(FILE *file, const char *expected) {
  char text[4096];
  rewind(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  cr_assert_str_eq(text, expected, "\"%s\"", text);
}

static const struct {
  outlet_shape shapes[3];
  const char *expected;
} shapes[] = {
    {{OUTLET_FLOW, OUTLET_FLOW, OUTLET_FLOW}, "0a 0b\n1a 1b\n2a 2b\n"},
    {{OUTLET_LINE, OUTLET_LINE, OUTLET_LINE}, "0a 0b\n1a 1b\n2a 2b\n"},
    {{OUTLET_LINE, OUTLET_BLOCK, OUTLET_LINE}, "0a 0b\n\n1a 1b\n\n2a 2b\n"},
    {{OUTLET_BLOCK, OUTLET_BLOCK, OUTLET_LINE}, "0a 0b\n\n1a 1b\n\n2a 2b\n"},
    {{OUTLET_BLOCK, OUTLET_FLOW, OUTLET_BLOCK}, "0a 0b\n1a 1b\n2a 2b\n"},
};

/* In which order the files write. */
static const size_t orders[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}};

static void write_file(outlet *to, size_t number, outlet_shape shape) {
  char piece[8];
  outlet_begin(to, shape);
  snprintf(piece, sizeof piece, "%zua ", number);
  cr_assert_eq(outlet_write(to, mend_str_from(piece)), MEND_OK);
  snprintf(piece, sizeof piece, "%zub\n", number);
  cr_assert_eq(outlet_write(to, mend_str_from(piece)), MEND_OK);
}

static void write_in_order(const outlet_shape shape[3], const size_t order[3], const char *expected) {
  FILE *file = tmpfile();
  outlets all;
  file_outlets outs[3];
  cr_assert_not_null(file);
  outlets_init(&all, NULL);
  const size_t stream = outlets_add(&all, file);
  for (size_t i = 0; i < 3; i++)
    file_outlets_open(&outs[i], &all, i);
  for (size_t i = 0; i < 3; i++)
    write_file(&outs[order[i]].each[stream], order[i], shape[order[i]]);
  for (size_t i = 0; i < 3; i++) {
    cr_assert_eq(file_outlets_finish(&outs[i]), MEND_OK);
    file_outlets_close(&outs[i]);
  }
  expect(file, expected);
  outlets_free(&all);
  fclose(file);
}

Test(program_outlets, order_and_blank_lines) {
  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
    for (size_t k = 0; k < sizeof orders / sizeof orders[0]; k++)
      write_in_order(shapes[i].shapes, orders[k], shapes[i].expected);
  }
}

/* Two streams that go to one file: what is held keeps its order, too. */
Test(program_outlets, streams_together) {
  FILE *file = tmpfile();
  outlets all;
  file_outlets first, second;
  cr_assert_not_null(file);
  outlets_init(&all, NULL);
  const size_t a = outlets_add(&all, file), b = outlets_add(&all, file);
  file_outlets_open(&first, &all, 0);
  file_outlets_open(&second, &all, 1);
  static const char *const pieces[] = {"1", "2", "3", "4", "5", "6"};
  for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
    const size_t stream = i % 3 == 0 ? a : b;
    cr_assert_eq(outlet_write(&second.each[stream], mend_str_from(pieces[i])), MEND_OK);
    cr_assert_eq(outlet_write(&first.each[stream], mend_str_from(pieces[i])), MEND_OK);
  }
  cr_assert_eq(file_outlets_finish(&first), MEND_OK);
  cr_assert_eq(outlet_write(&second.each[a], MEND_STR("7")), MEND_OK);
  cr_assert_eq(file_outlets_finish(&second), MEND_OK);
  expect(file, "1234561234567");
  file_outlets_close(&first);
  file_outlets_close(&second);
  outlets_free(&all);
  fclose(file);
}

/* ---- Threads, and more than is held ------------------------------------------------------------------------ */

enum { WRITERS = 4, PIECES = 40, PIECE_SIZE = 20000 };

typedef struct file_writer {
  file_outlets outs;
  char letter;
  mend_status status;
} file_writer;

static void *write_much(void *ctx) {
  static char text[WRITERS][PIECE_SIZE];
  file_writer *of = ctx;
  char *piece = text[of->letter - 'a'];
  memset(piece, of->letter, PIECE_SIZE);
  for (int i = 0; i < PIECES && of->status == MEND_OK; i++)
    of->status = outlet_write(&of->outs.each[0], (mend_str){piece, PIECE_SIZE});
  return NULL;
}

static void check_much(FILE *file) {
  rewind(file);
  for (int writer = 0; writer < WRITERS; writer++) {
    for (int i = 0; i < PIECES * PIECE_SIZE; i++) {
      const int got = fgetc(file);
      if (got != 'a' + writer) cr_fail("a byte of another file");
    }
  }
  cr_assert_eq(fgetc(file), EOF);
}

Test(program_outlets, writers_wait_for_their_turn) {
  FILE *file = tmpfile();
  outlets all;
  file_writer writers[WRITERS];
  pthread_t threads[WRITERS];
  cr_assert_not_null(file);
  outlets_init(&all, NULL);
  outlets_add(&all, file);
  for (size_t i = 0; i < WRITERS; i++) {
    writers[i] = (file_writer){.letter = (char)('a' + (int)i)};
    file_outlets_open(&writers[i].outs, &all, i);
  }
  for (size_t i = WRITERS; i-- > 0;)
    cr_assert_eq(pthread_create(&threads[i], NULL, write_much, &writers[i]), 0);
  for (size_t i = 0; i < WRITERS; i++) {
    pthread_join(threads[i], NULL);
    cr_assert_eq(writers[i].status, MEND_OK);
    cr_assert_eq(file_outlets_finish(&writers[i].outs), MEND_OK);
    file_outlets_close(&writers[i].outs);
  }
  check_much(file);
  outlets_free(&all);
  fclose(file);
}

Test(program_outlets, a_full_stream) {
  FILE *file = fopen("/dev/full", "w");
  outlets all;
  file_outlets outs;
  if (file == NULL) return;
  outlets_init(&all, NULL);
  outlets_add(&all, file);
  file_outlets_open(&outs, &all, 0);
  cr_assert_eq(outlets_reason(&all), 0);
  cr_assert_eq(outlet_write(&outs.each[0], MEND_STR("x")), MEND_ECLOSED);
  cr_assert_eq(outlet_write(&outs.each[0], MEND_STR("x")), MEND_ECLOSED, "and so it stays");
  cr_assert(outlets_reason(&all) != 0);
  file_outlets_close(&outs);
  outlets_free(&all);
  fclose(file);
}
