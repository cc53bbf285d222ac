/* The growing buffer and the JSON writer. */
#include "support/mend_test.h"
#include "support/test_support.h"

#include "core/buffer.h"
#include "mend/clock.h"
#include "mend/json.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void check_content(const mend__buffer *buffer, mend_str expected, const char *what) {
  cr_assert(!buffer->failed, "%s", what);
  mend_str content = {buffer->data, buffer->len};
  cr_assert(mend_str_equal(content, expected), "%s: %.*s instead of %.*s", what, MEND_STR_ARG(content),
            MEND_STR_ARG(expected));
}

Test(buffer, grows) {
  mend_test_allocator allocator;
  mend_test_allocator_init(&allocator);
  mend__buffer buffer;
  mend__buffer_init(&buffer, &allocator.base);
  mend__buffer_str(&buffer, (mend_str){NULL, 0});
  mend__buffer_bytes(&buffer, "", 0);
  check_content(&buffer, MEND_STR(""), "nothing needs no memory");
  cr_assert_eq(atomic_load(&allocator.calls), (size_t)0);

  for (unsigned i = 0; i < 100000; i++)
    mend__buffer_char(&buffer, (char)('a' + i % 26));
  cr_assert_eq(buffer.len, (size_t)100000);
  for (unsigned i = 0; i < 100000; i++)
    cr_assert(buffer.data[i] == (char)('a' + i % 26), "byte %u", i);
  cr_assert(atomic_load(&allocator.calls) < 20, "grows by doubling");

  size_t calls = atomic_load(&allocator.calls);
  mend__buffer_clear(&buffer);
  mend__buffer_printf(&buffer, "%s %d", "again", 7);
  check_content(&buffer, MEND_STR("again 7"), "cleared");
  cr_assert(mend__buffer_reserve(&buffer, 50000));
  cr_assert_eq(atomic_load(&allocator.calls), calls, "the memory is kept");

  cr_assert(!mend__buffer_reserve(&buffer, SIZE_MAX), "more than there is");
  cr_assert(buffer.failed);
  cr_assert_eq(buffer.len, (size_t)7);
  mend__buffer_free(&buffer);
  cr_assert_eq(atomic_load(&allocator.blocks), (size_t)0);
  mend__buffer_str(&buffer, MEND_STR("usable"));
  check_content(&buffer, MEND_STR("usable"), "after free");
  mend__buffer_free(&buffer);
}

static void write_everything(mend__buffer *buffer) {
  static const uint8_t bytes[200] = {0xAB};
  mend__buffer_json_string(buffer, MEND_STR("a string\nwith \x01 escapes \xFF"));
  mend__buffer_json_string_cut(buffer, MEND_STR("a string that is cut"), 8);
  mend__buffer_u64(buffer, UINT64_MAX);
  mend__buffer_f64(buffer, 0.1);
  mend__buffer_seconds(buffer, 1500000000);
  mend__buffer_hex(buffer, bytes, sizeof bytes);
  mend__buffer_printf(buffer, "%200d", 1);
  mend__buffer_char(buffer, '.');
}

Test(buffer, out_of_memory) {
  mend_test_allocator allocator;
  mend_test_allocator_init(&allocator);
  size_t fail_at = 1;
  for (bool failed = true; failed; fail_at++) {
    mend__buffer buffer;
    mend__buffer_init(&buffer, &allocator.base);
    mend_test_allocator_arm(&allocator, fail_at, false);
    write_everything(&buffer);
    failed = mend_test_allocator_failed(&allocator);
    cr_assert_eq(buffer.failed, failed, "allocation %zu", fail_at);
    if (failed) {
      size_t len = buffer.len;
      write_everything(&buffer);
      cr_assert_eq(buffer.len, len, "nothing is written behind the hole");
      mend__buffer_clear(&buffer);
      write_everything(&buffer);
      cr_assert(!buffer.failed, "cleared, it works again");
    }
    mend__buffer_free(&buffer);
    cr_assert_eq(atomic_load(&allocator.blocks), (size_t)0, "allocation %zu", fail_at);
  }
  cr_assert(fail_at > 3);
}

/* ---- Strings ------------------------------------------------------------------------------------------------ */

