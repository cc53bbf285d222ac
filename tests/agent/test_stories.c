/* What agents make of what models say.
 *
 * tests/data/agent/stories/NAME.txt is what happens with the model scripted:NAME.json: a line ": max_turns N" sets
 * the limit, a line "> text" is a task, and the lines behind it are what the conversation has then that it had not
 * before, how the task has ended, and what was published. */
#include "agent/world.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct story {
  world w;
  mend__buffer told;
  size_t seen; /* messages of the conversation */
} story;

/* ---- Telling ---- */

static void tell_part(mend__buffer *told, mend_role role, const mend_part *part) {
  static const char *const roles[] = {"system", "user", "assistant", "tool"};
  mend__buffer_printf(told, "%s", roles[role]);
  switch (part->kind) {
  case MEND_PART_CALL:
    mend__buffer_printf(told, " calls %.*s %.*s %.*s\n", MEND_STR_ARG(part->call_id), MEND_STR_ARG(part->name),
                        MEND_STR_ARG(part->args));
    return;
  case MEND_PART_RESULT:
    mend__buffer_printf(told, " %.*s %.*s%s: %.*s\n", MEND_STR_ARG(part->call_id), MEND_STR_ARG(part->name),
                        part->is_error ? ", error" : "", MEND_STR_ARG(part->text));
    return;
  default: mend__buffer_printf(told, ": %.*s\n", MEND_STR_ARG(part->text));
  }
}

static void tell_conversation(story *s) {
  mend_role role;
  const mend_part *parts;
  size_t count;
  const mend_messages *messages = mend_agent_messages(s->w.agent);
  for (; mend_messages_get(messages, s->seen, &role, &parts, &count) == MEND_OK; s->seen++) {
    for (size_t i = 0; i < count; i++)
      tell_part(&s->told, role, &parts[i]);
  }
}

static void tell_report(mend__buffer *told, mend_status status, const mend_agent_report *report,
                        const mend_error *error) {
  const mend_str texts[] = {report->text, report->reason, report->question, report->target, report->attempts};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    cr_assert(texts[i].ptr == NULL || texts[i].ptr[texts[i].len] == '\0', "text %zu has no NUL behind it", i);
  mend__buffer_printf(told, "= %s, %s, %u turns, %u calls, %lld in, %lld out, %s: %.*s\n", mend_status_name(status),
                      mend_agent_end_name(report->end), report->turns, (unsigned)report->calls,
                      (long long)report->usage.input, (long long)report->usage.output, mend_finish_name(report->finish),
                      MEND_STR_ARG(report->text));
  if (report->reason.ptr != NULL) mend__buffer_printf(told, "reason: %.*s\n", MEND_STR_ARG(report->reason));
  if (report->question.ptr != NULL) mend__buffer_printf(told, "question: %.*s\n", MEND_STR_ARG(report->question));
  if (status != MEND_OK) mend__buffer_printf(told, "error: %s\n", error->message);
}

static void tell_events(story *s) {
  const atomic_uint *of_kind = s->w.of_kind;
  mend__buffer_printf(&s->told, "tools: %u before, %u after, %u errors, %u skipped, %u cancelled, %u refused\n",
                      of_kind[MEND_EVENT_TOOL_BEFORE], of_kind[MEND_EVENT_TOOL_AFTER], of_kind[MEND_EVENT_TOOL_ERROR],
                      of_kind[MEND_EVENT_TOOL_SKIPPED], of_kind[MEND_EVENT_TOOL_CANCELLED],
                      of_kind[MEND_EVENT_TOOL_REFUSED]);
  pthread_mutex_lock(&s->w.lock);
  mend__buffer_printf(&s->told, "others:%.*s\n", (int)s->w.topics.len, s->w.topics.data);
  pthread_mutex_unlock(&s->w.lock);
}

static void run_task(story *s, mend_str task) {
  mend_error error = MEND_ERROR_INIT;
  mend_agent_report report = MEND_AGENT_REPORT_INIT;
  s->w.meeting = 0;
  world_forget_events(&s->w);
  mend__buffer_printf(&s->told, "> %.*s\n", MEND_STR_ARG(task));
  const mend_status status = mend_agent_run(s->w.agent, task, &report, &error);
  tell_conversation(s);
  tell_report(&s->told, status, &report, &error);
  tell_events(s);
  mend_agent_report_clear(&report);
}

/* ---- Reading ---- */

static void open_story(story *s, const char *name, const char *wanted) {
  char path[512];
  mend_agent_options options = MEND_AGENT_OPTIONS_INIT;
  snprintf(path, sizeof path, "scripted:%s/%.*sjson", MEND_TEST_DATA, (int)(strlen(name) - strlen("txt")), name);
  *s = (story){.seen = 0};
  mend__buffer_init(&s->told, NULL);
  world_open(&s->w, NULL);
  world_open_model(&s->w, path);
  options.instructions = "Be brief.";
  if (sscanf(wanted, ": max_turns %u", &options.max_turns) == 1)
    mend__buffer_printf(&s->told, ": max_turns %u\n", options.max_turns);
  world_open_agent(&s->w, options);
}

static void tell_story(void *ctx, const char *name) {
  (void)ctx;
  story s;
  char *wanted = mend_test_read(name, NULL);
  open_story(&s, name, wanted);
  for (const char *line = wanted; *line != '\0';) {
    const char *end = strchr(line, '\n');
    cr_assert_not_null(end, "%s: its last line has no end", name);
    if (*line == '>') run_task(&s, (mend_str){line + 2, (size_t)(end - line) - 2});
    line = end + 1;
  }
  mend__buffer_char(&s.told, '\0');
  cr_assert_str_eq(s.told.data, wanted, "%s:\n%s", name, s.told.data);
  mend__buffer_free(&s.told);
  free(wanted);
  world_close(&s.w);
}

Test(agent_stories, each_ends_as_told) { cr_assert(mend_test_each("agent/stories", ".txt", tell_story, NULL) > 0); }
