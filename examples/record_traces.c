/* Records the two journals in examples/traces: what a coding agent did on a good day and on a bad one. Nothing is real
 * but the library: the events are published on a bus whose clock stands still until it is told otherwise, and a journal
 * writes them down, so every run of this program writes the same bytes.
 *
 *   record_traces [FOLDER]      writes FOLDER/healthy.jsonl and FOLDER/troubled.jsonl; FOLDER is "." by default
 */
#include <mend.h>

#include <stdio.h>
#include <stdlib.h>

/* One event: so long after the one before, of this topic, with this payload. */
typedef struct step {
  double after_s;
  const char *topic;
  const char *payload;
} step;

#define ASK(after, text)                                                                                               \
  { after, "user.message", "{\"text\":\"" text "\"}" }
#define THINK(after, messages)                                                                                         \
  { after, "model.request", "{\"model\":\"claude-sonnet-4-6\",\"messages\":" messages "}" }
#define SAY(after, text)                                                                                               \
  { after, "model.response", "{\"model\":\"claude-sonnet-4-6\",\"text\":\"" text "\"}" }
#define CALL(after, id, tool, args)                                                                                    \
  { after, "tool.before", "{\"call_id\":\"" id "\",\"tool_name\":\"" tool "\",\"args\":" args ",\"attempt\":1}" }
#define OK(after, id, tool, ms, result)                                                                                \
  {                                                                                                                    \
    after, "tool.after",                                                                                               \
        "{\"call_id\":\"" id "\",\"tool_name\":\"" tool "\",\"duration_ms\":" ms ",\"result\":\"" result "\"}"         \
  }
#define FAIL(after, id, tool, ms, message)                                                                             \
  {                                                                                                                    \
    after, "tool.error",                                                                                               \
        "{\"call_id\":\"" id "\",\"tool_name\":\"" tool                                                                \
        "\",\"error_type\":\"tool_error\",\"error_message\":\"" message "\",\"duration_ms\":" ms "}"                   \
  }
#define SURE(after, id, tool, confidence)                                                                              \
  {                                                                                                                    \
    after, "metacognition.confidence",                                                                                 \
        "{\"call_id\":\"" id "\",\"tool_name\":\"" tool "\",\"confidence\":" confidence                                \
        ",\"protocol\":\"verbalized\",\"source\":\"coder\"}"                                                           \
  }

/* A bug is found, mended and tested; the slow test run reports that it is alive and ends within its time. */
static const step healthy[] = {
    {0, "agent.start", "{\"name\":\"coder\",\"task\":\"Sessions expire too early\"}"},
    ASK(0.1, "Users are logged out after five minutes, it should be thirty. Please find out why and fix it."),
    THINK(0.2, "2"),
    SAY(2.4, "I'll look for where the session lifetime is set."),
    CALL(0.1, "c1", "search_code", "{\"query\":\"session lifetime\",\"path\":\"src\"}"),
    OK(0.6, "c1", "search_code", "612",
       "src/auth/session.c:41: static const int LIFETIME = 300;\\nsrc/auth/session.c:88: lifetime"),
    SURE(0.1, "c1", "search_code", "0.82"),
    CALL(1.9, "c2", "read_file", "{\"path\":\"src/auth/session.c\",\"from\":30,\"to\":110}"),
    OK(0.1, "c2", "read_file", "74", "static const int LIFETIME = 300; /* seconds */\\n..."),
    CALL(0.1, "c3", "read_file", "{\"path\":\"config/defaults.json\"}"),
    OK(0.1, "c3", "read_file", "51", "{\\\"session_minutes\\\": 30}"),
    SURE(0.1, "c3", "read_file", "0.86"),
    THINK(0.2, "8"),
    SAY(3.1, "The constant ignores the configuration. I'll read the setting instead."),
    CALL(0.2, "c4", "edit_file",
         "{\"path\":\"src/auth/session.c\",\"old\":\"LIFETIME = 300\",\"new\":\"lifetime_s = 60 * "
         "config_int(\\\"session_minutes\\\")\"}"),
    OK(0.1, "c4", "edit_file", "38", "1 replacement"),
    CALL(1.2, "c5", "edit_file", "{\"path\":\"src/auth/session.c\",\"old\":\"+ LIFETIME\",\"new\":\"+ lifetime_s\"}"),
    OK(0.1, "c5", "edit_file", "35", "2 replacements"),
    SURE(0.1, "c5", "edit_file", "0.84"),
    CALL(0.9, "c6", "bash", "{\"command\":\"make -j4\"}"),
    {8.0, "tool.progress", "{\"call_id\":\"c6\",\"tool_name\":\"bash\",\"bytes\":2310}"},
    FAIL(6.2, "c6", "bash", "14200", "session.c:43: error: initializer element is not constant"),
    SURE(0.1, "c6", "bash", "0.71"),
    THINK(0.2, "14"),
    SAY(2.8, "A static cannot be initialised from a call; a function it is."),
    CALL(0.1, "c7", "edit_file",
         "{\"path\":\"src/auth/session.c\",\"old\":\"static int lifetime_s = 60\",\"new\":\"static int "
         "lifetime_s(void) { return 60\"}"),
    OK(0.1, "c7", "edit_file", "41", "1 replacement"),
    CALL(1.5, "c8", "bash", "{\"command\":\"make -j4\"}"),
    {9.0, "tool.progress", "{\"call_id\":\"c8\",\"tool_name\":\"bash\",\"bytes\":4102}"},
    OK(5.5, "c8", "bash", "14500", "built 212 of 212"),
    SURE(0.1, "c8", "bash", "0.88"),
    CALL(1.1, "c9", "write_file",
         "{\"path\":\"tests/auth/test_lifetime.c\",\"text\":\"Test(session, lives_as_configured) { ... }\"}"),
    OK(0.1, "c9", "write_file", "29", "written, 38 lines"),
    CALL(0.8, "c10", "run_tests", "{\"suite\":\"auth\"}"),
    {15.0, "tool.progress", "{\"call_id\":\"c10\",\"tool_name\":\"run_tests\",\"bytes\":1850}"},
    {15.0, "tool.progress", "{\"call_id\":\"c10\",\"tool_name\":\"run_tests\",\"bytes\":1911}"},
    OK(12.4, "c10", "run_tests", "42400", "64 passed, 0 failed"),
    SURE(0.1, "c10", "run_tests", "0.93"),
    CALL(1.4, "c11", "bash", "{\"command\":\"git diff --stat\"}"),
    OK(0.1, "c11", "bash", "44", " src/auth/session.c | 9 +++++----\\n tests/auth/test_lifetime.c | 38 +++"),
    {0.3, "model.usage",
     "{\"model\":\"claude-sonnet-4-6\",\"tokens\":18240,\"input_tokens\":16890,\"output_tokens\":1350}"},
    SAY(2.2, "Sessions now last as long as session_minutes says; a test holds it to that."),
    {0.1, "agent.end", "{\"name\":\"coder\",\"status\":\"done\"}"},
};

