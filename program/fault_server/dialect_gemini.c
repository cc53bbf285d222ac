/* Gemini generateContent. */
#include "program/fault_server/dialect.h"
#include "program/fault_server/json_template.h"

#define SIGNATURE "c2lnbmVkIGJ5IHRoZSBmYXVsdCBzZXJ2ZXI="

static const char *const finishes[ANSWER_FINISHES] = {"STOP", "MAX_TOKENS", "STOP", "SAFETY"};

static void put_usage(const answer *said, mend__buffer *to) {
  if (!said->usage) return;
  json_put(
      to,
      ",'usageMetadata':{'promptTokenCount':$n,'candidatesTokenCount':$n,'thoughtsTokenCount':$n,'totalTokenCount':$n}",
      said->input_tokens, said->output_tokens, (uint64_t)text_list_count(&said->thoughts),
      said->input_tokens + said->output_tokens);
}

static void put_tail(const reply_facts *facts, mend__buffer *to) {
  put_usage(facts->said, to);
  json_put(to, ",'modelVersion':$s,'responseId':'fault-$n'}", text_of(&facts->asked->model), facts->asked->number);
}

static void put_call(const answer *said, size_t index, mend__buffer *to) {
  json_put(to, "{'functionCall':{'id':$s,'name':$s,'args':$j},'thoughtSignature':'" SIGNATURE "'}",
           text_list_get(&said->call_ids, index), text_list_get(&said->call_names, index),
           text_list_get(&said->call_args, index));
}

static void put_log_prob(mend_str text, mend__buffer *to) {
  json_put(to, "{'token':$s,'logProbability':$m}", text, answer_log_prob(text));
}

/* ---- Whole -------------------------------------------------------------------------------------------------- */

static void put_parts(const answer *said, mend__buffer *to) {
  const char *comma = "";
  if (text_list_count(&said->thoughts) > 0) {
    json_put(to, "{'text':$s,'thought':true}", text_of(&said->thoughts.bytes));
    comma = ",";
  }
  if (text_list_count(&said->texts) > 0) {
    json_put(to, "$j{'text':$s}", mend_str_from(comma), text_of(&said->texts.bytes));
    comma = ",";
  }
  for (size_t i = 0; i < text_list_count(&said->call_ids); i++, comma = ",") {
    json_put(to, "$j", mend_str_from(comma));
    put_call(said, i, to);
  }
}

static void put_log_probs(const answer *said, mend__buffer *to) {
  json_put(to, ",'logprobsResult':{'chosenCandidates':[");
  for (size_t i = 0; i < text_list_count(&said->texts); i++) {
    if (i > 0) json_put(to, ",");
    put_log_prob(text_list_get(&said->texts, i), to);
  }
  json_put(to, "]}");
}

static void put_candidate(const answer *said, mend__buffer *to) {
  json_put(to, "{'content':{'parts':[");
  put_parts(said, to);
  json_put(to, "],'role':'model'},'finishReason':$s,'index':0", answer_finish_of(said, finishes));
  if (said->log_probs) put_log_probs(said, to);
  json_put(to, "}");
}

static void whole(const reply_facts *facts, mend__buffer *to) {
  if (facts->plan->block) {
    json_put(to, "{'promptFeedback':{'blockReason':'SAFETY','safetyRatings':[]}");
  } else {
    json_put(to, "{'candidates':[");
    if (!facts->plan->no_choices) put_candidate(facts->said, to);
    json_put(to, "]");
  }
  put_tail(facts, to);
}

/* ---- Stream ------------------------------------------------------------------------------------------------- */

/* `parts` is JSON; `more` what follows the content, with its comma. */
static void put_chunk(const reply_facts *facts, stream *to, event_kind kind, mend_str parts, mend_str more) {
  mend__buffer tail;
  mend__buffer_init(&tail, NULL);
  put_tail(facts, &tail);
  to->to->bytes.failed |= tail.failed;
  if (facts->plan->no_choices) {
    stream_put(to, kind, NULL, "{'candidates':[]$j", text_of(&tail));
  } else {
    stream_put(to, kind, NULL, "{'candidates':[{'content':{'parts':[$j],'role':'model'}$j,'index':0}]$j", parts, more,
               text_of(&tail));
  }
  mend__buffer_free(&tail);
}

