/* OpenAI Responses: replies. */
#include "fallback/json_fields.h"
#include "fallback/openai_responses.h"
#include "fallback/openai_usage.h"

static const char *const usage_names[] = {"input_tokens", "output_tokens", "input_tokens_details",
                                          "output_tokens_details"};

/* Members of the events that are read. */
enum { TYPE, DELTA, ITEM, INDEX, SUMMARY_INDEX, LOG_PROBS, RESPONSE, EVENT_COUNT };

/* ---- Items ---- */

enum { ITEM_TYPE, ITEM_CALL_ID, ITEM_NAME, ITEM_ARGUMENTS, ITEM_CONTENT, ITEM_SUMMARY, ITEM_COUNT };

static void read_item(mend_str item, mend__json_member fields[ITEM_COUNT]) {
  static const char *const names[ITEM_COUNT] = {"type", "call_id", "name", "arguments", "content", "summary"};
  for (int i = 0; i < ITEM_COUNT; i++)
    fields[i].name = mend_str_from(names[i]);
  mend__json_fields_read(item, fields, ITEM_COUNT);
}

/* Begins a call, or finds it again. */
static mend__decoder_call *read_call(mend__decoder *decoder, const mend__json_member fields[ITEM_COUNT],
                                     int64_t index) {
  return mend__decoder_call_at(decoder, index, fields[ITEM_CALL_ID].value, fields[ITEM_NAME].value);
}

static void item_added(mend__decoder *decoder, const mend__json_member event[EVENT_COUNT]) {
  mend__json_member item[ITEM_COUNT];
  read_item(event[ITEM].value, item);
  if (!mend__json_says(item[ITEM_TYPE].value, "function_call")) return;
  read_call(decoder, item, mend__json_index(event[INDEX].value));
}

static void read_call_args(mend__decoder *decoder, mend__decoder_call *call, mend_str arguments) {
  if (call != NULL && !call->any_args) mend__decoder_call_piece(decoder, call, arguments);
}

/* What came in pieces before is not told again. */
static void item_done(mend__decoder *decoder, const mend__json_member event[EVENT_COUNT]) {
  mend__json_member item[ITEM_COUNT];
  read_item(event[ITEM].value, item);
  if (mend__json_says(item[ITEM_TYPE].value, "reasoning")) {
    mend__decoder_sign(decoder, MEND_PART_THINKING, event[ITEM].value);
  } else if (mend__json_says(item[ITEM_TYPE].value, "function_call")) {
    mend__decoder_call *call = read_call(decoder, item, mend__json_index(event[INDEX].value));
    read_call_args(decoder, call, item[ITEM_ARGUMENTS].value);
  }
}

static void read_call_piece(mend__decoder *decoder, const mend__json_member event[EVENT_COUNT]) {
  const mend_str none = {NULL, 0};
  mend__decoder_call *call = mend__decoder_call_at(decoder, mend__json_index(event[INDEX].value), none, none);
  mend__decoder_call_piece(decoder, call, event[DELTA].value);
}

/* An empty line between the parts of a summary. */
static void begin_summary(mend__decoder *decoder, const mend__json_member event[EVENT_COUNT]) {
  if (mend__json_index(event[SUMMARY_INDEX].value) > 0)
    mend__decoder_piece(decoder, MEND_PART_THINKING, MEND_STR("\"\\n\\n\""));
}

static void read_contents(mend__decoder *decoder, mend_str array, mend_part_kind kind) {
  enum { CONTENT_TYPE, TEXT, REFUSAL, CONTENT_LOG_PROBS, COUNT };
  mend__json_member fields[COUNT] = {{.name = MEND_STR("type")},
                                     {.name = MEND_STR("text")},
                                     {.name = MEND_STR("refusal")},
                                     {.name = MEND_STR("logprobs")}};
  mend_str content;
  mend__json_items contents = mend__json_items_of(array);
  while (mend__json_items_next(&contents, &content)) {
    if (!mend__json_fields_read(content, fields, COUNT)) continue;
    mend__decoder_piece(decoder, kind, fields[TEXT].value);
    mend__decoder_refusal(decoder, fields[REFUSAL].value);
    mend__decoder_log_probs(decoder, fields[CONTENT_LOG_PROBS].value, "logprob");
  }
}

static void read_answer_item(mend__decoder *decoder, const mend__json_member item[ITEM_COUNT]) {
  if (mend__json_says(item[ITEM_TYPE].value, "message")) {
    read_contents(decoder, item[ITEM_CONTENT].value, MEND_PART_TEXT);
  } else if (mend__json_says(item[ITEM_TYPE].value, "function_call")) {
    read_call_args(decoder, read_call(decoder, item, -1), item[ITEM_ARGUMENTS].value);
  }
}

static void read_thought_item(mend__decoder *decoder, const mend__json_member item[ITEM_COUNT], mend_str value) {
  if (!mend__json_says(item[ITEM_TYPE].value, "reasoning")) return;
  read_contents(decoder, item[ITEM_SUMMARY].value, MEND_PART_THINKING);
  mend__decoder_sign(decoder, MEND_PART_THINKING, value);
}

/* All items of a reply; of a stream's what it has not told before its last event. */
static void read_output(mend__decoder *decoder, mend_str output) {
  mend_str value;
  mend__json_member item[ITEM_COUNT];
  mend__decoder_flush(decoder);
  const bool any_answer = decoder->any_answer, any_thought = decoder->any_thought;
  mend__json_items items = mend__json_items_of(output);
  while (mend__json_items_next(&items, &value)) {
    read_item(value, item);
    if (!any_answer) read_answer_item(decoder, item);
    if (!any_thought) read_thought_item(decoder, item, value);
  }
}

