#include "mend/bus.h"
#include "mend/json.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include <stdio.h>
#include <stdlib.h>

/* A bus, and what was last delivered on it as JSON. */
typedef struct scene {
  mend_clock *clock;
  mend_bus *bus;
  mend_run *run;
  mend_subscription *subscription;
  char *seen;
  unsigned deliveries;
} scene;

static mend_status on_event(void *ctx, const mend_event *event) {
  scene *s = ctx;
  s->deliveries++;
  mend_free(NULL, s->seen);
  s->seen = NULL;
  return mend_event_to_json(event, NULL, NULL, &s->seen, NULL);
}

static void open_scene(scene *s, const mend_allocator *allocator) {
  *s = (scene){.deliveries = 0};
  cr_assert_eq(mend_clock_new_virtual(NULL, (mend_time){0, UINT64_C(1500000000)}, &s->clock), MEND_OK);
  mend_bus_options options = MEND_BUS_OPTIONS_INIT;
  options.allocator = allocator;
  options.clock = s->clock;
  options.id_seed = 42;
  cr_assert_eq(mend_bus_new(&options, &s->bus, NULL), MEND_OK);
  mend_run_options of_run = MEND_RUN_OPTIONS_INIT;
  of_run.id = MEND_STR("r");
  memset(of_run.trace_id, 0x11, sizeof of_run.trace_id);
  cr_assert_eq(mend_run_new(s->bus, &of_run, &s->run, NULL), MEND_OK);
  cr_assert_eq(mend_bus_subscribe(s->bus, "*", on_event, s, NULL, &s->subscription, NULL), MEND_OK);
}

static void close_scene(scene *s) {
  mend_subscription_close(&s->subscription);
  mend_run_release(s->run);
  mend_bus_release(s->bus);
  mend_clock_release(s->clock);
  mend_free(NULL, s->seen);
}

/* ---- Cases from emit.txt: = topic, < payload (none: NULL), then > what is delivered, behind the head that all have in
 * common, or ! status line:column and how the message begins. Other lines are comments. */

typedef struct file_case {
  scene scene;
  const char *topic, *payload;
  unsigned number, checked;
} file_case;

static void check_delivered(file_case *c, const char *expected) {
  char whole[2048];
  mend_error error = {.message = ""};
  unsigned before = c->scene.deliveries;
  mend_status status = mend_run_emit(c->scene.run, c->topic, c->payload, &error);
  cr_assert_eq(status, MEND_OK, "line %u: %s", c->number, error.message);
  cr_assert_eq(c->scene.deliveries, before + 1, "line %u", c->number);
  snprintf(whole, sizeof whole, "{\"ts\":1.5,\"seq\":%u,\"topic\":\"%s\",\"run_id\":\"r\"%s}", c->scene.deliveries,
           c->topic, expected);
  cr_assert_str_eq(c->scene.seen, whole, "line %u\n%s\n%s", c->number, c->scene.seen, whole);
}

static void check_refused(file_case *c, const char *expected) {
  char said[512];
  mend_error error;
  unsigned before = c->scene.deliveries;
  mend_status status = mend_run_emit(c->scene.run, c->topic, c->payload, &error);
  cr_assert_eq(status, error.status, "line %u", c->number);
  cr_assert_eq(status, mend_run_emit(c->scene.run, c->topic, c->payload, NULL));
  cr_assert_eq(c->scene.deliveries, before, "line %u", c->number);
  snprintf(said, sizeof said, "%s %u:%u %s", mend_status_name(status), error.line, error.column, error.message);
  cr_assert_eq(strncmp(said, expected, strlen(expected)), 0, "line %u\n%s\n%s", c->number, said, expected);
}

static void check_line(file_case *c, const char *text) {
  if (strncmp(text, "= ", 2) == 0) {
    c->topic = text + 2;
    c->payload = NULL;
  }
  if (strncmp(text, "< ", 2) == 0) c->payload = text + 2;
  if (strncmp(text, "> ", 2) == 0) check_delivered(c, text + 2);
  if (strncmp(text, "! ", 2) == 0) check_refused(c, text + 2);
  c->checked += text[0] == '>' || text[0] == '!';
}

Test(emit, events_are_published_as_the_file_says) {
  file_case c = {.number = 0};
  open_scene(&c.scene, NULL);
  char *whole = mend_test_read("events/emit.txt", NULL), *rest = whole;
  for (char *text; (text = strsep(&rest, "\n")) != NULL;) {
    c.number++;
    check_line(&c, text);
  }
  cr_assert(c.checked > 20);
  free(whole);
  close_scene(&c.scene);
}

/* ---- What no file can hold ---- */

