/* Gemini generateContent: replies. An event of a stream is a reply of its own, with what is new. */
#include "fallback/google.h"
#include "fallback/json_fields.h"
#include "mend/events.h"

static const mend__finish_word words[] = {{"STOP", MEND_FINISH_STOP},
                                          {"MAX_TOKENS", MEND_FINISH_LENGTH},
                                          {"SAFETY", MEND_FINISH_FILTER},
                                          {"RECITATION", MEND_FINISH_FILTER},
                                          {"BLOCKLIST", MEND_FINISH_FILTER},
                                          {"PROHIBITED_CONTENT", MEND_FINISH_FILTER},
                                          {"SPII", MEND_FINISH_FILTER},
                                          {"IMAGE_SAFETY", MEND_FINISH_FILTER},
                                          {"IMAGE_PROHIBITED_CONTENT", MEND_FINISH_FILTER},
                                          {NULL, MEND_FINISH_UNKNOWN}};

static uint64_t add(uint64_t a, uint64_t b) {
  if (a == MEND_NONE || b == MEND_NONE) return a == MEND_NONE ? b : a;
  return a + b;
}

/* Thoughts are not in their count of what came out. */
static void read_usage(mend__decoder *decoder, mend_str value) {
  enum { PROMPT, TOOL_PROMPT, CANDIDATES, THOUGHTS, CACHED, COUNT };
  mend__json_member fields[COUNT] = {{.name = MEND_STR("promptTokenCount")},
                                     {.name = MEND_STR("toolUsePromptTokenCount")},
                                     {.name = MEND_STR("candidatesTokenCount")},
                                     {.name = MEND_STR("thoughtsTokenCount")},
                                     {.name = MEND_STR("cachedContentTokenCount")}};
  if (!mend__json_fields_read(value, fields, COUNT)) return;
  const uint64_t thoughts = mend__json_count(fields[THOUGHTS].value);
  const mend_usage usage = {
      .input = add(mend__json_count(fields[PROMPT].value), mend__json_count(fields[TOOL_PROMPT].value)),
      .output = add(mend__json_count(fields[CANDIDATES].value), thoughts),
      .cached_input = mend__json_count(fields[CACHED].value),
      .reasoning = thoughts};
  mend__decoder_usage(decoder, &usage);
}

/* Calls come whole, each in a part. */
static void read_call(mend__decoder *decoder, mend_str value, mend_str signature) {
  enum { ID, NAME, ARGS, COUNT };
  mend__json_member fields[COUNT] = {{.name = MEND_STR("id")}, {.name = MEND_STR("name")}, {.name = MEND_STR("args")}};
  if (!mend__json_fields_read(value, fields, COUNT)) return;
  mend__decoder_call *call = mend__decoder_call_at(decoder, -1, fields[ID].value, fields[NAME].value);
  mend__decoder_call_args(decoder, call, fields[ARGS].value);
  mend__decoder_call_sign(decoder, call, mend__json_inside(signature));
}

static void read_part(mend__decoder *decoder, mend_str value) {
  enum { TEXT, THOUGHT, CALL, SIGNATURE, COUNT };
  mend__json_member fields[COUNT] = {{.name = MEND_STR("text")},
                                     {.name = MEND_STR("thought")},
                                     {.name = MEND_STR("functionCall")},
                                     {.name = MEND_STR("thoughtSignature")}};
  if (!mend__json_fields_read(value, fields, COUNT)) return;
  if (fields[CALL].value.ptr != NULL) {
    read_call(decoder, fields[CALL].value, fields[SIGNATURE].value);
    return;
  }
  const mend_part_kind kind = mend__json_is_true(fields[THOUGHT].value) ? MEND_PART_THINKING : MEND_PART_TEXT;
  mend__decoder_piece(decoder, kind, fields[TEXT].value);
  mend__decoder_sign(decoder, kind, mend__json_inside(fields[SIGNATURE].value));
}

/* Whether it is the one that counts: `extra` may ask for several. */
static bool read_candidate(mend__decoder *decoder, mend_str value) {
  enum { INDEX, CONTENT, FINISH, LOG_PROBS, COUNT };
  mend__json_member fields[COUNT] = {{.name = MEND_STR("index")},
                                     {.name = MEND_STR("content")},
                                     {.name = MEND_STR("finishReason")},
                                     {.name = MEND_STR("logprobsResult")}};
  mend_str part;
  if (!mend__json_fields_read(value, fields, COUNT) || mend__json_index(fields[INDEX].value) > 0) return false;
  mend__json_items parts = mend__json_items_of(mend__json_find(fields[CONTENT].value, "parts", NULL));
  while (mend__json_items_next(&parts, &part))
    read_part(decoder, part);
  mend__decoder_log_probs(decoder, mend__json_find(fields[LOG_PROBS].value, "chosenCandidates", NULL),
                          "logProbability");
  const mend_str finish = fields[FINISH].value;
  if (mend__json_is_string(finish)) mend__decoder_finish(decoder, mend__finish_find(words, finish), finish);
  return true;
}

/* Whether there was the candidate, or the reason why there never will be. */
static bool read_reply(mend__decoder *decoder, const mend_str *candidates, mend_str feedback) {
  mend_str candidate;
  const mend_str blocked = mend__json_find(feedback, "blockReason", NULL);
  if (mend__json_is_string(blocked)) mend__decoder_finish(decoder, MEND_FINISH_FILTER, blocked);
  mend__json_items elements = mend__json_items_of(*candidates);
  bool any = blocked.ptr != NULL;
  while (mend__json_items_next(&elements, &candidate))
    any |= read_candidate(decoder, candidate);
  return any;
}

static mend__reading read_document(mend__decoder *decoder, mend_str document, bool *any) {
  enum { CANDIDATES, FEEDBACK, USAGE, MODEL, ERROR, COUNT };
  mend__json_member fields[COUNT] = {{.name = MEND_STR("candidates")},
                                     {.name = MEND_STR("promptFeedback")},
                                     {.name = MEND_STR("usageMetadata")},
                                     {.name = MEND_STR("modelVersion")},
                                     {.name = MEND_STR("error")}};
  mend__json_fields_read(document, fields, COUNT);
  if (fields[ERROR].value.ptr != NULL) return mend__decoder_fault(decoder, document);
  mend__decoder_model(decoder, fields[MODEL].value);
  read_usage(decoder, fields[USAGE].value);
  *any = read_reply(decoder, &fields[CANDIDATES].value, fields[FEEDBACK].value);
  return MEND__READING_MORE;
}

mend__reading mend__google_event(mend__decoder *decoder, mend_str name, mend_str data) {
  bool any;
  (void)name;
  return read_document(decoder, data, &any);
}

mend__reading mend__google_whole(mend__decoder *decoder, mend_str body) {
  bool any = false;
  const mend__reading reading = read_document(decoder, body, &any);
  if (reading != MEND__READING_MORE) return reading;
  return any && decoder->has_finish ? MEND__READING_COMPLETE : MEND__READING_MALFORMED;
}
