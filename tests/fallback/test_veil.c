/* A key is covered in a text however it is cut into pieces, and nothing else is; a reply of any provider never shows
 * it, neither in what is told nor in the raw text. */
#include "mend/json.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include "teller.h"

/* ---- Texts ---- */

typedef struct text_case {
  const char *key;
  bool is_json;
  const char *pieces; /* with a line end behind each */
  const char *told;   /* likewise; behind the last what is flushed */
} text_case;

static const text_case texts[] = {
    {"sk-secret", false, "no key\nhere\n", "no key\nhere\n\n"},
    {"sk-secret", false, "it is sk-secret.\n", "it is *********.\n\n"},
    {"sk-secret", false, "it is sk-se\ncret.\n", "it is \n*********.\n\n"},
    {"sk-secret", false, "s\nk\n-\ns\ne\nc\nr\ne\nt\n", "\n\n\n\n\n\n\n\n*********\n\n"},
    {"sk-secret", false, "asks\nomething\n", "ask\nsomething\n\n"},
    {"sk-secret", false, "sk-sec\n", "\nsk-sec\n"},
    {"sk-secret", false, "sk-sk-secret\n", "sk-*********\n\n"},
    {"sk-secret", false, "sk-\nsk-secretsk-sec\nret\n", "\nsk-*********\n*********\n\n"},
    {"sk-secret", false, "sk-secresk-secre\nt\n", "sk-secre\n*********\n\n"},
    {"sk-secret", false, "sk-secreT\n", "sk-secreT\n\n"},
    {"sk-secret", false, "\\u0073k-secret\n", "\\u0073k-secret\n\n"},
    {"abababac", false, "ababababac\n", "ab********\n\n"},
    {"abababac", false, "abab\nabab\nac\n", "\nab\n********\n\n"},
    {"aaaaaaaab", false, "aaaaaaaaaa\naab\n", "aa\naa*********\n\n"},
    {"EMPTY", false, "EMPTY\n", "EMPTY\n\n"},
    {"sk-secret", true, "{\"k\":\"sk-secret\"}\n", "{\"k\":\"*********\"}\n\n"},
    {"sk-secret", true, "{\"k\":\"\\u0073k-se\\u0063ret\"}\n", "{\"k\":\"*********\"}\n\n"},
    {"sk-secret", true, "\"\\\nu\n0\n07\n3k-secret\"\n", "\"\n\n\n\n*********\"\n\n"},
    {"sk-secret", true, "\"\\u007\n4k-secret\"\n", "\"\n\\u0074k-secret\"\n\n"},
    {"sk-secret", true, "\"\\u0073k-sec\"\n", "\"sk-sec\"\n\n"},
    {"sk-secret", true, "\"sk\\u00\n", "\"\nsk\\u00\n"},
    {"sk-secret", true, "\"\\nsk-secret\\\n", "\"\\n*********\n\\\n"},
    {"sk-secret", true, "\"\\sk-secret\"\n", "\"\\*********\"\n\n"},
    {"sk-secret", true, "\"\\u00sk-secret\"\n", "\"\\u00*********\"\n\n"},
    {"u00sk-secret", true, "\"\\u00\nsk-secret\"\n", "\"\n\\************\"\n\n"},
    {"sk-secret", true, "\"\\\\sk-secret\"\n", "\"\\\\*********\"\n\n"},
    {"a/b/c/d/e", true, "\"a\\/b\\/c/d\\u002fe\"\n", "\"*********\"\n\n"},
    {"a/b/c/d/e", true, "\"a\\/b!\"\n", "\"a/b!\"\n\n"},
    {"q\"w\\e\"r\\t", true, "\"q\\\"w\\\\e\\u0022r\\u005Ct\"\n", "\"*********\"\n\n"},
    {"q\"w\\e\"r\\t", true, "{\"q\":\"q\\\"w\\\\e!\"}\n", "{\"q\":\"q\\\"w\\\\e!\"}\n\n"},
};

static mend_str next_line(const char **rest) {
  const char *begin = *rest;
  *rest = strchr(begin, '\n') + 1;
  return (mend_str){begin, (size_t)(*rest - 1 - begin)};
}