/* ---- The response ---- */

enum { STATUS, MODEL, USAGE, ERROR, INCOMPLETE, OUTPUT, RESPONSE_COUNT };

static void read_response(mend_str response, mend__json_member fields[RESPONSE_COUNT]) {
  static const char *const names[RESPONSE_COUNT] = {"status", "model", "usage", "error", "incomplete_details",
                                                    "output"};
  for (int i = 0; i < RESPONSE_COUNT; i++)
    fields[i].name = mend_str_from(names[i]);
  mend__json_fields_read(response, fields, RESPONSE_COUNT);
}

static void read_finish(mend__decoder *decoder, const mend__json_member response[RESPONSE_COUNT]) {
  static const mend__finish_word words[] = {
      {"max_output_tokens", MEND_FINISH_LENGTH}, {"content_filter", MEND_FINISH_FILTER}, {NULL, MEND_FINISH_UNKNOWN}};
  const mend_str reason = mend__json_find(response[INCOMPLETE].value, "reason", NULL);
  if (mend__json_says(response[STATUS].value, "completed")) {
    mend__decoder_finish(decoder, MEND_FINISH_STOP, response[STATUS].value);
  } else {
    mend__decoder_finish(decoder, mend__finish_find(words, reason),
                         reason.ptr != NULL ? reason : response[STATUS].value);
  }
}

static mend__reading response_ended(mend__decoder *decoder, mend_str value) {
  mend__json_member response[RESPONSE_COUNT];
  read_response(value, response);
  const bool has_failed = mend__json_says(response[STATUS].value, "failed") || response[ERROR].value.ptr != NULL;
  if (!has_failed) read_output(decoder, response[OUTPUT].value);
  mend__decoder_model(decoder, response[MODEL].value);
  mend__openai_usage(decoder, response[USAGE].value, usage_names);
  if (has_failed) return mend__decoder_fault(decoder, value);
  read_finish(decoder, response);
  return MEND__READING_COMPLETE;
}

static mend__reading ended(mend__decoder *decoder, const mend__json_member event[EVENT_COUNT]) {
  return response_ended(decoder, event[RESPONSE].value);
}

static void text_piece(mend__decoder *decoder, const mend__json_member event[EVENT_COUNT]) {
  mend__decoder_piece(decoder, MEND_PART_TEXT, event[DELTA].value);
  mend__decoder_log_probs(decoder, event[LOG_PROBS].value, "logprob");
}

static void thinking_piece(mend__decoder *decoder, const mend__json_member event[EVENT_COUNT]) {
  mend__decoder_piece(decoder, MEND_PART_THINKING, event[DELTA].value);
}

static void refusal_piece(mend__decoder *decoder, const mend__json_member event[EVENT_COUNT]) {
  mend__decoder_refusal(decoder, event[DELTA].value);
}

static void begun(mend__decoder *decoder, const mend__json_member event[EVENT_COUNT]) {
  mend__decoder_model(decoder, mend__json_find(event[RESPONSE].value, "model", NULL));
}

/* Either of the two functions. */
static const struct {
  const char *type;
  void (*read)(mend__decoder *decoder, const mend__json_member event[EVENT_COUNT]);
  mend__reading (*end)(mend__decoder *decoder, const mend__json_member event[EVENT_COUNT]);
} events[] = {{.type = "response.output_text.delta", .read = text_piece},
              {.type = "response.function_call_arguments.delta", .read = read_call_piece},
              {.type = "response.reasoning_summary_text.delta", .read = thinking_piece},
              {.type = "response.reasoning_text.delta", .read = thinking_piece},
              {.type = "response.reasoning_summary_part.added", .read = begin_summary},
              {.type = "response.refusal.delta", .read = refusal_piece},
              {.type = "response.output_item.added", .read = item_added},
              {.type = "response.output_item.done", .read = item_done},
              {.type = "response.created", .read = begun},
              {.type = "response.completed", .end = ended},
              {.type = "response.incomplete", .end = ended},
              {.type = "response.failed", .end = ended}};

mend__reading mend__openai_responses_event(mend__decoder *decoder, mend_str name, mend_str data) {
  mend__json_member event[EVENT_COUNT] = {{.name = MEND_STR("type")},          {.name = MEND_STR("delta")},
                                          {.name = MEND_STR("item")},          {.name = MEND_STR("output_index")},
                                          {.name = MEND_STR("summary_index")}, {.name = MEND_STR("logprobs")},
                                          {.name = MEND_STR("response")}};
  mend__json_fields_read(data, event, EVENT_COUNT);
  if (mend_str_equal(name, MEND_STR("error")) || mend__json_says(event[TYPE].value, "error")) {
    return mend__decoder_fault(decoder, data);
  }
  for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
    if (!mend__json_says(event[TYPE].value, events[i].type)) continue;
    if (events[i].end != NULL) return events[i].end(decoder, event);
    events[i].read(decoder, event);
  }
  return MEND__READING_MORE;
}

mend__reading mend__openai_responses_whole(mend__decoder *decoder, mend_str body) {
  mend__json_member response[RESPONSE_COUNT];
  read_response(body, response);
  if (response[ERROR].value.ptr != NULL) return mend__decoder_fault(decoder, body);
  if (!mend__json_is_array(response[OUTPUT].value)) return MEND__READING_MALFORMED;
  return response_ended(decoder, body);
}
