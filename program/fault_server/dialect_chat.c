/* OpenAI Chat Completions, and what is compatible with it. */
#include "program/fault_server/dialect.h"
#include "program/fault_server/json_template.h"

static const char *const finishes[ANSWER_FINISHES] = {"stop", "length", "tool_calls", "content_filter"};

static void put_usage(const answer *said, mend__buffer *to) {
  json_put(to,
           "{'prompt_tokens':$n,'completion_tokens':$n,'total_tokens':$n,'prompt_tokens_details':{'cached_tokens':0},"
           "'completion_tokens_details':{'reasoning_tokens':$n}}",
           said->input_tokens, said->output_tokens, said->input_tokens + said->output_tokens,
           (uint64_t)text_list_count(&said->thoughts));
}

static void put_log_prob(mend_str text, mend__buffer *to) {
  json_put(to, "{'token':$s,'logprob':$m,'bytes':null,'top_logprobs':[]}", text, answer_log_prob(text));
}

/* ---- Whole -------------------------------------------------------------------------------------------------- */

static void put_calls(const answer *said, mend__buffer *to) {
  for (size_t i = 0; i < text_list_count(&said->call_ids); i++) {
    json_put(to, "$j{'id':$s,'type':'function','function':{'name':$s,'arguments':$s}}",
             i > 0 ? MEND_STR(",") : MEND_STR(""), text_list_get(&said->call_ids, i),
             text_list_get(&said->call_names, i), text_list_get(&said->call_args, i));
  }
}

static void put_message(const answer *said, mend__buffer *to) {
  const bool refused = answer_is_refusal(said);
  json_put(to, "{'role':'assistant','content':");
  if (text_list_count(&said->texts) > 0 && !refused) {
    json_put(to, "$s", text_of(&said->texts.bytes));
  } else {
    json_put(to, "null");
  }
  json_put(to, ",'refusal':");
  if (refused) {
    json_put(to, "$s", text_of(&said->texts.bytes));
  } else {
    json_put(to, "null");
  }
  if (text_list_count(&said->thoughts) > 0) json_put(to, ",'reasoning_content':$s", text_of(&said->thoughts.bytes));
  if (text_list_count(&said->call_ids) > 0) {
    json_put(to, ",'tool_calls':[");
    put_calls(said, to);
    json_put(to, "]");
  }
  json_put(to, "}");
}

static void put_log_probs(const answer *said, mend__buffer *to) {
  json_put(to, ",'logprobs':{'content':[");
  for (size_t i = 0; i < text_list_count(&said->texts); i++) {
    if (i > 0) json_put(to, ",");
    put_log_prob(text_list_get(&said->texts, i), to);
  }
  json_put(to, "],'refusal':null}");
}

static void put_choice(const answer *said, mend__buffer *to) {
  const bool refused = answer_is_refusal(said);
  json_put(to, "{'index':0,'message':");
  put_message(said, to);
  if (said->log_probs) {
    put_log_probs(said, to);
  } else {
    json_put(to, ",'logprobs':null");
  }
  json_put(to, ",'finish_reason':$s}", refused ? MEND_STR("stop") : answer_finish_of(said, finishes));
}

static void whole(const reply_facts *facts, mend__buffer *to) {
  json_put(to, "{'id':'chatcmpl-fault-$n','object':'chat.completion','created':$n,'model':$s,'choices':[",
           facts->asked->number, REPLY_CREATED, text_of(&facts->asked->model));
  if (!facts->plan->no_choices) put_choice(facts->said, to);
  json_put(to, "]");
  if (facts->said->usage) {
    json_put(to, ",'usage':");
    put_usage(facts->said, to);
  }
  json_put(to, ",'system_fingerprint':null}");
}

/* ---- Stream ------------------------------------------------------------------------------------------------- */

/* `choices` is JSON; `more` what follows it, with its comma. */
static void put_chunk(const reply_facts *facts, stream *to, event_kind kind, mend_str choices, mend_str more) {
  stream_put(to, kind, NULL,
             "{'id':'chatcmpl-fault-$n','object':'chat.completion.chunk','created':$n,'model':$s,'choices':[$j]$j}",
             facts->asked->number, REPLY_CREATED, text_of(&facts->asked->model), choices, more);
}

/* Sends the delta that was written to `delta`, and clears it. */
static void put_delta(const reply_facts *facts, stream *to, event_kind kind, mend__buffer *delta, mend_str log_probs,
                      mend_str finish) {
  mend__buffer choice;
  mend__buffer_init(&choice, NULL);
  json_put(&choice, "{'index':0,'delta':{$j},'logprobs':$j,'finish_reason':", text_of(delta), log_probs);
  if (finish.ptr != NULL) {
    json_put(&choice, "$s}", finish);
  } else {
    json_put(&choice, "null}");
  }
  to->to->bytes.failed |= delta->failed || choice.failed;
  put_chunk(facts, to, kind, facts->plan->no_choices ? MEND_STR("") : text_of(&choice), MEND_STR(""));
  mend__buffer_free(&choice);
  mend__buffer_clear(delta);
}