Test(buffer, json_strings) {
  const struct {
    mend_str text, json;
  } cases[] = {
      {{NULL, 0}, MEND_STR("\"\"")},
      {MEND_STR(""), MEND_STR("\"\"")},
      {MEND_STR("plain / text 'with' <everything> & \x7F"), MEND_STR("\"plain / text 'with' <everything> & \x7F\"")},
      {MEND_STR("\"\\\b\f\n\r\t"), MEND_STR("\"\\\"\\\\\\b\\f\\n\\r\\t\"")},
      {MEND_STR("\0\x01\x0B\x1F"), MEND_STR("\"\\u0000\\u0001\\u000b\\u001f\"")},
      {MEND_STR("\xC2\x80 \xE4\xB8\xAD \xF0\x9F\x98\x80 \xF4\x8F\xBF\xBF"),
       MEND_STR("\"\xC2\x80 \xE4\xB8\xAD \xF0\x9F\x98\x80 \xF4\x8F\xBF\xBF\"")},
      {MEND_STR("\x80"), MEND_STR("\"\xEF\xBF\xBD\"")},
      {MEND_STR("caf\xE9"), MEND_STR("\"caf\xEF\xBF\xBD\"")},
      {MEND_STR("\xC0\xAF"), MEND_STR("\"\xEF\xBF\xBD\xEF\xBF\xBD\"")},
      {MEND_STR("\xF0\x9F\x98!"), MEND_STR("\"\xEF\xBF\xBD!\"")},
      {MEND_STR("\xED\xA0\x80"), MEND_STR("\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"")},
      {MEND_STR("cut \xE4\xB8"), MEND_STR("\"cut \xEF\xBF\xBD\"")},
  };
  mend__buffer buffer;
  mend__buffer_init(&buffer, NULL);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    mend__buffer_clear(&buffer);
    mend__buffer_json_string(&buffer, cases[i].text);
    check_content(&buffer, cases[i].json, "json_string");
    mend__buffer_clear(&buffer);
    mend__buffer_json_string_cut(&buffer, cases[i].text, cases[i].text.len);
    check_content(&buffer, cases[i].json, "json_string_cut, long enough");
  }

  /* every two bytes, at every place of a word, give one valid string */
  for (unsigned pair = 0; pair < 0x10000; pair++) {
    char text[12] = "abcdefghijk";
    text[pair % 10] = (char)(pair >> 8);
    text[pair % 10 + 1] = (char)(pair & 0xFF);
    mend__buffer_clear(&buffer);
    mend__buffer_json_string(&buffer, (mend_str){text, 11});
    cr_assert_eq(mend_json_check(mend__buffer_text(&buffer), 1, NULL), MEND_OK, "%04x", pair);
  }
  mend__buffer_free(&buffer);
}

Test(buffer, quoted_for_people) {
  const struct {
    mend_str text;
    const char *quoted;
  } rows[] = {
      {{NULL, 0}, "\"\""},
      {MEND_STR("plain \xc3\xbc \xf0\x9f\x98\x80"), "\"plain \xc3\xbc \xf0\x9f\x98\x80\""},
      {MEND_STR("\"\\\n\x1b"), "\"\\\"\\\\\\n\\u001b\""},
      {MEND_STR("\x7f\xc2\x9b"), "\"\\u007f\\u009b\""},
      {MEND_STR("a\xe2\x80\xae z\xef\xbb\xbf"), "\"a\\u202e z\\ufeff\""},
      {MEND_STR("\xff|\xe2\x80"), "\"\xef\xbf\xbd|\xef\xbf\xbd\""},
  };
  mend__buffer buffer;
  mend__buffer_init(&buffer, NULL);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    mend__buffer_clear(&buffer);
    mend__buffer_quoted(&buffer, rows[i].text);
    check_content(&buffer, mend_str_from(rows[i].quoted), "quoted");
  }
  mend__buffer_free(&buffer);
}

Test(buffer, json_strings_cut) {
  const struct {
    mend_str text;
    size_t max_chars;
    mend_str json;
  } cases[] = {
      {MEND_STR("abc"), 3, MEND_STR("\"abc\"")},
      {MEND_STR("abcd"), 3, MEND_STR("\"abc...\"")},
      {MEND_STR("abcd"), 0, MEND_STR("\"...\"")},
      {MEND_STR(""), 0, MEND_STR("\"\"")},
      {MEND_STR("\xE4\xB8\xAD\xE6\x96\x87\xE5\xAD\x97"), 3, MEND_STR("\"\xE4\xB8\xAD\xE6\x96\x87\xE5\xAD\x97\"")},
      {MEND_STR("\xE4\xB8\xAD\xE6\x96\x87\xE5\xAD\x97"), 2, MEND_STR("\"\xE4\xB8\xAD\xE6\x96\x87...\"")},
      {MEND_STR("a\n\nb"), 2, MEND_STR("\"a\\n...\"")},
      {MEND_STR("\xFF\xF0\x9F\x98xy"), 3, MEND_STR("\"\xEF\xBF\xBD\xEF\xBF\xBDx...\"")},
      {MEND_STR("\xF0\x9F\x98\x80\xF0\x9F\x98\x80"), 1, MEND_STR("\"\xF0\x9F\x98\x80...\"")},
  };
  mend__buffer buffer;
  mend__buffer_init(&buffer, NULL);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    mend__buffer_clear(&buffer);
    mend__buffer_json_string_cut(&buffer, cases[i].text, cases[i].max_chars);
    check_content(&buffer, cases[i].json, "json_string_cut");
  }
  mend__buffer_free(&buffer);
}

/* ---- Numbers ------------------------------------------------------------------------------------------------ */

