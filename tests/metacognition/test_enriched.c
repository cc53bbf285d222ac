/* Enriched output: what is read as one, what is written. */
#include "cases.h"

#include <math.h>

/* ---- Reading: tests/data/metacognition/read.cases ---- */

static void read_case(void *ctx, const char *title, mend_str given, mend_str expected) {
  (void)ctx;
  mend_enriched enriched = MEND_ENRICHED_INIT;
  const mend_status status = mend_enriched_read(given, NULL, &enriched);
  mend_result result = MEND_RESULT_INIT;
  result.value = given;
  const double confidence = mend_enriched_confidence(NULL, NULL, &result);
  if (status == MEND_OK) {
    cr_assert(confidence == enriched.confidence || isnan(enriched.confidence), "%s", title);
    expect_enriched(title, &enriched, expected);
  } else {
    cr_assert_str_eq(mend_status_name(status), expected.ptr, "%s", title);
    cr_assert(isnan(confidence), "%s", title);
    cr_assert_null(enriched.memory, "%s", title);
  }
  mend_enriched_clear(&enriched);
}

Test(enriched, what_is_read) {
  each_case("metacognition/read.cases", read_case, NULL);
  mend_enriched enriched = MEND_ENRICHED_INIT;
  const mend_str text = MEND_STR("{\"output\":1,\"protocol_name\":\"p\"}");
  enriched.size = 8;
  cr_assert_eq(mend_enriched_read(text, NULL, &enriched), MEND_EINVAL);
  cr_assert_eq(mend_enriched_read(text, NULL, NULL), MEND_EINVAL);
  cr_assert(isnan(mend_enriched_confidence(NULL, NULL, NULL)));
  cr_assert_eq(mend_enriched_read(MEND_STR("{\"output\":\"\xff\",\"protocol_name\":\"p\"}"), NULL, &enriched),
               MEND_EINVAL);
  enriched.size = sizeof enriched;
  cr_assert_eq(mend_enriched_read(MEND_STR("{\"output\":\"\xff\",\"protocol_name\":\"p\"}"), NULL, &enriched),
               MEND_ESYNTAX);
}

/* ---- Writing ---- */

static const struct {
  const char *title, *output;
  double confidence;
  const char *targets, *boundary, *protocol, *metadata;
  mend_status status;
  const char *text;
} writings[] = {
    {"nothing but a protocol", NULL, NAN, NULL, NULL, "p", NULL, MEND_OK,
     "{\"output\":null,\"confidence\":null,\"uncertainty_targets\":[],\"capability_boundary\":null,"
     "\"protocol_name\":\"p\",\"metadata\":{}}"},
    {"too sure", "1", 1.5, "[\"a\"]", "b", "p", "{\"c\":1}", MEND_OK,
     "{\"output\":1,\"confidence\":1,\"uncertainty_targets\":[\"a\"],\"capability_boundary\":\"b\","
     "\"protocol_name\":\"p\",\"metadata\":{\"c\":1}}"},
    {"less sure than not at all", "1", -INFINITY, "[]", "", "p", "{}", MEND_OK,
     "{\"output\":1,\"confidence\":0,\"uncertainty_targets\":[],\"capability_boundary\":\"\","
     "\"protocol_name\":\"p\",\"metadata\":{}}"},
    {"texts that are not UTF-8", "1", 0.25, NULL, "a\xff", "\xfe", NULL, MEND_OK,
     "{\"output\":1,\"confidence\":0.25,\"uncertainty_targets\":[],\"capability_boundary\":\"a\xef\xbf\xbd\","
     "\"protocol_name\":\"\xef\xbf\xbd\",\"metadata\":{}}"},
    {"no protocol", "1", 0.5, NULL, NULL, NULL, NULL, MEND_EINVAL, NULL},
    {"output is no JSON", "one", 0.5, NULL, NULL, "p", NULL, MEND_ESYNTAX, NULL},
    {"output is empty", "", 0.5, NULL, NULL, "p", NULL, MEND_ESYNTAX, NULL},
    {"output is not UTF-8", "\"\xff\"", 0.5, NULL, NULL, "p", NULL, MEND_ESYNTAX, NULL},
    {"targets are a string", "1", 0.5, "\"a\"", NULL, "p", NULL, MEND_ESYNTAX, NULL},
    {"targets are numbers", "1", 0.5, "[\"a\",1]", NULL, "p", NULL, MEND_ESYNTAX, NULL},
    {"targets go on", "1", 0.5, "[\"a\"]]", NULL, "p", NULL, MEND_ESYNTAX, NULL},
    {"metadata is an array", "1", 0.5, NULL, NULL, "p", "[]", MEND_ESYNTAX, NULL},
    {"metadata goes on", "1", 0.5, NULL, NULL, "p", "{},", MEND_ESYNTAX, NULL},
};

