/* Replies as each provider gives them: tests/data/fallback/<provider>/read has files of cases. A case is a title
 * behind ===, the reply, a line ---, and what is told of it, line by line, the last of which says how it ended. */
#include "described.h"
#include "sections.h"
#include "teller.h"

static const mend__dialect *dialect;

static const char *const endings[] = {[MEND__READING_MORE] = "cut",
                                      [MEND__READING_COMPLETE] = "complete",
                                      [MEND__READING_ERROR] = "error",
                                      [MEND__READING_MALFORMED] = "malformed",
                                      [MEND__READING_NO_MEMORY] = "no memory"};

typedef struct read_case {
  char title[160];
  mend_str reply, expected;
} read_case;

/* `rest` begins behind the === of a title. */
static bool next_case(mend_str *rest, read_case *ret_case) {
  if (rest->len == 0) return false;
  mend_str text = take_until(rest, "\n=== ");
  const mend_str title = take_until(&text, "\n");
  snprintf(ret_case->title, sizeof ret_case->title, "%s: %.*s", dialect->provider, (int)title.len - 1, title.ptr);
  ret_case->reply = take_until(&text, "\n---\n");
  ret_case->expected = text;
  return true;
}

/* What nobody has asked before. */
static mend_messages *conversation(void) {
  mend_messages *messages;
  cr_assert_eq(mend_messages_new(NULL, &messages), MEND_OK);
  cr_assert_eq(mend_messages_add_user(messages, MEND_STR("x")), MEND_OK);
  return messages;
}

static void check_raw(const mend__buffer *raw, const char *title) {
  mend_error error = MEND_ERROR_INIT;
  const mend_status status = mend_json_check((mend_str){raw->data, raw->len}, MEND_JSON_DEPTH, &error);
  cr_assert_eq(status, MEND_OK, "%s: %s in %.*s", title, error.message, (int)raw->len, raw->data);
}

static void check_case(const read_case *given) {
  mend_messages *messages = conversation();
  mend__decoder decoder;
  teller told;
  teller_init(&told);
  const mend__decoder_listener listener = teller_listener(&told);
  mend__decoder_init(&decoder, dialect, messages, NULL, NULL, &listener);
  const mend__reading reading = play(&decoder, given->reply);
  mend__buffer_str(&told.lines, mend_str_from(endings[reading]));
  mend__buffer_char(&told.lines, '\n');
  const mend_str lines = {told.lines.data, told.lines.len};
  cr_assert(mend_str_equal(lines, given->expected), "%s: told\n%.*s\nexpected\n%.*s", given->title, MEND_STR_ARG(lines),
            MEND_STR_ARG(given->expected));
  if (reading == MEND__READING_COMPLETE) check_raw(&told.raw, given->title);
  if (reading == MEND__READING_ERROR) check_raw(&decoder.fault, given->title);
  cr_assert_eq(decoder.fault.len > 0, reading == MEND__READING_ERROR || reading == MEND__READING_MALFORMED, "%s",
               given->title);
  mend__decoder_free(&decoder);
  teller_free(&told);
  mend_messages_free(messages);
}

static void each_case(const char *name, void (*visit)(const read_case *given), size_t *count) {
  size_t len;
  char *text = mend_test_read(name, &len);
  read_case given;
  cr_assert(len > 4 && memcmp(text, "=== ", 4) == 0, "%s does not begin with a title", name);
  mend_str rest = {text + 4, len - 4};
  for (; next_case(&rest, &given); ++*count)
    visit(&given);
  free(text);
}

static void check_file(void *ctx, const char *name) { each_case(name, check_case, ctx); }

static void each_file(void (*visit)(void *ctx, const char *name)) {
  for (int i = 0; i < DIALECTS; i++) {
    char folder[64];
    size_t count = 0;
    snprintf(folder, sizeof folder, "fallback/%s/read", dialect_folders[i]);
    dialect = mend__dialect_find(mend_str_from(dialect_folders[i]));
    mend_test_each(folder, ".txt", visit, &count);
    cr_assert(count > 0, "no cases in %s", folder);
  }
}

Test(dialect_read, cases) { each_file(check_file); }

/* ---- Torture: every case, each allocation failing ---- */

static void torture_case(const read_case *given, bool from_there_on) {
  static mend_test_allocator allocator;
  mend_messages *messages = conversation();
  mend_test_allocator_init(&allocator);
  bool failed = true;
  for (size_t n = 1; failed; n++) {
    mend__decoder decoder;
    teller told;
    teller_init(&told);
    const mend__decoder_listener listener = teller_listener(&told);
    mend_test_allocator_arm(&allocator, n, from_there_on);
    mend__decoder_init(&decoder, dialect, messages, NULL, &allocator.base, &listener);
    const mend__reading reading = play(&decoder, given->reply);
    failed = mend_test_allocator_failed(&allocator);
    cr_assert(!failed || reading == MEND__READING_NO_MEMORY, "%s: allocation %zu: %s", given->title, n,
              endings[reading]);
    mend__decoder_free(&decoder);
    teller_free(&told);
    cr_assert_eq(allocator.blocks, 0, "%s: allocation %zu leaves blocks", given->title, n);
  }
  mend_messages_free(messages);
}

static void torture_both(const read_case *given) {
  torture_case(given, false);
  torture_case(given, true);
}

static void torture_file(void *ctx, const char *name) { each_case(name, torture_both, ctx); }

Test(dialect_read, torture) { each_file(torture_file); }

/* ---- Ids that are made up are new in the conversation ---- */

