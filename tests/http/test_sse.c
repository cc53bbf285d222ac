/* Event streams: what they say, wherever they are cut. */
#include "http/sse.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include <stdlib.h>

enum { LIMIT = 100 };

/* The events as "name=data;". */
static bool note_event(void *ctx, mend_str name, mend_str data) {
  mend__buffer *log = ctx;
  mend__buffer_str(log, name);
  mend__buffer_char(log, '=');
  mend__buffer_str(log, data);
  mend__buffer_char(log, ';');
  return true;
}

/* A piece in memory of its own size, which is gone afterwards: a sanitizer sees who reads beyond it, or later. */
static mend_status feed(mend__sse *sse, mend_str piece, mend__sse_event event, void *ctx) {
  char *copy = malloc(piece.len + 1);
  memcpy(copy, piece.ptr, piece.len);
  const mend_status status = mend__sse_feed(sse, (mend_str){copy, piece.len}, event, ctx);
  free(copy);
  return status;
}

/* Feeds `first` bytes and then pieces of `step`. */
static mend_status parse(mend_str text, size_t first, size_t step, mend__buffer *log) {
  mend__sse sse;
  mend__sse_init(&sse, NULL, LIMIT);
  mend_status status = MEND_OK;
  for (size_t len = first; status == MEND_OK && text.len > 0; len = step) {
    if (len > text.len) len = text.len;
    status = feed(&sse, (mend_str){text.ptr, len}, note_event, log);
    text = (mend_str){text.ptr + len, text.len - len};
  }
  mend__sse_free(&sse);
  return status;
}

#define TEN "0123456789"
#define FIFTY TEN TEN TEN TEN TEN

static const struct {
  const char *text, *events;
  mend_status status;
} cases[] = {
    {"", "", MEND_OK},
    {"data: a\n\n", "message=a;", MEND_OK},
    {"data:a\n\n", "message=a;", MEND_OK},
    {"data:  a \n\n", "message= a ;", MEND_OK},
    {"data: a\r\n\r\ndata: b\r\n\r\n", "message=a;message=b;", MEND_OK},
    {"data: a\r\rdata: b\r\r", "message=a;message=b;", MEND_OK},
    {"data: a\r\n\ndata: b\n\r\n\r\n\r", "message=a;message=b;", MEND_OK},
    {"data: a\n\r\ndata: b\r\r\n", "message=a;message=b;", MEND_OK},
    {"data: a\ndata: b\ndata:c\n\n", "message=a\nb\nc;", MEND_OK},
    {"data\n\ndata:\n\ndata\ndata\n\n", "message=;message=;message=\n;", MEND_OK},
    {"event: x\ndata: a\n\ndata: b\n\n", "x=a;message=b;", MEND_OK},
    {"data: a\nevent: x\n\n", "x=a;", MEND_OK},
    {"event: x\nevent: y\ndata: a\n\nevent: x\nevent\ndata: b\n\n", "y=a;message=b;", MEND_OK},
    {"event: x\n\ndata: a\n\n", "message=a;", MEND_OK},
    {": hello\n\n:\n\n: data: a\n\ndata: b\n: c\ndata: d\n\n", "message=b\nd;", MEND_OK},
    {"id: 7\nretry: 10\nunknown: x\nunknown\ndata : a\n data: b\nDATA: c\n\n", "", MEND_OK},
    {"\xEF\xBB\xBF"
     "data: a\n\n\xEF\xBB\xBF"
     "data: b\n\n",
     "message=a;", MEND_OK},
    {"\xEF\xBB\xBF\n\xEF\xBB\n", "", MEND_OK},
    {"data: \xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\n\n", "message=\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80;", MEND_OK},
    {"data: a:b: c\n\n", "message=a:b: c;", MEND_OK},
    {"data: a", "", MEND_OK},
    {"data: a\n", "", MEND_OK},
    {"data: a\n\ndata: b\nevent: x\n", "message=a;", MEND_OK},
    {"data: " FIFTY FIFTY "\n\n", "", MEND_ELIMIT},
    {"data:" FIFTY TEN TEN TEN TEN "01234\n\n", "message=" FIFTY TEN TEN TEN TEN "01234;", MEND_OK},
    {"data: " FIFTY "\ndata: " TEN TEN TEN TEN "012345678\n\n", "message=" FIFTY "\n" TEN TEN TEN TEN "012345678;",
     MEND_OK},
    {"data: a\n\ndata: " FIFTY "\ndata: " FIFTY "\n\n", "message=a;", MEND_ELIMIT},
    {": " FIFTY FIFTY, "", MEND_ELIMIT},
    {": " FIFTY "\n: " FIFTY "\n: " FIFTY "\ndata: a\n\n", "message=a;", MEND_OK},
};

static void check_cut(size_t i, size_t first, size_t step) {
  mend__buffer log;
  mend__buffer_init(&log, NULL);
  const mend_status status = parse(mend_str_from(cases[i].text), first, step, &log);
  cr_assert_eq(status, cases[i].status, "case %zu, cut at %zu: %d", i, first, (int)status);
  cr_assert(mend_str_equal((mend_str){log.data, log.len}, mend_str_from(cases[i].events)), "case %zu, cut at %zu: %.*s",
            i, first, (int)log.len, log.data);
  mend__buffer_free(&log);
}

Test(http_sse, says_the_same_wherever_it_is_cut) {
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const size_t len = strlen(cases[i].text);
    check_cut(i, 1, 1);
    for (size_t first = 1; first <= len; first++)
      check_cut(i, first, len);
  }
}

/* ---- Who wants no more, and who has no memory ---- */

static bool want_two(void *ctx, mend_str name, mend_str data) {
  (void)name, (void)data;
  return ++*(unsigned *)ctx < 2;
}

static mend_status feed_in_two(mend__sse *sse, const char *text, mend__buffer *log) {
  const size_t half = strlen(text) / 2;
  const mend_status status = feed(sse, (mend_str){text, half}, note_event, log);
  return status == MEND_OK ? feed(sse, mend_str_from(text + half), note_event, log) : status;
}

Test(http_sse, stops) {
  unsigned count = 0;
  mend__sse sse;
  mend__sse_init(&sse, NULL, LIMIT);
  cr_assert_eq(feed(&sse, MEND_STR("data: a\n\ndata: b\n\ndata: c\n\n"), want_two, &count), MEND_ECANCELLED);
  cr_assert_eq(count, 2u);
  mend__sse_free(&sse);

  static const char text[] =
      "event: some_name\ndata: a\ndata: b\n\ndata: it is cut in here, and that has to be kept\n\n";
  mend_test_allocator allocator;
  mend_test_allocator_init(&allocator);
  for (int onwards = 0; onwards < 2; onwards++) {
    size_t fail_at = 1;
    for (bool failed = true; failed; fail_at++) {
      mend__buffer log;
      mend__buffer_init(&log, NULL);
      mend__sse_init(&sse, &allocator.base, LIMIT);
      mend_test_allocator_arm(&allocator, fail_at, onwards == 1);
      const mend_status status = feed_in_two(&sse, text, &log);
      failed = mend_test_allocator_failed(&allocator);
      cr_assert_eq(status, failed ? MEND_ENOMEM : MEND_OK, "allocation %zu", fail_at);
      mend__sse_free(&sse);
      mend__buffer_free(&log);
      cr_assert_eq(atomic_load(&allocator.blocks), 0u);
    }
    cr_assert(fail_at > 3, "nothing had to be kept");
  }
}
