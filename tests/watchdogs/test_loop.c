/* Loop in seed mode, rule by rule (docs/watchdogs.md). */
#include "mend/json.h"
#include "world.h"

static mend_watchdog *loop_on(test_world *world, uint32_t k, uint32_t n) {
  mend_loop_watchdog_options options = MEND_LOOP_WATCHDOG_OPTIONS_INIT;
  options.k = k;
  options.n = n;
  mend_watchdog *loop;
  mend_error error = {0};
  cr_assert_eq(mend_loop_watchdog_new(&options, &world->memory.base, &loop, &error), MEND_OK, "%s", error.message);
  cr_assert_eq(mend_watchdog_watch_bus(loop, world->bus), MEND_OK);
  return loop;
}

/* A letter is a call of the tool of that name; a capital one has just been reported. */
static void check_calls(uint32_t k, uint32_t n, const char *calls) {
  test_world world;
  world_open(&world);
  mend_watchdog *loop = loop_on(&world, k, n);
  mend_run *run = world_run(&world, "r");
  uint64_t reported = 0;
  for (size_t i = 0; calls[i] != '\0'; i++) {
    const char tool[] = {(char)(calls[i] | 0x20), '\0'};
    const bool reports = (calls[i] & 0x20) == 0;
    cr_assert_eq(before(run, i + 1, tool, "{\"x\":1}"), MEND_OK);
    reported += reports;
    cr_assert_eq(detections_of(run), reported, "k %u, n %u, %s: call %zu", k, n, calls, i + 1);
  }
  mend_run_release(run);
  mend_watchdog_release(loop);
  world_close(&world);
}