static void put_texts(const reply_facts *facts, stream *to, const text_list *texts, const char *member) {
  mend__buffer part, more;
  mend__buffer_init(&part, NULL);
  mend__buffer_init(&more, NULL);
  for (size_t i = 0; i < text_list_count(texts); i++) {
    const mend_str text = text_list_get(texts, i);
    mend__buffer_clear(&part);
    mend__buffer_clear(&more);
    json_put(&part, "{'text':$s$j}", text, mend_str_from(member));
    if (facts->said->log_probs && texts == &facts->said->texts) {
      json_put(&more, ",'logprobsResult':{'chosenCandidates':[");
      put_log_prob(text, &more);
      json_put(&more, "]}");
    }
    put_chunk(facts, to, EVENT_CONTENT, text_of(&part), text_of(&more));
  }
  to->to->bytes.failed |= part.failed || more.failed;
  mend__buffer_free(&part);
  mend__buffer_free(&more);
}

static void put_calls(const reply_facts *facts, stream *to) {
  mend__buffer part;
  mend__buffer_init(&part, NULL);
  for (size_t i = 0; i < text_list_count(&facts->said->call_ids); i++) {
    mend__buffer_clear(&part);
    put_call(facts->said, i, &part);
    put_chunk(facts, to, EVENT_CONTENT, text_of(&part), MEND_STR(""));
  }
  to->to->bytes.failed |= part.failed;
  mend__buffer_free(&part);
}

static void write_stream(const reply_facts *facts, stream *to) {
  mend__buffer finish;
  if (facts->plan->block) {
    mend__buffer_init(&finish, NULL);
    whole(facts, &finish);
    stream_put_text(to, EVENT_FINISH, NULL, text_of(&finish));
    mend__buffer_free(&finish);
    return;
  }
  for (unsigned i = 0; i < facts->plan->frames; i++)
    put_chunk(facts, to, EVENT_FRAME, MEND_STR(""), MEND_STR(""));
  put_texts(facts, to, &facts->said->thoughts, ",\"thought\":true");
  put_texts(facts, to, &facts->said->texts, "");
  put_calls(facts, to);
  mend__buffer_init(&finish, NULL);
  json_put(&finish, ",'finishReason':$s", answer_finish_of(facts->said, finishes));
  put_chunk(facts, to, EVENT_FINISH, MEND_STR("{\"text\":\"\"}"), text_of(&finish));
  mend__buffer_free(&finish);
}

/* ---- The rest ----------------------------------------------------------------------------------------------- */

static void error(unsigned status, mend_str message, mend__buffer *to) {
  json_put(to, "{'error':{'code':$n,'message':$s,'status':$s}}", (uint64_t)status, message,
           status == 429   ? MEND_STR("RESOURCE_EXHAUSTED")
           : status == 503 ? MEND_STR("UNAVAILABLE")
           : status >= 500 ? MEND_STR("INTERNAL")
                           : MEND_STR("INVALID_ARGUMENT"));
}

static void error_event(const reply_facts *facts, mend_str body, bool failed, stream *to) {
  (void)facts;
  (void)failed;
  stream_put_text(to, EVENT_EXTRA, NULL, body);
}

static void models(mend__buffer *to) {
  json_put(
      to, "{'models':[{'name':'models/fault-1','displayName':'Fault 1','supportedGenerationMethods':['generateContent',"
          "'countTokens']}]}");
}

static void count(uint64_t tokens, mend__buffer *to) { json_put(to, "{'totalTokens':$n}", tokens); }

const dialect dialect_gemini = {"gemini", "contents",  "parts", whole,  write_stream,
                                error,    error_event, NULL,    models, count};
