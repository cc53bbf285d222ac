/* OpenAI Chat Completions, and servers that speak it: replies. */
#include "fallback/json_fields.h"
#include "fallback/openai_chat.h"
#include "fallback/openai_usage.h"

static const char *const usage_names[] = {"prompt_tokens", "completion_tokens", "prompt_tokens_details",
                                          "completion_tokens_details"};

static const mend__finish_word words[] = {
    {"stop", MEND_FINISH_STOP},           {"length", MEND_FINISH_LENGTH},         {"tool_calls", MEND_FINISH_CALLS},
    {"function_call", MEND_FINISH_CALLS}, {"content_filter", MEND_FINISH_FILTER}, {NULL, MEND_FINISH_UNKNOWN}};

/* A piece of the call in this place, or of the one with this id. */
static void read_function(mend__decoder *decoder, int64_t place, mend_str id, mend_str value) {
  enum { NAME, ARGUMENTS, COUNT };
  mend__json_member fields[COUNT] = {{.name = MEND_STR("name")}, {.name = MEND_STR("arguments")}};
  mend__json_fields_read(value, fields, COUNT);
  mend__decoder_call *call = mend__decoder_call_at(decoder, place, id, fields[NAME].value);
  const mend_str arguments = fields[ARGUMENTS].value;
  if (mend__json_is_object(arguments)) mend__decoder_call_args(decoder, call, arguments);
  mend__decoder_call_piece(decoder, call, arguments);
}

static void read_call(mend__decoder *decoder, mend_str value) {
  enum { INDEX, ID, FUNCTION, COUNT };
  mend__json_member fields[COUNT] = {
      {.name = MEND_STR("index")}, {.name = MEND_STR("id")}, {.name = MEND_STR("function")}};
  if (!mend__json_fields_read(value, fields, COUNT)) return;
  read_function(decoder, mend__json_index(fields[INDEX].value), fields[ID].value, fields[FUNCTION].value);
}

/* Old servers know only one call, without an id. Those that say it both ways mean the same one. */
static void read_calls(mend__decoder *decoder, mend_str calls, mend_str old_call) {
  mend_str call;
  if (calls.ptr == NULL && mend__json_is_object(old_call)) {
    read_function(decoder, 0, (mend_str){NULL, 0}, old_call);
  }
  mend__json_items elements = mend__json_items_of(calls);
  while (mend__json_items_next(&elements, &call))
    read_call(decoder, call);
}

/* A string, or, as some servers have it, an array of parts. */
static void read_content(mend__decoder *decoder, mend_str value) {
  mend_str part;
  mend__decoder_piece(decoder, MEND_PART_TEXT, value);
  mend__json_items parts = mend__json_items_of(value);
  while (mend__json_items_next(&parts, &part))
    mend__decoder_piece(decoder, MEND_PART_TEXT, mend__json_find(part, "text", NULL));
}

/* A `delta` of a stream or the `message` of a whole reply. Servers call reasoning by either of two names, some by
 * both. */
static void read_message(mend__decoder *decoder, mend_str value) {
  enum { CONTENT, REASONING_CONTENT, REASONING, REFUSAL, CALLS, OLD_CALL, COUNT };
  mend__json_member fields[COUNT] = {{.name = MEND_STR("content")},    {.name = MEND_STR("reasoning_content")},
                                     {.name = MEND_STR("reasoning")},  {.name = MEND_STR("refusal")},
                                     {.name = MEND_STR("tool_calls")}, {.name = MEND_STR("function_call")}};
  if (!mend__json_fields_read(value, fields, COUNT)) return;
  const int reasoning = fields[REASONING_CONTENT].value.ptr != NULL ? REASONING_CONTENT : REASONING;
  mend__decoder_piece(decoder, MEND_PART_THINKING, fields[reasoning].value);
  read_content(decoder, fields[CONTENT].value);
  mend__decoder_refusal(decoder, fields[REFUSAL].value);
  read_calls(decoder, fields[CALLS].value, fields[OLD_CALL].value);
}

/* Whether it is the one that counts: `extra` may ask for several. */
static bool read_choice(mend__decoder *decoder, mend_str value) {
  enum { INDEX, DELTA, MESSAGE, LOG_PROBS, FINISH, COUNT };
  mend__json_member fields[COUNT] = {{.name = MEND_STR("index")},
                                     {.name = MEND_STR("delta")},
                                     {.name = MEND_STR("message")},
                                     {.name = MEND_STR("logprobs")},
                                     {.name = MEND_STR("finish_reason")}};
  if (!mend__json_fields_read(value, fields, COUNT) || mend__json_index(fields[INDEX].value) > 0) return false;
  const int message = fields[DELTA].value.ptr != NULL ? DELTA : MESSAGE;
  read_message(decoder, fields[message].value);
  mend__decoder_log_probs(decoder, mend__json_find(fields[LOG_PROBS].value, "content", NULL), "logprob");
  const mend_str finish = fields[FINISH].value;
  if (mend__json_is_string(finish)) mend__decoder_finish(decoder, mend__finish_find(words, finish), finish);
  return true;
}

static mend__reading read_document(mend__decoder *decoder, mend_str document, bool *any_choice) {
  enum { CHOICES, USAGE, MODEL, ERROR, OBJECT, COUNT };
  mend__json_member fields[COUNT] = {{.name = MEND_STR("choices")},
                                     {.name = MEND_STR("usage")},
                                     {.name = MEND_STR("model")},
                                     {.name = MEND_STR("error")},
                                     {.name = MEND_STR("object")}};
  mend_str choice;
  mend__json_fields_read(document, fields, COUNT);
  if (fields[ERROR].value.ptr != NULL || mend__json_says(fields[OBJECT].value, "error")) {
    return mend__decoder_fault(decoder, document);
  }
  mend__decoder_model(decoder, fields[MODEL].value);
  mend__openai_usage(decoder, fields[USAGE].value, usage_names);
  mend__json_items choices = mend__json_items_of(fields[CHOICES].value);
  while (mend__json_items_next(&choices, &choice))
    *any_choice |= read_choice(decoder, choice);
  return MEND__READING_MORE;
}

mend__reading mend__openai_chat_event(mend__decoder *decoder, mend_str name, mend_str data) {
  bool any_choice = false;
  if (mend_str_equal(name, MEND_STR("error"))) return mend__decoder_fault(decoder, data);
  return read_document(decoder, data, &any_choice);
}

mend__reading mend__openai_chat_whole(mend__decoder *decoder, mend_str body) {
  bool any_choice = false;
  const mend__reading reading = read_document(decoder, body, &any_choice);
  if (reading != MEND__READING_MORE) return reading;
  if (!any_choice) return MEND__READING_MALFORMED;
  if (!decoder->has_finish) mend__decoder_finish(decoder, MEND_FINISH_UNKNOWN, (mend_str){NULL, 0});
  return MEND__READING_COMPLETE;
}