Test(loop, when_it_fires) {
  static const struct {
    uint32_t k, n;
    const char *calls;
  } rows[] = {
      {3, 10, "aaa"},              /* k itself is not more than k */
      {3, 10, "aaaA"},             /* this call included */
      {3, 10, "aaaAaaaaaaaa"},     /* silent until another pair appears */
      {3, 10, "aaaAabA"},          /* the window is not cleared: the spec's example */
      {3, 10, "aaaAbAbA"},         /* and every other pair arms it again */
      {3, 10, "abababABAB"},       /* two in turn: each is another pair to the other */
      {3, 10, "aaabcdefghabca"},   /* a's have left the window of ten */
      {3, 10, "aaabcdefgA"},       /* not yet */
      {3, 10, "aaabcdefgha"},      /* now the first has */
      {1, 2, "aA"},                /* the smallest */
      {1, 2, "abab"},              /* never two of one in a window of two */
      {1, 3, "abAB"},              /* in one of three they are */
      {2, 3, "aaAbaacaaA"},        /* the window holds just what fires */
      {9, 10, "aaaaaaaaaA"},       /* k one below n: only the whole window */
      {9, 10, "aaaaabaaaaaaaaaA"}, /* and another one spoils it until it has left */
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    check_calls(rows[i].k, rows[i].n, rows[i].calls);
}

Test(loop, what_is_a_pair) {
  static const struct {
    const char *first, *second;
    bool same;
  } rows[] = {
      {"{\"a\":1,\"b\":2}", "{ \"b\" : 2, \"a\" : 1 }", true},
      {"{\"a\":{\"x\":1,\"y\":2}}", "{\"a\":{\"y\":2,\"x\":1}}", true},
      {"{\"a\":1.0}", "{\"a\":1.00}", true},
      {"{\"a\":1}", "{\"a\":1.0}", false}, /* exact mode */
      {"{\"a\":9007199254740992}", "{\"a\":9007199254740993}", false},
      {"{\"a\":[1,2]}", "{\"a\":[2,1]}", false},
      {"{\"a\":\"1\"}", "{\"a\":1}", false},
      {"{}", NULL, false},
      {NULL, NULL, true},
      {"not json", "not json", true}, /* raw bytes are a key too */
      {"not json", "not  json", false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    test_world world;
    world_open(&world);
    mend_watchdog *loop = loop_on(&world, 1, 10);
    mend_run *run = world_run(&world, "r");
    cr_assert_eq(before(run, 1, "t", rows[i].first), MEND_OK);
    cr_assert_eq(before(run, 2, "t", rows[i].second), MEND_OK);
    cr_assert_eq(detections_of(run), rows[i].same ? 1u : 0u, "row %zu", i);
    mend_run_release(run);
    mend_watchdog_release(loop);
    world_close(&world);
  }
}

/* 500 characters that differ in the last one; more than fits the scratch on the stack; a hash that is given beats
 * args. */
Test(loop, long_arguments_and_given_hashes) {
  test_world world;
  world_open(&world);
  mend_watchdog *loop = loop_on(&world, 1, 10);
  mend_run *run = world_run(&world, "r");
  static char args[20000];
  for (char last = 'a'; last <= 'c'; last++) {
    snprintf(args, sizeof args, "{\"text\":\"%499s%c\"}", "x", last);
    cr_assert_eq(before(run, 0, "t", args), MEND_OK);
  }
  cr_assert_eq(detections_of(run), 0u);

  size_t len = 0;
  for (int i = 0; i < 1500; i++)
    len += (size_t)snprintf(args + len, sizeof args - len, "%s\"k%d\":%d", i ? "," : "{", i, i);
  snprintf(args + len, sizeof args - len, "}");
  static uint64_t scratch[MEND_HASH_SCRATCH / sizeof(uint64_t)];
  const mend_json_hash_result hash = mend_json_hash(mend_str_from(args), scratch, sizeof scratch);
  cr_assert(!hash.raw);
  mend_tool_before_event event = MEND_TOOL_BEFORE_EVENT_INIT;
  event.tool_name = MEND_STR("t");
  event.args_hash = hash.hash;
  cr_assert_eq(before(run, 0, "t", args), MEND_OK);
  cr_assert_eq(mend_run_publish(run, &event.event), MEND_OK);
  cr_assert_eq(detections_of(run), 1u);
  mend_run_release(run);
  mend_watchdog_release(loop);
  world_close(&world);
}

Test(loop, what_a_detection_says) {
  test_world world;
  world_open(&world);
  mend_watchdog *loop = loop_on(&world, 3, 10);
  mend_run *run = world_run(&world, "run-1");
  static const char *const names[] = {"toolu_1", NULL, NULL,
                                      "a name that is longer than what is kept inside of a record"};
  for (size_t i = 0; i < 4; i++) {
    mend_tool_before_event event = MEND_TOOL_BEFORE_EVENT_INIT;
    event.event.call = 11 + i;
    event.event.call_name = mend_str_from(names[i]);
    event.tool_name = MEND_STR("se\"arch");
    event.args = MEND_STR("{\"q\":1}");
    cr_assert_eq(mend_run_publish(run, &event.event), MEND_OK);
  }
  const mend_detection *found = latest(run);
  cr_assert_eq(found->id, 1u);
  cr_assert(text_is(found->detector, "loop"));
  cr_assert(text_is(found->run_id, "run-1"));
  cr_assert_eq(found->cause_seq, 4u);
  cr_assert_eq(found->detected_ns, 1000 * SECOND);
  cr_assert_eq(found->wall_ns, START_WALL_NS);
  cr_assert(text_is(found->reason, "repeat"));
  cr_assert_float_eq(found->severity, 4.0 / 6, 1e-12);
  cr_assert_float_eq(found->confidence, 1, 0);
  cr_assert_str_eq(found->summary.ptr, "se\"arch was called 4 times with the same arguments in the last 10 calls");
  cr_assert(text_is(found->tool_name, "se\"arch"));
  cr_assert(text_is(found->first_call, "toolu_1"));
  cr_assert(text_is(found->last_call, names[3]));
  cr_assert_eq(found->count, 4u);
  cr_assert_eq(found->period, 0u);
  char hash[MEND_HASH_TEXT_SIZE], payload[256];
  uint64_t scratch[64];
  mend_hash_format(mend_json_hash(MEND_STR("{\"q\":1}"), scratch, sizeof scratch).hash, hash);
  snprintf(payload, sizeof payload,
           "{\"tool_name\":\"se\\\"arch\",\"args_hash\":\"%s\",\"count\":4,\"window_size\":10}", hash);
  cr_assert_str_eq(found->payload.ptr, payload);
  mend_detection_release(found);

  /* Severity has a ceiling, and ids without a name are numbers. */
  for (uint64_t call = 20; call < 26; call++)
    cr_assert_eq(before(run, call, "se\"arch", "{\"q\":1}"), MEND_OK);
  cr_assert_eq(before(run, 30, "other", NULL), MEND_OK);
  cr_assert_eq(before(run, 31, "se\"arch", "{\"q\":1}"), MEND_OK);
  found = latest(run);
  cr_assert_eq(found->count, 9u);
  cr_assert_float_eq(found->severity, 1, 0);
  cr_assert(text_is(found->first_call, "13")); /* the tenth oldest call */
  cr_assert(text_is(found->last_call, "31"));
  mend_detection_release(found);
  mend_run_release(run);
  mend_watchdog_release(loop);
  world_close(&world);
}

Test(loop, malformed_events_and_resets) {
  test_world world;
  world_open(&world);
  mend_watchdog *loop = loop_on(&world, 3, 10);
  mend_run *run = world_run(&world, "r");
  for (int i = 0; i < 5; i++)
    cr_assert_eq(before(run, 1, NULL, "{}"), MEND_OK);
  for (int i = 0; i < 5; i++)
    cr_assert_eq(before(run, 1, "", "{}"), MEND_OK);
  mend_watchdog_stats stats = {.size = sizeof stats};
  cr_assert_eq(mend_watchdog_get_stats(loop, &stats), MEND_OK);
  cr_assert_eq(stats.ignored, 10u);
  cr_assert_eq(detections_of(run), 0u);
  for (int i = 0; i < 4; i++)
    cr_assert_eq(before(run, 0, "t", "{}"), MEND_OK); /* no call id: counted */
  cr_assert_eq(detections_of(run), 1u);
  cr_assert_eq(reset(run), MEND_OK);
  for (int i = 0; i < 3; i++)
    cr_assert_eq(before(run, 0, "t", "{}"), MEND_OK);
  cr_assert_eq(detections_of(run), 1u);
  cr_assert_eq(before(run, 0, "t", "{}"), MEND_OK);
  cr_assert_eq(detections_of(run), 2u); /* ids go on counting */
  mend_run_release(run);
  mend_watchdog_release(loop);
  world_close(&world);
}

/* The counts of a large window against a plain count of what is in it. */
Test(loop, a_large_window_counts_right) {
  enum { N = 3000, CALLS = 20000, TOOLS = 97 };
  test_world world;
  world_open(&world);
  mend_watchdog *loop = loop_on(&world, 60, N);
  mend_run *run = world_run(&world, "r");
  static unsigned tools[CALLS];
  unsigned counts[TOOLS] = {0}, silent = TOOLS;
  uint64_t expected = 0, random = 1;
  for (size_t i = 0; i < CALLS; i++) {
    random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    unsigned tool = (unsigned)(random >> 33) % TOOLS;
    tool = tool * tool / TOOLS; /* some more often than others */
    tools[i] = tool;
    if (i >= N) counts[tools[i - N]]--;
    counts[tool]++;
    char args[32];
    snprintf(args, sizeof args, "{\"n\":%u}", tool);
    cr_assert_eq(before(run, i + 1, "t", args), MEND_OK);
    if (silent == tool) continue;
    silent = TOOLS;
    if (counts[tool] <= 60) continue;
    silent = tool;
    expected++;
  }
  cr_assert(expected > 100);
  cr_assert_eq(detections_of(run), expected);
  const mend_detection *found = latest(run);
  cr_assert(found->count > 60 && found->count <= N);
  mend_detection_release(found);
  mend_run_release(run);
  mend_watchdog_release(loop);
  world_close(&world);
}

Test(loop, options) {
  static const struct {
    uint32_t k, n;
    const char *names; /* in the sentence; NULL: fine */
  } rows[] = {
      {3, 10, NULL},      {1, 2, NULL},       {65535, 65536, NULL}, {0, 10, "loop.k"},
      {10, 10, "loop.n"}, {11, 10, "loop.n"}, {3, 65537, "loop.n"},
  };
  cr_assert_eq(((mend_loop_watchdog_options)MEND_LOOP_WATCHDOG_OPTIONS_INIT).k, 3u);
  cr_assert_eq(((mend_loop_watchdog_options)MEND_LOOP_WATCHDOG_OPTIONS_INIT).n, 10u);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    mend_loop_watchdog_options options = MEND_LOOP_WATCHDOG_OPTIONS_INIT;
    options.k = rows[i].k;
    options.n = rows[i].n;
    mend_watchdog *loop = NULL;
    mend_error error = {0};
    const mend_status status = mend_loop_watchdog_new(&options, NULL, &loop, &error);
    cr_assert_eq(status, rows[i].names == NULL ? MEND_OK : MEND_EINVAL, "k %u, n %u", rows[i].k, rows[i].n);
    if (status != MEND_OK) cr_assert_not_null(strstr(error.message, rows[i].names), "%s", error.message);
    mend_watchdog_release(loop);
  }
  mend_loop_watchdog_options no_size = MEND_LOOP_WATCHDOG_OPTIONS_INIT;
  mend_watchdog *loop = NULL;
  no_size.size = 0;
  cr_assert_eq(mend_loop_watchdog_new(&no_size, NULL, &loop, NULL), MEND_EINVAL);
  cr_assert_null(loop);
}
