#include "mend/json.h"
#include "program/base/plain.h"
#include "support/mend_test.h"

static void expect(mend__buffer *buffer, const char *expected, const char *what) {
  mend__buffer_char(buffer, '\0');
  cr_assert(!buffer->failed);
  cr_assert_str_eq(buffer->data, expected, "%s: \"%s\"", what, buffer->data);
  mend__buffer_free(buffer);
}

static const struct {
  const char *text;
  size_t max_chars;
  const char *plain;
} texts[] = {
    {"plain", 9, "plain"},
    {"plain", 5, "plain"},
    {"plain", 4, "plai..."},
    {"gr\xC3\xBC\xC3\x9F", 3, "gr\xC3\xBC..."},
    {"a\nb\tc\rd", 9, "a\\nb\\tc\\rd"},
    {"\x1b[31mred\x07\x7f", 99, "\\x1b[31mred\\x07\\x7f"},
    {"\xC2\x9B"
     "31m",
     9, "\\x9b31m"},
    {"\xE2\x80\xAE"
     "desrever",
     9, "\\u202edesrever"},
    {"\xE2\x80\x8B\xEF\xBB\xBF", 9, "\\u200b\\ufeff"},
    {"\xFF"
     "a\xC3",
     9,
     "\xEF\xBF\xBD"
     "a\xEF\xBF\xBD"},
    {"\xF0\x9F\x9A\x80", 9, "\xF0\x9F\x9A\x80"},
};

static const struct {
  const char *json, *plain;
} values[] = {
    {"{\"a\":1}", "{\"a\":1}"},
    {"\"a\\nb\"", "a\\nb"},
    {"\"say \\\"hi\\\"\"", "say \"hi\""},
    {"\"cut...", "cut..."},
    {"\"\"", ""},
    {"\"\\u001b[2J\"", "\\x1b[2J"},
    {"7", "7"},
};

Test(program_plain, text_cannot_do_anything_to_a_terminal) {
  mend__buffer buffer;
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    mend__buffer_init(&buffer, NULL);
    plain_text(&buffer, mend_str_from(texts[i].text), texts[i].max_chars);
    expect(&buffer, texts[i].plain, texts[i].text);
  }
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
    mend__buffer_init(&buffer, NULL);
    plain_json(&buffer, mend_str_from(values[i].json), 100);
    expect(&buffer, values[i].plain, values[i].json);
  }
}

static const struct {
  const char *json, *escaped;
} documents[] = {
    {"{\"a\":[1,\"\\u001b\"]}", "{\"a\":[1,\"\\u001b\"]}"},
    {"\"gr\xC3\xBC\xC3\x9F"
     "e \xF0\x9F\x9A\x80\"",
     "\"gr\xC3\xBC\xC3\x9F"
     "e \xF0\x9F\x9A\x80\""},
    {"\"\x7f\xC2\x80\xC2\x9F\xC2\xA0\"", "\"\\u007f\\u0080\\u009f\xC2\xA0\""},
    {"\"\xE2\x80\xA8\xE2\x80\xA9\xE2\x80\xAA\xE2\x80\xAE\"", "\"\\u2028\\u2029\\u202a\\u202e\""},
    {"\"\xEF\xBF\xBE\xF3\xA0\x81\x81\"", "\"\\ufffe\\udb40\\udc41\""},
    {"{\"\xE2\x81\xA6\":\"\xE2\x81\xA9\"}", "{\"\\u2066\":\"\\u2069\"}"},
};

Test(program_plain, json_cannot_either_and_stays_the_same) {
  mend__buffer buffer;
  for (size_t i = 0; i < sizeof documents / sizeof documents[0]; i++) {
    mend__buffer_init(&buffer, NULL);
    plain_json_escaped(&buffer, mend_str_from(documents[i].json));
    cr_assert_eq(mend_json_check(mend__buffer_text(&buffer), 64, NULL), MEND_OK, "%s", documents[i].json);
    expect(&buffer, documents[i].escaped, documents[i].json);
  }
}

static const struct {
  uint64_t ms;
  const char *text;
} durations[] = {
    {0, "0 s"},       {500, "0.5 s"},         {999, "0.9 s"},    {1000, "1 s"},
    {9999, "9.9 s"},  {12400, "12 s"},        {60000, "1 min"},  {451000, "7 min 31 s"},
    {3600000, "1 h"}, {7380000, "2 h 3 min"}, {86400000, "1 d"}, {273600000, "3 d 4 h"},
};

Test(program_plain, lines_and_numbers) {
  mend__buffer buffer;
  mend__buffer_init(&buffer, NULL);
  plain_wrap(&buffer, MEND_STR("one two three four five"), 80, 70, 75);
  expect(&buffer,
         "one two\n                                                                           three\n"
         "                                                                           four\n"
         "                                                                           five\n",
         "wrap");
  mend__buffer_init(&buffer, NULL);
  plain_wrap(&buffer,
             MEND_STR("unbreakable gr\xC3\xBC\xC3\x9F"
                      "e"),
             80, 76, 74);
  expect(&buffer,
         "unbr\n                                                                          eakabl\n"
         "                                                                          e\n"
         "                                                                          gr\xC3\xBC\xC3\x9F"
         "e\n",
         "hard");
  mend__buffer_init(&buffer, NULL);
  plain_count(&buffer, 1, "call");
  mend__buffer_char(&buffer, ' ');
  plain_count(&buffer, 1234567, "call");
  expect(&buffer, "1 call 1,234,567 calls", "counts");
  for (size_t i = 0; i < sizeof durations / sizeof durations[0]; i++) {
    mend__buffer_init(&buffer, NULL);
    plain_duration(&buffer, durations[i].ms * 1000000);
    expect(&buffer, durations[i].text, "duration");
  }
}