static void check_text(const text_case *given) {
  mend__secrets *secrets;
  mend__buffer told, all;
  cr_assert_eq(mend__secrets_new(NULL, &(const char *){given->key}, 1, &secrets), MEND_OK);
  mend__veil veil = {.secrets = secrets, .is_json = given->is_json};
  mend__buffer_init(&told, NULL);
  mend__buffer_init(&all, NULL);
  for (const char *rest = given->pieces; *rest != '\0';) {
    mend__buffer_str(&all, mend__veil_take(&veil, next_line(&rest), &told));
    mend__buffer_char(&all, '\n');
  }
  mend__buffer_str(&all, mend__veil_flush(&veil, &told));
  mend__buffer_bytes(&all, "\n", 2);
  cr_assert_str_eq(all.data, given->told, "%s", given->pieces);
  mend__buffer_free(&told);
  mend__buffer_free(&all);
  mend__secrets_release(secrets);
}

Test(veil, texts) {
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    check_text(&texts[i]);
}

/* Told in between because something else was: the rest of the key is covered nevertheless. */
Test(veil, goes_on_behind_a_flush) {
  mend__secrets *secrets;
  mend__buffer told;
  cr_assert_eq(mend__secrets_new(NULL, &(const char *){"sk-secret"}, 1, &secrets), MEND_OK);
  mend__veil veil = {.secrets = secrets};
  mend__buffer_init(&told, NULL);
  cr_assert(mend_str_equal(mend__veil_take(&veil, MEND_STR("a sk-"), &told), MEND_STR("a ")));
  cr_assert(mend_str_equal(mend__veil_flush(&veil, &told), MEND_STR("sk-")));
  cr_assert(!mend__veil_holds(&veil));
  cr_assert(mend_str_equal(mend__veil_take(&veil, MEND_STR("sec"), &told), MEND_STR("")));
  cr_assert(mend_str_equal(mend__veil_flush(&veil, &told), MEND_STR("sec")));
  cr_assert(mend_str_equal(mend__veil_take(&veil, MEND_STR("ret"), &told), MEND_STR("***")));
  mend__buffer_free(&told);
  mend__secrets_release(secrets);
}

/* Against the plain way: each text of two letters, cut everywhere, told as a whole with every key covered. */
Test(veil, is_what_a_search_finds) {
  enum { LENGTH = 14 };
  static const char *const keys[] = {"aabaabaa", "abababab", "aaaaaaaa", "abbabbab"};
  for (unsigned n = 0; n < 4U << LENGTH; n++) {
    const char *key = keys[n >> LENGTH];
    char text[LENGTH + 1] = "", expected[LENGTH + 1];
    for (unsigned i = 0; i < LENGTH; i++)
      text[i] = (n >> i & 1) != 0 ? 'a' : 'b';
    memcpy(expected, text, sizeof text);
    for (char *at = expected; (at = strstr(at, key)) != NULL;)
      memset(at, '*', strlen(key));
    mend__secrets *secrets;
    mend__buffer told, all;
    cr_assert_eq(mend__secrets_new(NULL, &(const char *){key}, 1, &secrets), MEND_OK);
    mend__veil veil = {.secrets = secrets};
    mend__buffer_init(&told, NULL);
    mend__buffer_init(&all, NULL);
    const size_t cut = n % LENGTH;
    mend__buffer_str(&all, mend__veil_take(&veil, (mend_str){text, cut}, &told));
    mend__buffer_str(&all, mend__veil_take(&veil, (mend_str){text + cut, LENGTH - cut}, &told));
    mend__buffer_str(&all, mend__veil_flush(&veil, &told));
    mend__buffer_char(&all, '\0');
    cr_assert_str_eq(all.data, expected, "%s in %s, cut at %zu", key, text, cut);
    mend__buffer_free(&told);
    mend__buffer_free(&all);
    mend__secrets_release(secrets);
  }
}

/* ---- Several keys ---- */

/* The longest that ends here, of what is not covered yet. */
static size_t key_at_end(const char *text, size_t len, const char *const *keys, size_t count) {
  size_t longest = 0;
  for (size_t i = 0; i < count; i++) {
    const size_t size = strlen(keys[i]);
    if (size <= len && size > longest && memcmp(text + len - size, keys[i], size) == 0) longest = size;
  }
  return longest;
}

