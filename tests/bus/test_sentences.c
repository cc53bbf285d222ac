#include "support/mend_test.h"

#include "mend/bus.h"

#include <stdio.h>
#include <string.h>

/* What is wrong with a topic, a pattern or a run is told in a sentence. */

static mend_status nothing(void *ctx, const mend_event *event) {
  (void)ctx;
  (void)event;
  return MEND_OK;
}

static mend_bus *small_bus(void) {
  mend_bus_options options = MEND_BUS_OPTIONS_INIT;
  options.topic_limit = 64;
  mend_bus *bus;
  cr_assert_eq(mend_bus_new(&options, &bus, NULL), MEND_OK);
  return bus;
}

static void fill_topics(mend_bus *bus) {
  mend_topic topic;
  char name[16];
  mend_status status = MEND_OK;
  for (int i = 0; status == MEND_OK; i++) {
    snprintf(name, sizeof name, "own.%d", i);
    status = mend_bus_topic(bus, mend_str_from(name), &topic, NULL);
  }
  cr_assert_eq(status, MEND_ELIMIT);
}

static char long_name[301];

Test(sentences, of_topics_and_patterns) {
  mend_bus *bus = small_bus();
  mend_run *run;
  cr_assert_eq(mend_run_new(bus, NULL, &run, NULL), MEND_OK);
  fill_topics(bus);
  memset(long_name, 'x', sizeof long_name - 1);
  static const struct {
    const char *name;
    mend_status topic_status;
    const char *of_topic;
    mend_status pattern_status;
    const char *of_pattern;
  } cases[] = {
      {"a..b", MEND_EINVAL, "topic \"a..b\": a name has no empty part and no *", MEND_EINVAL,
       "pattern \"a..b\": expected a topic (tool.before), all topics under a prefix (tool.*) or all (*)"},
      {"tool*", MEND_EINVAL, "topic \"tool*\": a name has no empty part and no *", MEND_EINVAL,
       "pattern \"tool*\": expected a topic (tool.before), all topics under a prefix (tool.*) or all (*)"},
      {"a b", MEND_EINVAL, "topic \"a b\": a name has no blanks and no control characters", MEND_EINVAL,
       "pattern \"a b\": expected a topic (tool.before), all topics under a prefix (tool.*) or all (*)"},
      {"na\xefve", MEND_EINVAL, "topic \"na\xefve\": a name is UTF-8", MEND_EINVAL,
       "pattern \"na\xefve\": expected a topic (tool.before), all topics under a prefix (tool.*) or all (*)"},
      {long_name, MEND_EINVAL,
       "topic \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\": a name has 1 to "
       "255 "
       "bytes",
       MEND_EINVAL,
       "pattern \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\": expected a topic "
       "(tool.before), all topics under a prefix (tool.*) or all (*)"},
      {"one.more", MEND_ELIMIT, "topic \"one.more\": the bus has as many as its topic_limit allows", MEND_ELIMIT,
       "pattern \"one.more\": the bus has as many as its topic_limit allows"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    mend_error error = {0};
    mend_topic topic;
    cr_assert_eq(mend_bus_topic(bus, mend_str_from(cases[i].name), &topic, &error), cases[i].topic_status);
    cr_assert_str_eq(error.message, cases[i].of_topic);
    cr_assert_eq(mend_bus_subscribe(bus, cases[i].name, nothing, NULL, NULL, NULL, &error), cases[i].pattern_status);
    cr_assert_str_eq(error.message, cases[i].of_pattern);
    cr_assert_eq(mend_run_subscribe(run, cases[i].name, nothing, NULL, NULL, NULL, &error), cases[i].pattern_status);
    cr_assert_str_eq(error.message, cases[i].of_pattern);
  }
  mend_error error = {0};
  cr_assert_eq(mend_bus_subscribe(bus, NULL, nothing, NULL, NULL, NULL, &error), MEND_EINVAL);
  cr_assert_str_eq(error.message, "pattern: absent, expected a topic, or * for all");
  cr_assert_eq(mend_bus_subscribe(bus, "tool.*", NULL, NULL, NULL, NULL, &error), MEND_EINVAL);
  cr_assert_str_eq(error.message, "pattern \"tool.*\": handler is absent");
  mend_run_release(run);
  mend_bus_release(bus);
}

static void keep_log(void *ctx, mend_log_level level, const char *message) {
  char *log = ctx;
  const size_t len = strlen(log);
  cr_assert_eq(level, MEND_LOG_WARNING);
  snprintf(log + len, 1024 - len, "%s|", message);
}

Test(sentences, of_topics_that_look_like_the_librarys) {
  static const struct {
    const char *topic, *log;
  } rows[] = {
      {"own.topic", ""},
      {"tool", ""},
      {"toolbox.after", ""},
      {"tool.afte", "topic \"tool.afte\" is none of the library's, did you mean tool.after?|"},
      {"run.start", "topic \"run.start\" is none of the library's, did you mean run.started?|"},
      {"tool.after,tool.error", "topic \"tool.after,tool.error\" is none of the library's, which are tool.before, "},
      {"tool.end",
       "topic \"tool.end\" is none of the library's, which are tool.before, tool.progress, tool.after, tool.error, "},
  };
  char log[1024];
  mend_bus_options options = MEND_BUS_OPTIONS_INIT;
  options.log = keep_log;
  options.log_ctx = log;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    for (int way = 0; way < 3; way++) {
      mend_bus *bus;
      mend_run *run;
      mend_topic topic;
      log[0] = '\0';
      cr_assert_eq(mend_bus_new(&options, &bus, NULL), MEND_OK);
      cr_assert_eq(mend_run_new(bus, NULL, &run, NULL), MEND_OK);
      for (int again = 0; again < 2; again++) {
        mend_status status = MEND_OK;
        if (way == 0) status = mend_run_emit(run, rows[i].topic, "{}", NULL);
        if (way == 1) status = mend_bus_subscribe(bus, rows[i].topic, nothing, NULL, NULL, NULL, NULL);
        if (way == 2) status = mend_bus_topic(bus, mend_str_from(rows[i].topic), &topic, NULL);
        cr_assert_eq(status, MEND_OK);
      }
      cr_assert_eq(strncmp(log, rows[i].log, strlen(rows[i].log)), 0, "row %zu: %s", i, log);
      const char *end = strchr(log, '|');
      cr_assert_eq(end == NULL ? log[0] : end[1], '\0', "row %zu, once: %s", i, log);
      mend_run_release(run);
      mend_bus_release(bus);
    }
  }
}