static const struct {
  const char *ids[3];
  const char *next;
} id_cases[] = {{{"call_7", "call_x", "call_"}, "call_8"},
                {{"call_2", "call_99999999999999999999", "fc_3"}, "call_3"},
                {{"a"}, "call_1"}};

Test(dialect_read, made_ids) {
  for (size_t i = 0; i < sizeof id_cases / sizeof *id_cases; i++) {
    mend_messages *messages = conversation();
    mend__decoder decoder;
    teller told;
    char expected[64];
    for (int j = 0; j < 3 && id_cases[i].ids[j] != NULL; j++) {
      mend_part call = MEND_PART_INIT;
      call.kind = MEND_PART_CALL;
      call.call_id = mend_str_from(id_cases[i].ids[j]);
      call.name = MEND_STR("now");
      cr_assert_eq(mend_messages_add(messages, MEND_ROLE_ASSISTANT, &call, 1, NULL), MEND_OK);
    }
    teller_init(&told);
    const mend__decoder_listener listener = teller_listener(&told);
    mend__decoder_init(&decoder, &mend__dialect_google, messages, NULL, NULL, &listener);
    play(&decoder, MEND_STR("{\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"now\"}}]},"
                            "\"finishReason\":\"STOP\"}]}"));
    mend__buffer_char(&told.lines, '\0');
    snprintf(expected, sizeof expected, "call 0 id \"%s\" name \"now\"\n", id_cases[i].next);
    cr_assert(strncmp(told.lines.data, expected, strlen(expected)) == 0, "%s", told.lines.data);
    mend__decoder_free(&decoder);
    teller_free(&told);
    mend_messages_free(messages);
  }
}

/* ---- A reply without end ---- */

static void ignore_delta(void *ctx, const mend_delta *delta) { (void)ctx, (void)delta; }
static void ignore_note(void *ctx, const mend_reply *partial) { (void)ctx, (void)partial; }
static void ignore_cover(void *ctx, size_t at, size_t len) { (void)ctx, (void)at, (void)len; }

#define GOOGLE(parts) "{\"candidates\":[{\"content\":{\"parts\":[" parts "]}}]}"

enum { ENDLESS = MEND__DECODER_PARTS_MAX + 1000 };

/* How often an event may come. */
static const struct {
  const char *event;
  size_t times;
} endless[] = {
    {GOOGLE("{\"functionCall\":{\"name\":\"now\"}}"), MEND__DECODER_CALLS_MAX},
    {GOOGLE("{\"text\":\"a\"},{\"text\":\"b\",\"thought\":true}"), MEND__DECODER_PARTS_MAX / 2},
    {GOOGLE("{\"text\":\"a\"},{\"text\":\"b\",\"thoughtSignature\":\"s\"}"), MEND__DECODER_PARTS_MAX},
    {GOOGLE("{\"thoughtSignature\":\"s\"}"), MEND__DECODER_PARTS_MAX},
    {GOOGLE("{\"text\":\"a\"}"), ENDLESS}, /* one part */
};

Test(dialect_read, without_end) {
  mend_messages *messages = conversation();
  for (size_t i = 0; i < sizeof endless / sizeof *endless; i++) {
    mend__decoder decoder;
    size_t times = 0;
    const mend__decoder_listener listener = {ignore_delta, ignore_note, ignore_cover, NULL};
    mend__decoder_init(&decoder, &mend__dialect_google, messages, NULL, NULL, &listener);
    while (times < ENDLESS &&
           mend__decoder_event(&decoder, MEND_STR("message"), mend_str_from(endless[i].event)) == MEND__READING_MORE)
      times++;
    cr_assert_eq(times, endless[i].times, "%zu: %zu times", i, times);
    mend__decoder_free(&decoder);
  }
  mend_messages_free(messages);
}

/* ---- A piece is told without allocating ---- */

static const struct {
  const mend__dialect *dialect;
  const char *event;
} pieces[] = {
    {&mend__dialect_openai, "{\"model\":\"m\",\"choices\":[{\"delta\":{\"content\":\"Pa\\nris\"}}],\"usage\":null}"},
    {&mend__dialect_openai, "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{"
                            "\"name\":\"f\",\"arguments\":\"{}\"}}]}}]}"},
    {&mend__dialect_openai_responses, "{\"type\":\"response.output_text.delta\",\"delta\":\"Paris\",\"logprobs\":[]}"},
    {&mend__dialect_anthropic,
     "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Paris\"}}"},
    {&mend__dialect_google,
     "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Paris\"}]}}],\"usageMetadata\":{\"promptTokenCount\":1}}"},
};

Test(dialect_read, no_allocation) {
  const mend__decoder_listener listener = {ignore_delta, ignore_note, ignore_cover, NULL};
  mend__secrets *secrets; /* that may begin in each of the pieces */
  mend_messages *messages = conversation();
  mend_test_allocator allocator;
  mend_test_allocator_init(&allocator);
  cr_assert_eq(mend__secrets_new(NULL, &(const char *){"s}-secret-key"}, 1, &secrets), MEND_OK);
  for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
    mend__decoder decoder;
    size_t first = 0;
    mend__decoder_init(&decoder, pieces[i].dialect, messages, secrets, &allocator.base, &listener);
    for (size_t j = 0; j < 1000; j++) {
      cr_assert_eq(mend__decoder_event(&decoder, MEND_STR("message"), mend_str_from(pieces[i].event)),
                   MEND__READING_MORE);
      if (j == 2) first = atomic_load(&allocator.calls);
    }
    cr_assert_eq(atomic_load(&allocator.calls), first, "%s allocates", pieces[i].event);
    mend__decoder_free(&decoder);
  }
  mend__secrets_release(secrets);
  mend_messages_free(messages);
}