Test(buffer, integers_and_seconds) {
  const struct {
    uint64_t value;
    const char *decimal, *seconds;
  } cases[] = {
      {0, "0", "0.0"},
      {7, "7", "0.000000007"},
      {10, "10", "0.00000001"},
      {100000000, "100000000", "0.1"},
      {999999999, "999999999", "0.999999999"},
      {1000000000, "1000000000", "1.0"},
      {UINT64_C(1009860000000), "1009860000000", "1009.86"},
      {UINT64_C(1002000000000), "1002000000000", "1002.0"},
      {UINT64_C(1700000000123456789), "1700000000123456789", "1700000000.123456789"},
      {UINT64_MAX, "18446744073709551615", "18446744073.709551615"},
  };
  mend__buffer buffer;
  mend__buffer_init(&buffer, NULL);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    mend__buffer_clear(&buffer);
    mend__buffer_u64(&buffer, cases[i].value);
    check_content(&buffer, mend_str_from(cases[i].decimal), "u64");
    mend__buffer_clear(&buffer);
    mend__buffer_seconds(&buffer, cases[i].value);
    check_content(&buffer, mend_str_from(cases[i].seconds), "seconds");
    uint64_t again;
    mend_status status = mend_json_seconds_ns(mend__buffer_text(&buffer), &again);
    cr_assert(cases[i].value > INT64_MAX ? status == MEND_ELIMIT : again == cases[i].value, "%s", cases[i].seconds);
  }
  mend__buffer_clear(&buffer);
  mend__buffer_hex(&buffer, (const uint8_t[]){0x00, 0x1F, 0xA0, 0xFF}, 4);
  check_content(&buffer, MEND_STR("001fa0ff"), "hex");
  mend__buffer_free(&buffer);
}

Test(buffer, doubles) {
  const struct {
    double value;
    const char *text;
  } cases[] = {
      {0, "0"},
      {-0.0, "-0"},
      {1, "1"},
      {-1, "-1"},
      {0.1, "0.1"},
      {0.3, "0.3"},
      {0.1 + 0.2, "0.30000000000000004"},
      {-2.5, "-2.5"},
      {1.0 / 3.0, "0.3333333333333333"},
      {2.0 / 3.0, "0.6666666666666666"},
      {1234567.875, "1234567.875"},
      {999999999999999, "999999999999999"},
      {1e15, "1e+15"},
      {123456789012345680, "1.2345678901234568e+17"},
      {9007199254740992, "9007199254740992"},
      {1e21, "1e+21"},
      {1e-7, "1e-07"},
      {DBL_MAX, "1.7976931348623157e+308"},
      {DBL_MIN, "2.2250738585072014e-308"},
      {0x1p-1074, "4.94065645841247e-324"},
      {(double)NAN, "null"},
      {(double)INFINITY, "null"},
      {-(double)INFINITY, "null"},
  };
  mend__buffer buffer;
  mend__buffer_init(&buffer, NULL);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    mend__buffer_clear(&buffer);
    mend__buffer_f64(&buffer, cases[i].value);
    check_content(&buffer, mend_str_from(cases[i].text), "f64");
  }

  uint64_t bits = 1;
  for (unsigned i = 0; i < 20000; i++) {
    bits = bits * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    double value, again;
    memcpy(&value, &bits, sizeof value);
    if (!isfinite(value)) continue;
    mend__buffer_clear(&buffer);
    mend__buffer_f64(&buffer, value);
    mend_str text = {buffer.data, buffer.len};
    cr_assert_eq(mend_json_check(text, 1, NULL), MEND_OK, "%.*s", MEND_STR_ARG(text));
    again = mend_json_double(text);
    cr_assert(memcmp(&value, &again, sizeof value) == 0, "%.*s", MEND_STR_ARG(text));
  }
  mend__buffer_free(&buffer);
}

Test(buffer, hands_its_text_over) {
  mend_test_allocator allocator;
  mend_test_allocator_init(&allocator);
  mend__buffer buffer;
  mend__buffer_init(&buffer, &allocator.base);
  char *text = NULL;
  size_t len = 77;
  mend__buffer_time(&buffer, UINT64_C(1009860000000));
  mend__buffer_char(&buffer, ' ');
  mend__buffer_time(&buffer, MEND_NEVER);
  mend__buffer_char(&buffer, ' ');
  mend__buffer_json_text(&buffer, (mend_str){NULL, 0});
  mend__buffer_json_text(&buffer, MEND_STR(""));
  check_content(&buffer, MEND_STR("1009.86 s never null\"\""), "before");
  cr_assert_eq(mend__buffer_take(&buffer, &text, &len), MEND_OK);
  cr_assert_str_eq(text, "1009.86 s never null\"\"");
  cr_assert_eq(len, strlen(text));
  check_content(&buffer, MEND_STR(""), "after");
  mend_free(&allocator.base, text);

  cr_assert_eq(mend__buffer_take(&buffer, &text, NULL), MEND_OK);
  cr_assert_str_eq(text, "", "nothing is a text too");
  mend_free(&allocator.base, text);

  mend__buffer_str(&buffer, MEND_STR("lost"));
  buffer.failed = true;
  cr_assert_eq(mend__buffer_take(&buffer, &text, &len), MEND_ENOMEM);
  cr_assert_eq(atomic_load(&allocator.blocks), (size_t)0, "a failed one is freed");
  check_content(&buffer, MEND_STR(""), "usable again");
}