/* The same search over and over, a test run that hangs, and less and less confidence. */
static const step troubled[] = {
    {0, "agent.start", "{\"name\":\"coder\",\"task\":\"Upload test is flaky\"}"},
    ASK(0.1, "test_upload fails about every tenth time in CI. Please make it reliable."),
    THINK(0.2, "2"),
    SAY(2.7, "I'll read the test first."),
    CALL(0.1, "c1", "read_file", "{\"path\":\"tests/test_upload.py\"}"),
    OK(0.1, "c1", "read_file", "66", "def test_upload(server):\\n    part = server.wait_for_part(timeout=1)\\n..."),
    SURE(0.1, "c1", "read_file", "0.91"),
    CALL(1.3, "c2", "search_code", "{\"query\":\"wait_for_part\",\"path\":\"src\"}"),
    OK(0.4, "c2", "search_code", "420", "src/upload/server.py:112: def wait_for_part(self, timeout):"),
    SURE(0.1, "c2", "search_code", "0.88"),
    CALL(1.0, "c3", "read_file", "{\"path\":\"src/upload/server.py\",\"from\":100,\"to\":160}"),
    OK(0.1, "c3", "read_file", "70",
       "    def wait_for_part(self, timeout):\\n        return self._parts.get(timeout=timeout)\\n..."),
    SURE(0.1, "c3", "read_file", "0.87"),
    THINK(0.2, "8"),
    SAY(3.4, "The queue is filled by a worker. I'll look for where it is started."),
    CALL(0.2, "c4", "search_code", "{\"query\":\"start_worker(\",\"path\":\"src/upload\"}"),
    OK(0.4, "c4", "search_code", "398", "no matches"),
    SURE(0.1, "c4", "search_code", "0.74"),
    THINK(0.2, "10"),
    SAY(1.8, "Nothing. I'll look for the call once more."),
    CALL(0.1, "c5", "search_code", "{\"query\":\"start_worker(\",\"path\":\"src/upload\"}"),
    OK(0.4, "c5", "search_code", "402", "no matches"),
    THINK(0.2, "12"),
    SAY(2.0, "That is odd. I'll search again."),
    CALL(0.1, "c6", "search_code", "{\"path\":\"src/upload\",\"query\":\"start_worker(\"}"),
    OK(0.4, "c6", "search_code", "391", "no matches"),
    SURE(0.1, "c6", "search_code", "0.66"),
    THINK(0.2, "14"),
    SAY(1.5, "It has to be there."),
    CALL(0.1, "c7", "search_code", "{\"query\":\"start_worker(\",\"path\":\"src/upload\"}"),
    OK(0.4, "c7", "search_code", "405", "no matches"),
    SURE(0.1, "c7", "search_code", "0.61"),
    THINK(0.2, "16"),
    SAY(1.4, "Perhaps the index was not ready."),
    CALL(0.1, "c8", "search_code", "{ \"query\": \"start_worker(\", \"path\": \"src/upload\" }"),
    OK(0.4, "c8", "search_code", "399", "no matches"),
    THINK(0.2, "18"),
    SAY(2.9, "I'll run the test to see it fail."),
    CALL(0.1, "c9", "run_tests", "{\"suite\":\"upload\",\"repeat\":20}"),
    {5.0, "tool.progress", "{\"call_id\":\"c9\",\"tool_name\":\"run_tests\",\"bytes\":412}"},
    {5.0, "tool.progress", "{\"call_id\":\"c9\",\"tool_name\":\"run_tests\",\"bytes\":96}"},
    {290.0, "tool.cancelled",
     "{\"call_id\":\"c9\",\"tool_name\":\"run_tests\",\"reason\":\"the job's time was up\",\"duration_ms\":300000}"},
    SURE(0.1, "c9", "run_tests", "0.48"),
    THINK(0.2, "22"),
    SAY(3.3, "The run hung. I'll raise the timeout in the test."),
    CALL(0.1, "c10", "edit_file", "{\"path\":\"tests/test_upload.py\",\"old\":\"timeout=1)\",\"new\":\"timeout=30)\"}"),
    OK(0.1, "c10", "edit_file", "33", "1 replacement"),
    SURE(0.1, "c10", "edit_file", "0.44"),
    CALL(1.2, "c11", "bash", "{\"command\":\"pytest tests/test_upload.py -x\"}"),
    FAIL(31.5, "c11", "bash", "31480", "E   queue.Empty\\n1 failed in 30.9s"),
    SURE(0.1, "c11", "bash", "0.39"),
    CALL(1.0, "c12", "edit_file",
         "{\"path\":\"tests/test_upload.py\",\"old\":\"timeout=30)\",\"new\":\"timeout=120)\"}"),
    OK(0.1, "c12", "edit_file", "36", "1 replacement"),
    SURE(0.1, "c12", "edit_file", "0.31"),
    CALL(1.1, "c13", "bash", "{\"command\":\"pytest tests/test_upload.py -x\"}"),
    {20.0, "agent.end", "{\"name\":\"coder\",\"status\":\"gave up\"}"},
};

