/* Scripts of scripted models: refused with a sentence and a place, or each reply can be told piece by piece and
 * comes to an end. */
#include "fallback/scripted.h"
#include "fuzz/fuzz.h"

static size_t length_of(const mend__script *script, const mend__script_text *text) {
  size_t len = 0;
  for (size_t i = 0; i < text->pieces.count; i++)
    len += script->pieces[text->pieces.first + i].len;
  return len;
}

static size_t length_of_calls(const mend__script *script, const mend__script_reply *reply) {
  size_t len = 0;
  for (size_t i = 0; i < reply->calls.count; i++)
    len += script->calls[reply->calls.first + i].args.len;
  return len;
}

static void tell(const mend__script *script, const mend__script_reply *reply) {
  mend__script_cursor cursor = {.script = script, .reply = reply};
  mend_delta delta;
  size_t told = 0;
  while (mend__script_next(&cursor, &delta))
    told += delta.text.len;
  MUST(told == length_of(script, &reply->thinking) + length_of(script, &reply->text) + length_of_calls(script, reply));
  MUST(reply->fault == NULL || reply->status == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mend__script *script = NULL;
  mend_error error = MEND_ERROR_INIT;
  const mend_status status = mend__script_read(fuzz_text(data, size), NULL, &script, &error);
  if (status != MEND_OK) {
    MUST(error.status == status && error.message[0] != '\0' && error.line >= 1 && error.column >= 1);
    return 0;
  }
  MUST(script->reply_count > 0 && script->arena_used <= size + 1);
  for (size_t i = 0; i < script->reply_count; i++)
    tell(script, &script->replies[i]);
  mend__script_free(script);
  return 0;
}
