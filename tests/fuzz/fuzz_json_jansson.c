/* Scanner and exact hash beside jansson: one text, or two with a byte 0x1E between them, which are compared, too. */
#include "fuzz/fuzz.h"
#include "support/json_jansson.h"

static void must_agree(const char *fault) {
  if (fault == NULL) return;
  fprintf(stderr, "%s\n", fault);
  abort();
}

static json_reading read_with_both(mend_str text) {
  json_reading reading;
  must_agree(json_read_with_both(text, &reading));
  must_agree(json_compare_with_dump(&reading));
  return reading;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const uint8_t *separator = size > 0 ? memchr(data, 0x1E, size) : NULL;
  const size_t first_size = separator != NULL ? (size_t)(separator - data) : size;
  const json_reading first = read_with_both(fuzz_text(data, first_size));
  if (separator != NULL) {
    const json_reading second = read_with_both(fuzz_text(separator + 1, size - first_size - 1));
    must_agree(json_compare(&first, &second));
    json_decref(second.value);
  }
  json_decref(first.value);
  return 0;
}