static void cover_plainly(char *text, const char *const *keys, size_t count) {
  size_t begin = 0;
  for (size_t end = 1; end <= strlen(text); end++) {
    const size_t len = key_at_end(text + begin, end - begin, keys, count);
    memset(text + end - len, '*', len);
    if (len > 0) begin = end;
  }
}

/* Keys that begin alike, end alike, lie in each other. */
Test(veil, of_several_keys_is_what_a_search_finds) {
  enum { LENGTH = 14, SETS = 4, KEYS = 3 };
  static const char *const sets[SETS][KEYS] = {{"aabaabaa", "abababab", "baabaaba"},
                                               {"aabaabaab", "aabaabaa", "abaabaab"},
                                               {"bbaabaabaa", "aabaabaa", NULL},
                                               {"aaaaaaaa", "aaaaaaaab", "short"}};
  for (unsigned n = 0; n < SETS << LENGTH; n++) {
    const char *const *keys = sets[n >> LENGTH];
    const size_t count = keys[KEYS - 1] == NULL || strcmp(keys[KEYS - 1], "short") == 0 ? KEYS - 1 : KEYS;
    char text[LENGTH + 1] = "", expected[LENGTH + 1];
    for (unsigned i = 0; i < LENGTH; i++)
      text[i] = (n >> i & 1) != 0 ? 'a' : 'b';
    memcpy(expected, text, sizeof text);
    cover_plainly(expected, keys, count);
    mend__secrets *secrets;
    mend__buffer told, all;
    cr_assert_eq(mend__secrets_new(NULL, keys, KEYS, &secrets), MEND_OK);
    cr_assert_eq(secrets->count, count);
    mend__veil veil = {.secrets = secrets};
    mend__buffer_init(&told, NULL);
    mend__buffer_init(&all, NULL);
    const size_t cut = n % LENGTH;
    mend__buffer_str(&all, mend__veil_take(&veil, (mend_str){text, cut}, &told));
    mend__buffer_str(&all, mend__veil_take(&veil, (mend_str){text + cut, LENGTH - cut}, &told));
    mend__buffer_str(&all, mend__veil_flush(&veil, &told));
    mend__buffer_char(&all, '\0');
    cr_assert_str_eq(all.data, expected, "set %u in %s, cut at %zu", n >> LENGTH, text, cut);
    mend__buffer_free(&told);
    mend__buffer_free(&all);
    mend__secrets_release(secrets);
  }
}

/* ---- Replies ---- */

#define OPENAI(delta) "data: {\"choices\":[{\"delta\":{" delta "}}]}\n\n"
#define CALL(more) OPENAI("\"tool_calls\":[{\"index\":0," more "}]")
#define OPENAI_END "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
#define ANTHROPIC(delta) "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{" delta "}}\n\n"
#define ANTHROPIC_END "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n"
#define RESPONSES_END "data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\"}}\n\n"

typedef struct reply_case {
  const mend__dialect *dialect;
  const char *key, *reply, *lines;
} reply_case;