Test(enriched, what_is_written) {
  for (size_t i = 0; i < sizeof writings / sizeof writings[0]; i++) {
    mend_enriched enriched = MEND_ENRICHED_INIT;
    enriched.output = mend_str_from(writings[i].output);
    enriched.confidence = writings[i].confidence;
    enriched.uncertainty_targets = mend_str_from(writings[i].targets);
    enriched.capability_boundary = mend_str_from(writings[i].boundary);
    enriched.protocol_name = mend_str_from(writings[i].protocol);
    enriched.metadata = mend_str_from(writings[i].metadata);
    char *text = NULL;
    cr_assert_eq(mend_enriched_write(&enriched, NULL, &text, NULL), writings[i].status, "%s", writings[i].title);
    if (text != NULL) cr_assert_str_eq(text, writings[i].text, "%s: %s", writings[i].title, text);
    cr_assert_eq(text == NULL, writings[i].text == NULL, "%s", writings[i].title);
    mend_free(NULL, text);
    enriched.size = 0;
    cr_assert_eq(mend_enriched_write(&enriched, NULL, &text, NULL), MEND_EINVAL, "%s", writings[i].title);
  }
  char *text;
  cr_assert_eq(mend_enriched_write(NULL, NULL, &text, NULL), MEND_EINVAL);
}

/* ---- Its texts ---- */

Test(enriched, texts_are_its_own) {
  mend_test_allocator memory;
  mend_test_allocator_init(&memory);
  mend_enriched enriched = MEND_ENRICHED_INIT;
  enriched.allocator = &memory.base;
  char word[] = "first";
  cr_assert_eq(mend_enriched_set(&enriched, &enriched.output, mend_str_from(word)), MEND_OK);
  word[0] = 'b';
  cr_assert_str_eq(enriched.output.ptr, "first");
  const mend_str piece = {enriched.output.ptr + 1, 3};
  cr_assert_eq(mend_enriched_set(&enriched, &enriched.output, piece), MEND_OK);
  cr_assert_str_eq(enriched.output.ptr, "irs");
  mend_test_allocator_arm(&memory, 1, true);
  cr_assert_eq(mend_enriched_set(&enriched, &enriched.output, MEND_STR("no memory")), MEND_ENOMEM);
  cr_assert_str_eq(enriched.output.ptr, "irs", "as it was");
  cr_assert_eq(mend_enriched_set(&enriched, &enriched.output, (mend_str)MEND_ABSENT), MEND_OK);
  cr_assert_null(enriched.output.ptr);
  mend_test_allocator_arm(&memory, 0, false);
  cr_assert_eq(mend_enriched_set(&enriched, &enriched.metadata, MEND_STR("{}")), MEND_OK);
  cr_assert_eq(mend_enriched_set(&enriched, &enriched.protocol_name, MEND_STR("p")), MEND_OK);
  mend_enriched_clear(&enriched);
  mend_enriched_clear(&enriched);
  mend_enriched_clear(NULL);
  cr_assert_eq(atomic_load(&memory.blocks), 0u);
}

/* ---- Depth and length ---- */

static char *nested(size_t depth, const char *before, const char *behind) {
  char *text = malloc(2 * depth + strlen(before) + strlen(behind) + 1);
  cr_assert_not_null(text);
  char *place = stpcpy(text, before);
  memset(place, '[', depth);
  memset(place + depth, ']', depth);
  strcpy(place + 2 * depth, behind);
  return text;
}

Test(enriched, depth_and_length_are_limited_by_the_scanner_alone) {
  for (size_t depth = 1021; depth < 1025; depth++) {
    mend_enriched enriched = MEND_ENRICHED_INIT;
    char *text = nested(depth, "", ""), *written = NULL;
    enriched.output = mend_str_from(text);
    enriched.protocol_name = MEND_STR("p");
    cr_assert_eq(mend_enriched_write(&enriched, NULL, &written, NULL), depth <= 1022 ? MEND_OK : MEND_ESYNTAX);
    mend_free(NULL, written);
    free(text);
    text = nested(depth, "{\"protocol_name\":\"p\",\"output\":", "}");
    enriched = (mend_enriched)MEND_ENRICHED_INIT;
    cr_assert_eq(mend_enriched_read(mend_str_from(text), NULL, &enriched), depth <= 1023 ? MEND_OK : MEND_ESYNTAX);
    mend_enriched_clear(&enriched);
    free(text);
  }
  const size_t len = (size_t)1 << 20;
  char *output = malloc(len + 1), *written = NULL;
  cr_assert_not_null(output);
  memset(output, 'x', len);
  output[0] = output[len - 1] = '"';
  output[len] = '\0';
  mend_enriched enriched = MEND_ENRICHED_INIT;
  enriched.output = mend_str_from(output);
  enriched.confidence = 0.5;
  enriched.protocol_name = MEND_STR("p");
  size_t written_len = 0;
  cr_assert_eq(mend_enriched_write(&enriched, NULL, &written, &written_len), MEND_OK);
  cr_assert_eq(mend_enriched_read((mend_str){written, written_len}, NULL, &enriched), MEND_OK);
  cr_assert_str_eq(enriched.output.ptr, output);
  mend_enriched_clear(&enriched);
  mend_free(NULL, written);
  free(output);
}
