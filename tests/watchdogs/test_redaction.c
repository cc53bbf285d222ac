/* What a detection quotes of calls and answers has no secrets in it, whoever made it. */
#include "world.h"

static mend_status keep_detection(void *ctx, const mend_event *event) { return mend_event_clone(event, NULL, ctx); }

/* ---- A detector of one's own: what it says, and what is to be read ---- */

static const struct {
  const char *said, *read;
} sayings[] = {
    {"{\"api_key\":\"abcd\",\"n\":1}", "{\"api_key\":\"***\",\"n\":1}"},
    {"{\"said\":\"{\\\"password\\\":\\\"hunter2\\\"}\"}", "{\"said\":\"{\\\"password\\\":\\\"***\\\"}\"}"},
    {"{\"said\":\"sk-abcdefgh12345678\"}", "{\"said\":\"sk-***\"}"},
    {"{\"tokens\":4096,\"tool_name\":\"read_password_file\"}",
     "{\"tokens\":4096,\"tool_name\":\"read_password_file\"}"},
};

static mend_status say(void *ctx, const mend_event *event, mend_emitter *emitter) {
  (void)event;
  char evidence[128];
  snprintf(evidence, sizeof evidence, "[%s]", (const char *)ctx);
  mend_detection detection = MEND_DETECTION_INIT;
  detection.reason = MEND_STR("told");
  detection.summary = mend_str_from(ctx);
  detection.steer = mend_str_from(ctx);
  detection.evidence = mend_str_from(evidence);
  detection.payload = mend_str_from(ctx);
  return mend_emit(emitter, &detection);
}

static void check_saying(const char *said, const char *read) {
  const mend_watchdog_vtable vtable = {.size = sizeof vtable, .name = "teller", .topics = "model.usage", .event = say};
  char text[128], evidence[128];
  snprintf(text, sizeof text, "%s", said);
  snprintf(evidence, sizeof evidence, "[%s]", read);
  test_world world;
  world_open(&world);
  mend_watchdog *watchdog;
  cr_assert_eq(mend_watchdog_new(&vtable, text, &world.memory.base, &watchdog, NULL), MEND_OK);
  mend_run *run = world_run(&world, "r");
  cr_assert_eq(mend_watchdog_watch_run(watchdog, run), MEND_OK);
  cr_assert_eq(usage(run, 1), MEND_OK);
  const mend_detection *detection = latest(run);
  cr_assert_str_eq(detection->summary.ptr, read);
  cr_assert_str_eq(detection->steer.ptr, read);
  cr_assert_str_eq(detection->payload.ptr, read);
  cr_assert_str_eq(detection->evidence.ptr, evidence);
  cr_assert_eq(detection->evidence.len, strlen(evidence));
  mend_detection_release(detection);
  mend_run_release(run);
  mend_watchdog_release(watchdog);
  world_close(&world);
}

Test(redaction, of_what_a_detector_says) {
  for (size_t i = 0; i < sizeof sayings / sizeof sayings[0]; i++)
    check_saying(sayings[i].said, sayings[i].read);
}

/* ---- Mode evidence: answers that are shown, whole and cut ---- */

static mend_status answer(mend_run *run, uint64_t call, const char *result) {
  mend_tool_after_event event = MEND_TOOL_AFTER_EVENT_INIT;
  event.event.call = call;
  event.result = mend_str_from(result);
  return mend_run_publish(run, &event.event);
}

static mend_status fail(mend_run *run, uint64_t call, const char *message) {
  mend_tool_error_event event = MEND_TOOL_ERROR_EVENT_INIT;
  event.event.call = call;
  event.error_message = mend_str_from(message);
  return mend_run_publish(run, &event.event);
}

/* Until it is a loop; what is then published of it. */
static mend_event *loop_on(test_world *world, mend_status (*end)(mend_run *, uint64_t, const char *),
                           const char *text) {
  mend_options options = MEND_OPTIONS_INIT;
  mend_options_set_profile(&options, MEND_WATCH_MODE_EVIDENCE);
  cr_assert_eq(mend_bus_watch(world->bus, &options, NULL), MEND_OK);
  mend_event *told = NULL;
  cr_assert_eq(mend_bus_subscribe(world->bus, "healing.detection", keep_detection, &told, NULL, NULL, NULL), MEND_OK);
  mend_run *run = world_run(world, "r");
  for (uint64_t call = 1; call < 20 && told == NULL; call++) {
    cr_assert_eq(before(run, call, "fetch", "{\"url\":\"x\"}"), MEND_OK);
    cr_assert_eq(end(run, call, text), MEND_OK);
  }
  mend_run_release(run);
  cr_assert_not_null(told, "%s", text);
  return told;
}

static bool holds(mend_str text, const char *piece) { return memmem(text.ptr, text.len, piece, strlen(piece)) != NULL; }

Test(redaction, of_answers) {
  static const struct {
    mend_status (*end)(mend_run *run, uint64_t call, const char *text);
    const char *text, *secret, *shown;
  } cases[] = {
      {answer, "{\"api_key\":\"sk-live-ABCDEF0123456789ABCDEF\",\"password\":\"hunter2\",\"user\":\"ann\"}", "hunter2",
       "{\\\"api_key\\\":\\\"***\\\",\\\"password\\\":\\\"***\\\",\\\"user\\\":\\\"ann\\\"}"},
      {answer, "\"DB_PASSWORD=hunter2\\nPATH=/bin\"", "hunter2", "DB_PASSWORD=***\\nPATH=/bin"},
      {answer,
       "{\"note\":\"a long text that stands before the secret, so long that the end of what is shown cuts it, and so "
       "long "
       "that it is more than one line, and then some more of it\",\"password\":\"hunter2hunter2hunter2hunter2hunter2"
       "hunter2hunter2hunter2hunter2hunter2hunter2hunter2hunter2hunter2hunter2hunter2hunter2hunter2hunter2hunter2\"}",
       "hunter2", "a long text"},
      {fail, "401 for https://ann:hunter2@host/x", "hunter2", "401 for https://ann:***@host/x"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    test_world world;
    world_open(&world);
    mend_event *told = loop_on(&world, cases[i].end, cases[i].text);
    const mend_str evidence = ((const mend_detection_event *)told)->evidence;
    cr_assert(!holds(evidence, cases[i].secret), "%.*s", MEND_STR_ARG(evidence));
    cr_assert(holds(evidence, cases[i].shown), "%.*s", MEND_STR_ARG(evidence));
    mend_event_free(told);
    world_close(&world);
  }
}
