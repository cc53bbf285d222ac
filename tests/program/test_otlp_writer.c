/* Spans of what does not end are held in bounded memory; each span's id is its own. */
#include "core/strmap.h"
#include "program/replay/otlp_writer.h"
#include "support/mend_test.h"

#include <stdlib.h>

typedef struct scene {
  char *text;
  size_t len;
  FILE *out;
  otlp_writer *writer;
  mend_bus *bus;
} scene;

static void open_scene(scene *of) {
  mend_bus_options options = MEND_BUS_OPTIONS_INIT;
  options.id_seed = 1;
  of->out = open_memstream(&of->text, &of->len);
  of->writer = otlp_writer_new(of->out);
  cr_assert(of->out != NULL && of->writer != NULL);
  cr_assert_eq(mend_bus_new(&options, &of->bus, NULL), MEND_OK);
  cr_assert_eq(mend_bus_subscribe(of->bus, "*", otlp_writer_event, of->writer, NULL, NULL, NULL), MEND_OK);
}

static void close_scene(scene *of) {
  otlp_writer_free(of->writer);
  mend_bus_release(of->bus);
  fclose(of->out);
  free(of->text);
}

static void say(const scene *of, const char *run_id, mend_str text) {
  mend_user_message_event message = MEND_USER_MESSAGE_EVENT_INIT;
  message.text = text;
  mend_run *run;
  mend_run_options options = MEND_RUN_OPTIONS_INIT;
  options.id = mend_str_from(run_id);
  cr_assert_eq(mend_bus_run(of->bus, &options, &run, NULL), MEND_OK);
  cr_assert_eq(mend_run_publish(run, &message.event), MEND_OK);
  mend_run_release(run);
}

/* How many times the text is there. */
static size_t count(const scene *of, const char *what) {
  size_t found = 0;
  for (const char *at = of->text; (at = strstr(at, what)) != NULL; at++)
    found++;
  return found;
}

/* How many different ids the spans have. */
static size_t count_ids(const scene *of) {
  mend__strmap ids;
  mend__strmap_init(&ids, NULL);
  for (const char *at = of->text; (at = strstr(at, "\"spanId\":\"")) != NULL;) {
    at += strlen("\"spanId\":\"");
    cr_assert_eq(mend__strmap_put(&ids, (mend_str){at, 16}, (void *)at), MEND_OK);
  }
  const size_t different = ids.count;
  mend__strmap_free(&ids);
  return different;
}

Test(otlp_writer, what_does_not_end_is_held_in_bounded_memory) {
  enum { BYTES = 3 * 1024 * 1024, RUNS = 24 };
  scene of;
  open_scene(&of);
  char *bytes = malloc(BYTES), id[16];
  cr_assert_not_null(bytes);
  memset(bytes, 'x', BYTES);
  for (int i = 0; i < RUNS; i++) {
    snprintf(id, sizeof id, "r%d", i);
    say(&of, id, (mend_str){bytes, BYTES});
  }
  const uint64_t written = otlp_writer_count(of.writer);
  cr_assert(written >= 20 && written < RUNS, "%d of %d spans were written", (int)written, RUNS);
  say(&of, "r0", MEND_STR("and so on"));
  cr_assert_eq(otlp_writer_finish(of.writer), MEND_OK);
  fflush(of.out);
  cr_assert_eq(otlp_writer_count(of.writer), RUNS + 1);
  cr_assert_eq(count(&of, "\"spanId\""), RUNS + 1);
  cr_assert_eq(count_ids(&of), RUNS + 1);
  cr_assert_eq(count(&of, "gen_ai.user.message"), RUNS + 1);
  cr_assert_eq(otlp_writer_lost(of.writer)->len, 0);
  free(bytes);
  close_scene(&of);
}

Test(otlp_writer, much_of_one_run_is_left_out_and_told) {
  enum { BYTES = 3 * 1024 * 1024 };
  scene of;
  open_scene(&of);
  char *bytes = malloc(BYTES);
  cr_assert_not_null(bytes);
  memset(bytes, 'x', BYTES);
  for (int i = 0; i < 3; i++)
    say(&of, "r", (mend_str){bytes, BYTES});
  cr_assert_eq(otlp_writer_finish(of.writer), MEND_OK);
  fflush(of.out);
  cr_assert_eq(count(&of, "gen_ai.user.message"), 1);
  const tally *lost = otlp_writer_lost(of.writer);
  cr_assert(lost->len == 1 && lost->names[0].count == 2);
  cr_assert_str_eq(lost->names[0].name, "user.message");
  free(bytes);
  close_scene(&of);
}
