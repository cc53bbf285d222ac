/* What docs/api/json.md quotes. */
#include <mend/json.h>

#include <stdio.h>
#include <stdlib.h>

/* Finds the timeout in arguments such as {"command": "make", "limits": {...}, "timeout_s": 2.5}. */
static mend_status read_timeout(mend_str args, double *ret_seconds, mend_error *error) {
  mend_json json;
  mend_json_init(&json, args, MEND_JSON_DEPTH);
  if (mend_json_next(&json) == MEND_JSON_ERROR) return mend_json_error(&json, error);
  if (json.token != MEND_JSON_OBJECT) return mend_error_set(error, MEND_EINVAL, "expected an object");
  while (mend_json_next(&json) == MEND_JSON_KEY) {
    if (!mend_json_is(&json, MEND_STR("timeout_s"))) {
      mend_json_skip(&json); /* the value, whatever it is */
    } else if (mend_json_next(&json) == MEND_JSON_NUMBER) {
      *ret_seconds = mend_json_double(json.slice);
    }
  }
  return json.token == MEND_JSON_OBJECT_END ? MEND_OK : mend_json_error(&json, error);
}

int main(void) {
  const char *const calls[] = {"{\"timeout_s\": 2.5, \"command\": \"make\"}",
                               "{\"command\":\"make\\n\",\"timeout_s\":25e-1}"};
  void *scratch = malloc(MEND_HASH_SCRATCH);
  if (scratch == NULL) return 1;
  for (size_t i = 0; i < 2; i++) {
    mend_error error = MEND_ERROR_INIT;
    double seconds = 0;
    char exact[MEND_HASH_TEXT_SIZE], loose[MEND_HASH_TEXT_SIZE];
    const mend_str args = mend_str_from(calls[i]);
    if (read_timeout(args, &seconds, &error) != MEND_OK)
      fprintf(stderr, "%u:%u %s\n", error.line, error.column, error.message);
    mend_hash_format(mend_json_hash(args, scratch, MEND_HASH_SCRATCH).hash, exact);
    mend_hash_format(mend_json_hash_loose(args, NULL, scratch, MEND_HASH_SCRATCH).hash, loose);
    printf("%.1f s  exact %.8s  loose %.8s\n", seconds, exact, loose);
  }
  free(scratch);
  return 0;
}

/* ---- A member that does not count ---- */

static bool is_nonce(void *ctx, mend_str name) {
  (void)ctx;
  return mend_str_equal(name, MEND_STR("nonce"));
}

mend_hash hash_without_nonce(mend_str args, void *scratch);

mend_hash hash_without_nonce(mend_str args, void *scratch) {
  mend_loose_hash_options options = MEND_LOOSE_HASH_OPTIONS_INIT;
  options.ignores = is_nonce;
  return mend_json_hash_loose(args, &options, scratch, MEND_HASH_SCRATCH).hash;
}
