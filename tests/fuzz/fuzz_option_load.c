/* Options from JSON: refused with a sentence and nothing changed, or within their ranges and the same when written and
 * loaded again. */
#include "core/buffer.h"
#include "core/options_json.h"
#include "fuzz/fuzz.h"
#include "mend/options.h"

static mend_str write_options(const mend_option_tree *tree, mend__buffer *buffer) {
  mend__buffer_init(buffer, NULL);
  mend__options_write(buffer, mend_option_tree_get(tree));
  MUST(!buffer->failed);
  return mend__buffer_text(buffer);
}

static void check_same_again(const mend_option_tree *tree) {
  mend_option_tree *copy;
  mend_error error;
  mend__buffer first, second;
  mend_str written = write_options(tree, &first);
  MUST(mend_option_tree_new(NULL, &copy) == MEND_OK);
  MUST(mend_option_tree_load(copy, written, &error) == MEND_OK);
  MUST(mend_str_equal(written, write_options(copy, &second)));
  mend__buffer_free(&first);
  mend__buffer_free(&second);
  mend_option_tree_free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mend_str text = fuzz_text(data, size);
  mend_option_tree *tree;
  mend_error error = {.message = ""};
  MUST(mend_option_tree_new(NULL, &tree) == MEND_OK);
  mend_status status = mend_option_tree_load(tree, text, &error);
  MUST(status == MEND_OK || (error.status == status && error.message[0] != '\0'));
  MUST(mend_option_tree_check(tree, &error) == MEND_OK);
  check_same_again(tree);
  mend_option_nearest(text);
  mend_option_tree_free(tree);
  return 0;
}