static void payloads_may_span_lines(scene *s) {
  mend_error error;
  cr_assert_eq(mend_run_emit(s->run, "tool.progress", "{\n  \"note\": \"n\",\n  \"bytes\": \"many\"\n}", &error),
               MEND_EINVAL);
  cr_assert(error.line == 3 && error.column == 12, "%u:%u", error.line, error.column);
  cr_assert_str_eq(error.message, "bytes: expected an integer from 0 to 2^64 - 1, not \"many\"");
}

static void long_values_are_cut_in_sentences(scene *s) {
  static char payload[4096];
  mend_error error;
  int len = snprintf(payload, sizeof payload, "{\"bytes\":\"");
  for (int i = 0; i < 1000; i++)
    len += snprintf(payload + len, sizeof payload - (size_t)len, "\xc3\xbc");
  snprintf(payload + len, sizeof payload - (size_t)len, "\"}");
  cr_assert_eq(mend_run_emit(s->run, "tool.progress", payload, &error), MEND_EINVAL);
  cr_assert(strlen(error.message) < 120, "%s", error.message);
}

/* Slices of a longer text, as a reader of journals has them. */
static void texts_need_no_nul(scene *s) {
  mend_error error;
  const char text[] = "{\"a\":1}}my.ownership";
  mend_str payload = {text, 7}, topic = {text + 8, 6};
  cr_assert_eq(mend_run_emit_text(s->run, topic, payload, &error), MEND_OK, "%s", error.message);
  cr_assert_not_null(strstr(s->seen, "\"topic\":\"my.own\""), "%s", s->seen);
  cr_assert_not_null(strstr(s->seen, ",\"a\":1}"), "%s", s->seen);
  cr_assert_eq(mend_run_emit_text(s->run, topic, (mend_str){NULL, 0}, &error), MEND_OK);
  cr_assert_eq(mend_run_emit_text(s->run, topic, MEND_STR(""), &error), MEND_ESYNTAX, "an empty text is no object");
  cr_assert_eq(mend_run_emit_text(s->run, (mend_str){NULL, 0}, payload, &error), MEND_EINVAL);
  cr_assert_eq(mend_run_emit_text(s->run, MEND_STR("a\0b"), payload, &error), MEND_EINVAL);
  cr_assert_eq(mend_run_emit(s->run, NULL, NULL, &error), MEND_EINVAL);
}

static void long_topics_are_cut_in_sentences(scene *s) {
  char topic[300];
  mend_error error;
  memset(topic, 'a', sizeof topic - 1);
  topic[sizeof topic - 1] = '\0';
  cr_assert_eq(mend_run_emit(s->run, topic, NULL, &error), MEND_EINVAL);
  cr_assert_not_null(strstr(error.message, "\": a name has 1 to 255 bytes"), "%s", error.message);
  topic[255] = '\0';
  cr_assert_eq(mend_run_emit(s->run, topic, NULL, &error), MEND_OK);
}

/* The unknown member is on the second line, longer than a sentence, and the topic has more fields than one shows. */
static void unknown_members_have_a_place(scene *s) {
  char payload[400];
  mend_error error;
  snprintf(payload, sizeof payload, "{\"summary\":\"\",\n  \"%0300d\":1}", 0);
  cr_assert_eq(mend_run_emit(s->run, "healing.detection", payload, &error), MEND_EINVAL);
  cr_assert(error.line == 2 && error.column == 3, "%u:%u", error.line, error.column);
  cr_assert_not_null(strstr(error.message, "0\"; it has detection_id, "), "%s", error.message);
  cr_assert_str_eq(error.message + strlen(error.message) - 5, ", ...", "%s", error.message);
  cr_assert_eq(mend_run_emit(s->run, "healing.detection", payload, NULL), MEND_EINVAL);
}

static void memory_may_run_out(void) {
  mend_test_allocator allocator;
  mend_test_allocator_init(&allocator);
  scene s;
  open_scene(&s, &allocator.base);
  cr_assert_eq(mend_run_emit(s.run, "a.first", NULL, NULL), MEND_OK);
  size_t blocks = allocator.blocks;
  mend_status status = MEND_ENOMEM;
  for (size_t n = 1; status == MEND_ENOMEM; n++) {
    mend_test_allocator_arm(&allocator, n, true);
    status = mend_run_emit(s.run, "tool.before", "{\"tool_name\":\"t\\n\",\"args\":{}}", NULL);
    cr_assert(status == MEND_OK || status == MEND_ENOMEM);
    cr_assert_eq(allocator.blocks, blocks);
  }
  cr_assert_eq(s.deliveries, 2);
  mend_test_allocator_arm(&allocator, 0, false);
  close_scene(&s);
  cr_assert_eq(allocator.blocks, 0);
}

Test(emit, edges) {
  scene s;
  open_scene(&s, NULL);
  payloads_may_span_lines(&s);
  long_values_are_cut_in_sentences(&s);
  texts_need_no_nul(&s);
  long_topics_are_cut_in_sentences(&s);
  unknown_members_have_a_place(&s);
  close_scene(&s);
  memory_may_run_out();
}
