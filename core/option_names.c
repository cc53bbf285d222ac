#include "core/option_names.h"

#include "core/memory.h"
#include "mend/json.h"

/* Goes through the names, and with a block writes them there: the pointers, and behind them the texts. */
static size_t read_names(mend_str option, const char **names, char *texts) {
  size_t count = 0;
  mend_json json;
  mend_json_init(&json, option, MEND_JSON_DEPTH);
  if (mend_json_next(&json) != MEND_JSON_ARRAY) return 0;
  for (; mend_json_next(&json) == MEND_JSON_STRING; count++) {
    if (names == NULL) continue;
    const size_t len = mend_json_unescape(json.slice, texts);
    names[count] = texts;
    texts[len] = '\0';
    texts += len + 1;
  }
  return count;
}

mend_status mend__option_names(mend_str option, const mend_allocator *allocator, const char ***ret_names,
                               size_t *ret_count) {
  const size_t count = read_names(option, NULL, NULL);
  const char **names = NULL;
  if (count > 0) {
    /* A name is never longer than it is written, and its quotes leave room for a NUL. */
    names = mend__alloc(allocator, count * sizeof *names + option.len);
    if (names == NULL) return MEND_ENOMEM;
    read_names(option, names, (char *)(names + count));
  }
  *ret_names = names;
  *ret_count = count;
  return MEND_OK;
}