static const reply_case replies[] = {
    {&mend__dialect_openai, "sk-secret", OPENAI("\"content\":\"is sk-secret.\"") OPENAI_END,
     "text \"is *********.\"\nfinish stop \"stop\"\n"},
    {&mend__dialect_openai, "sk-secret", OPENAI("\"content\":\"is \\u0073k-s\\u0065cret.\"") OPENAI_END,
     "text \"is *********.\"\nfinish stop \"stop\"\n"},
    {&mend__dialect_openai, "sk-secret", OPENAI("\"content\":\"is sk-\"") OPENAI("\"content\":\"secret.\"") OPENAI_END,
     "text \"is \"\ntext \"*********.\"\nfinish stop \"stop\"\n"},
    {&mend__dialect_openai, "sk-secret", OPENAI("\"content\":\"ask\"") OPENAI("\"content\":\"s\"") OPENAI_END,
     "text \"a\"\ntext \"sk\"\nfinish stop \"stop\"\ntext \"s\"\n"},
    {&mend__dialect_openai, "sk-secret",
     OPENAI("\"content\":\"a sk-\"") OPENAI("\"reasoning\":\"sk-sec\"") OPENAI("\"content\":\"secret\"") OPENAI_END,
     "text \"a \"\ntext \"sk-\"\nthinking \"sk-sec\"\ntext \"******\"\nfinish stop \"stop\"\n"},
    {&mend__dialect_openai, "sk-secret",
     OPENAI("\"content\":\"a s\"") CALL("\"id\":\"c\",\"function\":{\"name\":\"f\"}"),
     "text \"a \"\ntext \"s\"\ncall 0 id \"c\" name \"f\"\ncall 0 \"{}\"\n"},
    {&mend__dialect_openai, "sk-secret",
     CALL("\"id\":\"is-sk-secret\",\"function\":{\"name\":\"f_sk-secret\",\"arguments\":\"\"}")
         CALL("\"function\":{\"arguments\":\"{\\\"k\\\":\\\"\\\\u0073k-\"}")
             CALL("\"function\":{\"arguments\":\"secret\\\"}\"}") OPENAI_END,
     "call 0 id \"is-*********\" name \"f_*********\"\ncall 0 \"{\\\"k\\\":\\\"\"\ncall 0 "
     "\"*********\\\"}\"\nfinish tool_calls \"stop\"\n"},
    {&mend__dialect_openai, "sk-secret", CALL("\"id\":\"c\",\"function\":{\"name\":\"f\",\"arguments\":\"sk-s\"}"),
     "call 0 id \"c\" name \"f\"\ncall 0 \"sk-s\"\n"},
    {&mend__dialect_openai, "sk-secret",
     "data: "
     "{\"model\":\"m-sk-secret\",\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"sk-secret\"}]}\n\n",
     "model m-*********\ntext \"x\"\nfinish unknown \"*********\"\n"},
    {&mend__dialect_openai, "finish_reason", OPENAI("\"content\":\"the finish_reason\"") OPENAI_END,
     "text \"the *************\"\nfinish stop \"stop\"\n"},
    {&mend__dialect_openai, "tool_calls",
     "{\"choices\":[{\"message\":{\"tool_calls\":[{\"id\":\"c\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]},"
     "\"finish_reason\":\"tool_calls\"}]}",
     "call 0 id \"c\" name \"f\"\ncall 0 \"{}\"\nfinish tool_calls \"**********\"\n"},
    {&mend__dialect_anthropic, "sk-secret",
     ANTHROPIC("\"type\":\"text_delta\",\"text\":\"sk-se\"") ANTHROPIC("\"type\":\"text_delta\",\"text\":\"cret\"")
         ANTHROPIC_END,
     "text \"*********\"\nfinish stop \"end_turn\"\n"},
    {&mend__dialect_anthropic, "text_delta", ANTHROPIC("\"type\":\"text_delta\",\"text\":\"hi\"") ANTHROPIC_END,
     "text \"hi\"\nfinish stop \"end_turn\"\n"},
    {&mend__dialect_anthropic, "sk-secret",
     ANTHROPIC("\"type\":\"thinking_delta\",\"thinking\":\"hm sk-\"")
         ANTHROPIC("\"type\":\"signature_delta\",\"signature\":\"sk-secret==\"") ANTHROPIC_END,
     "thinking \"hm \"\nthinking \"sk-\"\nthinking signed \"*********==\"\nfinish stop \"end_turn\"\n"},
    {&mend__dialect_anthropic, "sk-secret",
     "{\"content\":[{\"type\":\"text\",\"text\":\"is "
     "sk-\"},{\"type\":\"text\",\"text\":\"secret\"},{\"type\":\"tool_use\","
     "\"id\":\"c\",\"name\":\"f\",\"input\":{\"k\":\"s\\u006b-secret\"}}],\"stop_reason\":\"tool_use\"}",
     "text \"is \"\ntext \"*********\"\ncall 0 id \"c\" name \"f\"\ncall 0 "
     "\"{\\\"k\\\":\\\"**************\\\"}\"\nfinish tool_calls \"tool_use\"\n"},
    {&mend__dialect_openai_responses, "sk-secret",
     "data: {\"type\":\"response.output_text.delta\",\"delta\":\"sk-\"}\n\n"
     "data: {\"type\":\"response.output_text.delta\",\"delta\":\"secret\"}\n\n" RESPONSES_END,
     "text \"*********\"\nfinish stop \"completed\"\n"},
    {&mend__dialect_openai_responses, "sk-secret",
     "data: "
     "{\"type\":\"response.output_item.done\",\"item\":{\"type\":\"reasoning\",\"id\":\"sk-secret\"}}"
     "\n\n" RESPONSES_END,
     "thinking signed \"{\\\"type\\\":\\\"reasoning\\\",\\\"id\\\":\\\"*********\\\"}\"\nfinish stop \"completed\"\n"},
    {&mend__dialect_google, "sk-secret",
     "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"sk-\"}]}}]}\n\n"
     "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"secret\"},{\"functionCall\":{\"name\":\"f\",\"args\":"
     "{\"sk-secret\":\"sk-secret\"}},\"thoughtSignature\":\"sk-secret\"}]},\"finishReason\":\"STOP\"}]}\n\n",
     "text \"*********\"\ncall 0 id \"call_1\" name \"f\"\ncall 0 \"{\\\"*********\\\":\\\"*********\\\"}\"\n"
     "call 0 signed \"*********\"\nfinish tool_calls \"STOP\"\n"},
};

