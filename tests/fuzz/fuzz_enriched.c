/* Enriched results: something else, not JSON, or read, with a confidence within its range, and the same when written
 * and read again. */
#include "fuzz/fuzz.h"
#include "mend/metacognition.h"

static bool same_number(double a, double b) { return a == b || (a != a && b != b); }

static void check_same_again(const mend_enriched *enriched) {
  mend_enriched again = MEND_ENRICHED_INIT;
  char *json;
  size_t len;
  MUST(mend_enriched_write(enriched, NULL, &json, &len) == MEND_OK);
  MUST(mend_enriched_read((mend_str){json, len}, NULL, &again) == MEND_OK);
  MUST(mend_str_equal(again.output, enriched->output));
  MUST(mend_str_equal(again.protocol_name, enriched->protocol_name));
  MUST(mend_str_equal(again.capability_boundary, enriched->capability_boundary));
  MUST(mend_str_equal(again.uncertainty_targets, enriched->uncertainty_targets));
  MUST(same_number(again.confidence, enriched->confidence));
  mend_enriched_clear(&again);
  mend_free(NULL, json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mend_enriched enriched = MEND_ENRICHED_INIT;
  const mend_status status = mend_enriched_read(fuzz_text(data, size), NULL, &enriched);
  MUST(status == MEND_OK || status == MEND_ENOENT || status == MEND_ESYNTAX);
  if (status == MEND_OK) {
    MUST(!(enriched.confidence < 0 || enriched.confidence > 1));
    check_same_again(&enriched);
  }
  mend_enriched_clear(&enriched);
  return 0;
}
