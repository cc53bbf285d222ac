/* Anthropic Messages: replies. */
#include "fallback/anthropic.h"
#include "fallback/json_fields.h"
#include "mend/events.h"

enum { TYPE, INDEX, BLOCK, DELTA, USAGE, MESSAGE, EVENT_COUNT };

static uint64_t add(uint64_t total, uint64_t more) { return more == MEND_NONE ? total : total + more; }

/* What was read from a cache and written into one is not in their input_tokens. */
static void read_usage(mend__decoder *decoder, mend_str value) {
  enum { INPUT, OUTPUT, CACHE_READ, CACHE_WRITTEN, COUNT };
  mend__json_member fields[COUNT] = {{.name = MEND_STR("input_tokens")},
                                     {.name = MEND_STR("output_tokens")},
                                     {.name = MEND_STR("cache_read_input_tokens")},
                                     {.name = MEND_STR("cache_creation_input_tokens")}};
  mend_usage usage = {MEND_NONE, MEND_NONE, MEND_NONE, MEND_NONE};
  if (!mend__json_fields_read(value, fields, COUNT)) return;
  usage.input = mend__json_count(fields[INPUT].value);
  usage.output = mend__json_count(fields[OUTPUT].value);
  usage.cached_input = mend__json_count(fields[CACHE_READ].value);
  if (usage.input != MEND_NONE) {
    usage.input = add(usage.input, usage.cached_input);
    usage.input = add(usage.input, mend__json_count(fields[CACHE_WRITTEN].value));
  }
  mend__decoder_usage(decoder, &usage);
}

static void read_stop(mend__decoder *decoder, mend_str reason) {
  static const mend__finish_word words[] = {
      {"end_turn", MEND_FINISH_STOP},     {"stop_sequence", MEND_FINISH_STOP},
      {"max_tokens", MEND_FINISH_LENGTH}, {"model_context_window_exceeded", MEND_FINISH_LENGTH},
      {"tool_use", MEND_FINISH_CALLS},    {"refusal", MEND_FINISH_FILTER},
      {NULL, MEND_FINISH_UNKNOWN}};
  if (mend__json_is_string(reason)) mend__decoder_finish(decoder, mend__finish_find(words, reason), reason);
}

static bool has_members(mend_str object) {
  mend_json json;
  mend_json_init(&json, object, MEND_JSON_DEPTH_MAX);
  return mend_json_next(&json) == MEND_JSON_OBJECT && mend_json_next(&json) == MEND_JSON_KEY;
}

static void sign(mend__decoder *decoder, mend_str value) {
  mend__decoder_sign(decoder, MEND_PART_THINKING, mend__json_inside(value));
}

/* A block of a whole reply, or the beginning of one of a stream: of a call `input` is {} there and no argument. */
static void read_block(mend__decoder *decoder, mend_str block, int64_t index) {
  enum { KIND, TEXT, THINKING, SIGNATURE, ID, NAME, INPUT, COUNT };
  mend__json_member fields[COUNT] = {{.name = MEND_STR("type")},     {.name = MEND_STR("text")},
                                     {.name = MEND_STR("thinking")}, {.name = MEND_STR("signature")},
                                     {.name = MEND_STR("id")},       {.name = MEND_STR("name")},
                                     {.name = MEND_STR("input")}};
  if (!mend__json_fields_read(block, fields, COUNT)) return;
  if (mend__json_says(fields[KIND].value, "text")) {
    mend__decoder_piece(decoder, MEND_PART_TEXT, fields[TEXT].value);
  } else if (mend__json_says(fields[KIND].value, "thinking")) {
    mend__decoder_piece(decoder, MEND_PART_THINKING, fields[THINKING].value);
    sign(decoder, fields[SIGNATURE].value);
  } else if (mend__json_says(fields[KIND].value, "redacted_thinking")) {
    mend__decoder_sign(decoder, MEND_PART_THINKING, block);
  } else if (mend__json_says(fields[KIND].value, "tool_use")) {
    mend__decoder_call *call = mend__decoder_call_at(decoder, index, fields[ID].value, fields[NAME].value);
    if (has_members(fields[INPUT].value)) mend__decoder_call_args(decoder, call, fields[INPUT].value);
  }
}