typedef mend_status (*make_run)(mend_bus *bus, const mend_run_options *options, mend_run **ret_run, mend_error *error);

static void check_run(make_run make, mend_bus *bus, const mend_run_options *options, mend_status status,
                      const char *sentence) {
  mend_error error = {0};
  mend_run *run;
  cr_assert_eq(make(bus, options, &run, &error), status);
  cr_assert_str_eq(error.message, sentence);
}

Test(sentences, of_runs) {
  mend_bus *bus = small_bus(), *other = small_bus();
  mend_run *run, *elsewhere;
  mend_run_options named = MEND_RUN_OPTIONS_INIT;
  named.id = MEND_STR("r1");
  cr_assert_eq(mend_run_new(bus, &named, &run, NULL), MEND_OK);
  named.id = MEND_STR("far");
  cr_assert_eq(mend_run_new(other, &named, &elsewhere, NULL), MEND_OK);
  memset(long_name, 'x', sizeof long_name - 1);

  mend_run_options sizeless = {0}, taken = MEND_RUN_OPTIONS_INIT, longest = MEND_RUN_OPTIONS_INIT,
                   foreign = MEND_RUN_OPTIONS_INIT;
  taken.id = MEND_STR("r1");
  longest.id = mend_str_from(long_name);
  foreign.parent = elsewhere;
  check_run(mend_run_new, NULL, NULL, MEND_EINVAL, "a run: no bus");
  check_run(mend_run_new, bus, &sizeless, MEND_EINVAL,
            "mend_run_options: size is 0, start from the type's _INIT or set size to sizeof(mend_run_options)");
  check_run(mend_run_new, bus, &longest, MEND_EINVAL, "a run's id is 1 to 255 bytes long, this one has 300");
  check_run(mend_run_new, bus, &foreign, MEND_EINVAL, "parent \"far\": is a run of another bus");
  check_run(mend_run_new, bus, &taken, MEND_EEXIST, "run \"r1\": the bus has one of this id");
  check_run(mend_bus_run, bus, NULL, MEND_EINVAL, "id: absent, expected that of the wanted run");
  check_run(mend_bus_run, bus, &longest, MEND_EINVAL, "a run's id is 1 to 255 bytes long, this one has 300");
  mend_run_release(run);
  mend_run_release(elsewhere);
  mend_bus_release(bus);
  mend_bus_release(other);
}