static void strip(mend__buffer *raw) {
  const mend_str text = mend__buffer_text(raw);
  size_t len = mend_json_unescape(text, raw->data);
  raw->len = mend_json_unescape((mend_str){raw->data, len}, raw->data);
}

/* Escapes of escapes taken off, and what is between two pieces. */
static void check_raw(teller *told, const reply_case *given) {
  mend_error error = MEND_ERROR_INIT;
  const mend_str raw = mend__buffer_text(&told->raw);
  cr_assert_eq(mend_json_check(raw, MEND_JSON_DEPTH, &error), MEND_OK, "%s in %.*s", error.message, MEND_STR_ARG(raw));
  if (strchr(given->key, '_') == NULL) {
    cr_assert(memmem(raw.ptr, raw.len, "secret", 6) == NULL, "%.*s", MEND_STR_ARG(raw));
    strip(&told->raw);
    cr_assert(memmem(told->raw.data, told->raw.len, "secret", 6) == NULL, "%.*s", (int)told->raw.len, told->raw.data);
  } else {
    cr_assert(memmem(raw.ptr, raw.len, "finish_reason", 13) != NULL || given->dialect == &mend__dialect_anthropic);
  }
}

static bool play_reply(const reply_case *given, const mend_allocator *allocator, bool check) {
  mend_messages *messages;
  mend__decoder decoder;
  mend__secrets *secrets;
  teller told;
  cr_assert_eq(mend_messages_new(NULL, &messages), MEND_OK);
  cr_assert_eq(mend__secrets_new(NULL, &(const char *){given->key}, 1, &secrets), MEND_OK);
  teller_init(&told);
  const mend__decoder_listener listener = teller_listener(&told);
  mend__decoder_init(&decoder, given->dialect, messages, secrets, allocator, &listener);
  const mend__reading reading = play(&decoder, mend_str_from(given->reply));
  if (check) {
    mend__buffer_char(&told.lines, '\0');
    cr_assert_str_eq(told.lines.data, given->lines, "%s", given->reply);
    check_raw(&told, given);
  }
  mend__decoder_free(&decoder);
  teller_free(&told);
  mend__secrets_release(secrets);
  mend_messages_free(messages);
  return reading == MEND__READING_NO_MEMORY;
}

Test(veil, replies) {
  for (size_t i = 0; i < sizeof replies / sizeof *replies; i++)
    play_reply(&replies[i], NULL, true);
}

Test(veil, out_of_memory) {
  mend_test_allocator allocator;
  mend_test_allocator_init(&allocator);
  for (size_t i = 0; i < 2 * (sizeof replies / sizeof *replies); i++) {
    bool failed = true;
    for (size_t n = 1; failed; n++) {
      mend_test_allocator_arm(&allocator, n, i % 2 != 0);
      const bool told = play_reply(&replies[i / 2], &allocator.base, false);
      failed = mend_test_allocator_failed(&allocator);
      cr_assert_eq(told, failed, "%s: allocation %zu", replies[i / 2].reply, n);
      cr_assert_eq(atomic_load(&allocator.blocks), 0u);
    }
  }
  for (size_t n = 1; n <= 2; n++) {
    mend__secrets *secrets;
    mend_test_allocator_arm(&allocator, n, true);
    cr_assert_eq(mend__secrets_new(&allocator.base, &(const char *){"sk-secret"}, 1, &secrets), MEND_ENOMEM);
    cr_assert_eq(atomic_load(&allocator.blocks), 0u);
  }
}
