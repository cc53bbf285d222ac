#include "fallback/openai_usage.h"

#include "fallback/json_fields.h"

void mend__openai_usage(mend__decoder *decoder, mend_str value, const char *const names[4]) {
  enum { INPUT, OUTPUT, INPUT_DETAILS, OUTPUT_DETAILS, COUNT };
  mend__json_member fields[COUNT];
  for (int i = 0; i < COUNT; i++)
    fields[i].name = mend_str_from(names[i]);
  if (!mend__json_fields_read(value, fields, COUNT)) return;
  const mend_usage usage = {
      .input = mend__json_count(fields[INPUT].value),
      .output = mend__json_count(fields[OUTPUT].value),
      .cached_input = mend__json_count(mend__json_find(fields[INPUT_DETAILS].value, "cached_tokens", NULL)),
      .reasoning = mend__json_count(mend__json_find(fields[OUTPUT_DETAILS].value, "reasoning_tokens", NULL))};
  mend__decoder_usage(decoder, &usage);
}