static int give_up(const char *what, const mend_error *error) {
  fprintf(stderr, "record_traces: %s: %s\n", what, error->message);
  return EXIT_FAILURE;
}

static mend_status play(mend_run *run, mend_clock *clock, const step *steps, size_t count, mend_error *error) {
  mend_status status = MEND_OK;
  for (size_t i = 0; i < count && status == MEND_OK; i++) {
    mend_clock_advance(clock, (uint64_t)(steps[i].after_s * 1000 + 0.5) * (MEND_SECOND_NS / 1000));
    status = mend_run_emit(run, steps[i].topic, steps[i].payload, error);
  }
  return status;
}

static int record(const char *folder, const char *name, const char *run_id, const step *steps, size_t count) {
  mend_error error = {MEND_OK, 0, 0, "out of memory"};
  mend_clock *clock = NULL;
  mend_bus *bus = NULL;
  mend_run *run = NULL;
  mend_journal *journal = NULL;
  int result = EXIT_SUCCESS;

  /* 2026-11-30 09:00:00 UTC, and ids that are the same every time. */
  const mend_time start = {.mono_ns = 0, .wall_ns = 1796029200 * MEND_SECOND_NS};
  mend_bus_options bus_options = MEND_BUS_OPTIONS_INIT;
  bus_options.id_seed = 1;
  mend_status status = mend_clock_new_virtual(NULL, start, &clock);
  bus_options.clock = clock;
  if (status == MEND_OK) status = mend_bus_new(&bus_options, &bus, &error);

  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  remove(path); /* a journal goes on where the file ends */
  mend_journal_options journal_options = MEND_JOURNAL_OPTIONS_INIT;
  journal_options.path = path;
  if (status == MEND_OK) status = mend_journal_open(bus, &journal_options, &journal, &error);

  mend_run_options run_options = MEND_RUN_OPTIONS_INIT;
  run_options.id = mend_str_from(run_id);
  run_options.agent = MEND_STR("coder");
  if (status == MEND_OK) status = mend_run_new(bus, &run_options, &run, NULL);
  if (status == MEND_OK) status = play(run, clock, steps, count, &error);
  if (status != MEND_OK) result = give_up(path, &error);

  if (mend_journal_close(journal, &error) != MEND_OK) result = give_up(path, &error);
  mend_run_release(run);
  mend_bus_release(bus);
  mend_clock_release(clock);
  return result;
}

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

int main(int argc, char **argv) {
  const char *folder = argc > 1 ? argv[1] : ".";
  const int good = record(folder, "healthy.jsonl", "session-lifetime", healthy, COUNT(healthy));
  const int bad = record(folder, "troubled.jsonl", "flaky-upload", troubled, COUNT(troubled));
  return good == EXIT_SUCCESS && bad == EXIT_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