static void read_delta(mend__decoder *decoder, mend_str delta, int64_t index) {
  enum { KIND, TEXT, THINKING, SIGNATURE, PARTIAL_JSON, COUNT };
  mend__json_member fields[COUNT] = {{.name = MEND_STR("type")},
                                     {.name = MEND_STR("text")},
                                     {.name = MEND_STR("thinking")},
                                     {.name = MEND_STR("signature")},
                                     {.name = MEND_STR("partial_json")}};
  const mend_str none = {NULL, 0};
  if (!mend__json_fields_read(delta, fields, COUNT)) return;
  if (mend__json_says(fields[KIND].value, "text_delta")) {
    mend__decoder_piece(decoder, MEND_PART_TEXT, fields[TEXT].value);
  } else if (mend__json_says(fields[KIND].value, "thinking_delta")) {
    mend__decoder_piece(decoder, MEND_PART_THINKING, fields[THINKING].value);
  } else if (mend__json_says(fields[KIND].value, "signature_delta")) {
    sign(decoder, fields[SIGNATURE].value);
  } else if (mend__json_says(fields[KIND].value, "input_json_delta")) {
    mend__decoder_call_piece(decoder, mend__decoder_call_at(decoder, index, none, none), fields[PARTIAL_JSON].value);
  }
}

static mend__reading message_start(mend__decoder *decoder, const mend__json_member event[EVENT_COUNT], mend_str data) {
  (void)data;
  mend__decoder_model(decoder, mend__json_find(event[MESSAGE].value, "model", NULL));
  read_usage(decoder, mend__json_find(event[MESSAGE].value, "usage", NULL));
  return MEND__READING_MORE;
}

static mend__reading block_start(mend__decoder *decoder, const mend__json_member event[EVENT_COUNT], mend_str data) {
  (void)data;
  read_block(decoder, event[BLOCK].value, mend__json_index(event[INDEX].value));
  return MEND__READING_MORE;
}

static mend__reading block_delta(mend__decoder *decoder, const mend__json_member event[EVENT_COUNT], mend_str data) {
  (void)data;
  read_delta(decoder, event[DELTA].value, mend__json_index(event[INDEX].value));
  return MEND__READING_MORE;
}

static mend__reading message_delta(mend__decoder *decoder, const mend__json_member event[EVENT_COUNT], mend_str data) {
  (void)data;
  read_usage(decoder, event[USAGE].value);
  read_stop(decoder, mend__json_find(event[DELTA].value, "stop_reason", NULL));
  return MEND__READING_MORE;
}

static mend__reading message_stop(mend__decoder *decoder, const mend__json_member event[EVENT_COUNT], mend_str data) {
  (void)event, (void)data;
  return decoder->has_finish ? MEND__READING_COMPLETE : MEND__READING_MORE;
}

static mend__reading error_told(mend__decoder *decoder, const mend__json_member event[EVENT_COUNT], mend_str data) {
  (void)event;
  return mend__decoder_fault(decoder, data);
}

static const struct {
  const char *type;
  mend__reading (*read)(mend__decoder *decoder, const mend__json_member event[EVENT_COUNT], mend_str data);
} events[] = {{"content_block_delta", block_delta}, {"content_block_start", block_start},
              {"message_start", message_start},     {"message_delta", message_delta},
              {"message_stop", message_stop},       {"error", error_told}};

mend__reading mend__anthropic_event(mend__decoder *decoder, mend_str name, mend_str data) {
  mend__json_member event[EVENT_COUNT] = {{.name = MEND_STR("type")},          {.name = MEND_STR("index")},
                                          {.name = MEND_STR("content_block")}, {.name = MEND_STR("delta")},
                                          {.name = MEND_STR("usage")},         {.name = MEND_STR("message")}};
  mend__json_fields_read(data, event, EVENT_COUNT);
  if (mend_str_equal(name, MEND_STR("error"))) return mend__decoder_fault(decoder, data);
  for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
    if (mend__json_says(event[TYPE].value, events[i].type)) return events[i].read(decoder, event, data);
  }
  return MEND__READING_MORE;
}

mend__reading mend__anthropic_whole(mend__decoder *decoder, mend_str body) {
  enum { KIND, CONTENT, MODEL, STOP_REASON, REPLY_USAGE, ERROR, COUNT };
  mend__json_member fields[COUNT] = {{.name = MEND_STR("type")},  {.name = MEND_STR("content")},
                                     {.name = MEND_STR("model")}, {.name = MEND_STR("stop_reason")},
                                     {.name = MEND_STR("usage")}, {.name = MEND_STR("error")}};
  mend_str block;
  int64_t index = 0;
  mend__json_fields_read(body, fields, COUNT);
  if (fields[ERROR].value.ptr != NULL || mend__json_says(fields[KIND].value, "error")) {
    return mend__decoder_fault(decoder, body);
  }
  if (!mend__json_is_array(fields[CONTENT].value)) return MEND__READING_MALFORMED;
  mend__decoder_model(decoder, fields[MODEL].value);
  read_usage(decoder, fields[REPLY_USAGE].value);
  mend__json_items blocks = mend__json_items_of(fields[CONTENT].value);
  while (mend__json_items_next(&blocks, &block))
    read_block(decoder, block, index++);
  read_stop(decoder, fields[STOP_REASON].value);
  return decoder->has_finish ? MEND__READING_COMPLETE : MEND__READING_MALFORMED;
}