static const mend_str none = {NULL, 0};

static void put_texts(const reply_facts *facts, stream *to, const text_list *texts, const char *member,
                      mend__buffer *delta) {
  mend__buffer log_probs;
  mend__buffer_init(&log_probs, NULL);
  const bool with_log_probs = facts->said->log_probs && texts == &facts->said->texts;
  for (size_t i = 0; i < text_list_count(texts); i++) {
    const mend_str text = text_list_get(texts, i);
    json_put(delta, "'$j':$s", mend_str_from(member), text);
    mend__buffer_clear(&log_probs);
    if (with_log_probs) {
      json_put(&log_probs, "{'content':[");
      put_log_prob(text, &log_probs);
      json_put(&log_probs, "],'refusal':null}");
    }
    put_delta(facts, to, EVENT_CONTENT, delta, with_log_probs ? text_of(&log_probs) : MEND_STR("null"), none);
  }
  mend__buffer_free(&log_probs);
}

static void put_call_index(const reply_facts *facts, size_t index, mend__buffer *delta) {
  const mend_str given = text_of(&facts->plan->call_index);
  if (given.len > 0) {
    json_put(delta, "'tool_calls':[{'index':$j", given);
  } else {
    json_put(delta, "'tool_calls':[{'index':$n", (uint64_t)index);
  }
}

static void put_call(const reply_facts *facts, stream *to, size_t index, mend__buffer *delta) {
  const answer *said = facts->said;
  const mend_str args = text_list_get(&said->call_args, index);
  put_call_index(facts, index, delta);
  if (!facts->plan->bare_calls) {
    json_put(delta, ",'id':$s,'type':'function','function':{'name':$s,'arguments':''}}]",
             text_list_get(&said->call_ids, index), text_list_get(&said->call_names, index));
  } else {
    json_put(delta, ",'function':{'arguments':''}}]");
  }
  put_delta(facts, to, EVENT_CONTENT, delta, MEND_STR("null"), none);
  for (size_t begin = 0, end; begin < args.len; begin = end) {
    end = answer_args_piece(args, begin);
    put_call_index(facts, index, delta);
    json_put(delta, ",'function':{'arguments':$s}}]", (mend_str){args.ptr + begin, end - begin});
    put_delta(facts, to, EVENT_CONTENT, delta, MEND_STR("null"), none);
  }
}

static void put_end(const reply_facts *facts, stream *to, mend__buffer *delta) {
  const answer *said = facts->said;
  const bool refused = answer_is_refusal(said);
  put_delta(facts, to, EVENT_FINISH, delta, MEND_STR("null"),
            refused ? MEND_STR("stop") : answer_finish_of(said, finishes));
  if (said->usage && (facts->asked->usage || facts->plan->usage)) {
    json_put(delta, ",'usage':");
    put_usage(said, delta);
    put_chunk(facts, to, EVENT_FINISH, MEND_STR(""), text_of(delta));
  }
  if (!facts->plan->no_done) stream_put_text(to, EVENT_FINISH, NULL, MEND_STR("[DONE]"));
}

static void write_stream(const reply_facts *facts, stream *to) {
  mend__buffer delta;
  mend__buffer_init(&delta, NULL);
  const bool refused = answer_is_refusal(facts->said);
  if (facts->plan->empty_choices) {
    put_chunk(facts, to, EVENT_FRAME, MEND_STR(""),
              MEND_STR(",\"prompt_filter_results\":[{\"prompt_index\":0,\"content_filter_results\":{}}]"));
  }
  for (unsigned i = 0; i <= facts->plan->frames; i++) {
    json_put(&delta, "'role':'assistant','content':''");
    put_delta(facts, to, EVENT_FRAME, &delta, MEND_STR("null"), none);
  }
  put_texts(facts, to, &facts->said->thoughts, "reasoning_content", &delta);
  put_texts(facts, to, &facts->said->texts, refused ? "refusal" : "content", &delta);
  for (size_t i = 0; i < text_list_count(&facts->said->call_ids); i++)
    put_call(facts, to, i, &delta);
  put_end(facts, to, &delta);
  mend__buffer_free(&delta);
}

/* ---- The rest ----------------------------------------------------------------------------------------------- */

static void error(unsigned status, mend_str message, mend__buffer *to) {
  json_put(to, "{'error':{'message':$s,'type':$s,'param':null,'code':null}}", message,
           status >= 500 ? MEND_STR("server_error") : MEND_STR("invalid_request_error"));
}

static void error_event(const reply_facts *facts, mend_str body, bool failed, stream *to) {
  (void)facts;
  (void)failed;
  stream_put_text(to, EVENT_EXTRA, NULL, body);
}

static void models(mend__buffer *to) {
  json_put(to, "{'object':'list','data':[{'id':'fault-1','object':'model','created':$n,'owned_by':'mend'}]}",
           REPLY_CREATED);
}

static void count(uint64_t tokens, mend__buffer *to) { json_put(to, "{'input_tokens':$n}", tokens); }

const dialect dialect_chat = {"openai", "messages",  "content", whole,  write_stream,
                              error,    error_event, NULL,      models, count};
