/* OpenAI Responses. A reply is a list of items: reasoning, a message, function calls. */
#include "program/base/json_fields.h"
#include "program/fault_server/dialect.h"
#include "program/fault_server/json_template.h"

#define SIGNATURE "c2lnbmVkIGJ5IHRoZSBmYXVsdCBzZXJ2ZXI="

/* ---- Items: in progress (`done` is false) they hold nothing yet ---------------------------------------------- */

static void put_reasoning(const answer *said, bool done, mend__buffer *to) {
  json_put(to, "{'id':'rs_fault','type':'reasoning','summary':[");
  if (done) json_put(to, "{'type':'summary_text','text':$s}", text_of(&said->thoughts.bytes));
  json_put(to, "]");
  if (done) json_put(to, ",'encrypted_content':'" SIGNATURE "'");
  json_put(to, "}");
}

static void put_log_prob(mend_str text, mend__buffer *to) {
  json_put(to, "{'token':$s,'logprob':$m,'bytes':[],'top_logprobs':[]}", text, answer_log_prob(text));
}

static void put_text_part(const answer *said, bool done, mend__buffer *to) {
  const mend_str text = done ? text_of(&said->texts.bytes) : MEND_STR("");
  if (answer_is_refusal(said)) {
    json_put(to, "{'type':'refusal','refusal':$s}", text);
    return;
  }
  json_put(to, "{'type':'output_text','annotations':[],'logprobs':[");
  for (size_t i = 0; said->log_probs && done && i < text_list_count(&said->texts); i++) {
    if (i > 0) json_put(to, ",");
    put_log_prob(text_list_get(&said->texts, i), to);
  }
  json_put(to, "],'text':$s}", text);
}

static void put_message(const answer *said, bool done, mend__buffer *to) {
  json_put(to, "{'id':'msg_fault','type':'message','role':'assistant','status':$s,'content':[",
           done ? MEND_STR("completed") : MEND_STR("in_progress"));
  if (done) put_text_part(said, true, to);
  json_put(to, "]}");
}

static void put_call(const answer *said, size_t index, bool done, mend__buffer *to) {
  json_put(to, "{'id':'fc_fault_$n','type':'function_call','status':$s,'call_id':$s,'name':$s,'arguments':$s}",
           (uint64_t)index, done ? MEND_STR("completed") : MEND_STR("in_progress"),
           text_list_get(&said->call_ids, index), text_list_get(&said->call_names, index),
           done ? text_list_get(&said->call_args, index) : MEND_STR(""));
}

static void put_items(const answer *said, mend__buffer *to) {
  const char *comma = "";
  if (text_list_count(&said->thoughts) > 0) {
    put_reasoning(said, true, to);
    comma = ",";
  }
  if (text_list_count(&said->texts) > 0) {
    json_put(to, "$j", mend_str_from(comma));
    put_message(said, true, to);
    comma = ",";
  }
  for (size_t i = 0; i < text_list_count(&said->call_ids); i++, comma = ",") {
    json_put(to, "$j", mend_str_from(comma));
    put_call(said, i, true, to);
  }
}

/* ---- The response ------------------------------------------------------------------------------------------- */

static bool is_incomplete(const answer *said) { return said->finish == ANSWER_LENGTH || said->finish == ANSWER_FILTER; }

static const char *status_of(const answer *said) { return is_incomplete(said) ? "incomplete" : "completed"; }

static void put_usage(const answer *said, mend__buffer *to) {
  json_put(to,
           "{'input_tokens':$n,'input_tokens_details':{'cached_tokens':0},'output_tokens':$n,'output_tokens_details':"
           "{'reasoning_tokens':$n},'total_tokens':$n}",
           said->input_tokens, said->output_tokens, (uint64_t)text_list_count(&said->thoughts),
           said->input_tokens + said->output_tokens);
}

/* Up to the output, which is not closed yet. */
static void begin_response(const reply_facts *facts, const char *status, mend__buffer *to) {
  json_put(to, "{'id':'resp_fault_$n','object':'response','created_at':$n,'status':$s,'model':$s,'output':[",
           facts->asked->number, REPLY_CREATED, mend_str_from(status), text_of(&facts->asked->model));
}

static void put_response(const reply_facts *facts, mend__buffer *to) {
  const answer *said = facts->said;
  begin_response(facts, status_of(said), to);
  if (!facts->plan->no_choices) put_items(said, to);
  json_put(to, "],'error':null,'incomplete_details':");
  if (is_incomplete(said)) {
    json_put(to, "{'reason':$s}",
             said->finish == ANSWER_LENGTH ? MEND_STR("max_output_tokens") : MEND_STR("content_filter"));
  } else {
    json_put(to, "null");
  }
  if (said->usage) {
    json_put(to, ",'usage':");
    put_usage(said, to);
  }
  json_put(to, "}");
}

static void whole(const reply_facts *facts, mend__buffer *to) { put_response(facts, to); }

/* ---- Stream ------------------------------------------------------------------------------------------------- */

static void put_lifecycle(const reply_facts *facts, stream *to, const char *name) {
  mend__buffer response;
  mend__buffer_init(&response, NULL);
  begin_response(facts, "in_progress", &response);
  json_put(&response, "],'error':null,'incomplete_details':null,'usage':null}");
  to->to->bytes.failed |= response.failed;
  stream_put(to, EVENT_FRAME, name, "{'type':$s,'sequence_number':$n,'response':$j}", mend_str_from(name), to->sequence,
             text_of(&response));
  mend__buffer_free(&response);
}

/* Sends an event about an item or a part of it, and clears it. */
static void put_item_event(stream *to, event_kind kind, const char *name, const char *member, uint64_t index,
                           mend__buffer *item) {
  to->to->bytes.failed |= item->failed;
  stream_put(to, kind, name, "{'type':$s,'sequence_number':$n,'output_index':$n,'$j':$j}", mend_str_from(name),
             to->sequence, index, mend_str_from(member), text_of(item));
  mend__buffer_clear(item);
}

static void stream_reasoning(const answer *said, stream *to, uint64_t index, mend__buffer *item) {
  put_reasoning(said, false, item);
  put_item_event(to, EVENT_FRAME, "response.output_item.added", "item", index, item);
  for (size_t i = 0; i < text_list_count(&said->thoughts); i++) {
    stream_put(
        to, EVENT_CONTENT, "response.reasoning_summary_text.delta",
        "{'type':'response.reasoning_summary_text.delta','sequence_number':$n,'item_id':'rs_fault','output_index':$n,"
        "'summary_index':0,'delta':$s}",
        to->sequence, index, text_list_get(&said->thoughts, i));
  }
  put_reasoning(said, true, item);
  put_item_event(to, EVENT_FRAME, "response.output_item.done", "item", index, item);
}

static void stream_text_delta(const answer *said, stream *to, uint64_t index, mend_str text) {
  mend__buffer log_probs;
  mend__buffer_init(&log_probs, NULL);
  if (said->log_probs) put_log_prob(text, &log_probs);
  to->to->bytes.failed |= log_probs.failed;
  const char *name = answer_is_refusal(said) ? "response.refusal.delta" : "response.output_text.delta";
  stream_put(to, EVENT_CONTENT, name,
             "{'type':$s,'sequence_number':$n,'item_id':'msg_fault','output_index':$n,'content_index':0,'delta':$s,"
             "'logprobs':[$j]}",
             mend_str_from(name), to->sequence, index, text, text_of(&log_probs));
  mend__buffer_free(&log_probs);
}

static void stream_message(const answer *said, stream *to, uint64_t index, mend__buffer *item) {
  put_message(said, false, item);
  put_item_event(to, EVENT_FRAME, "response.output_item.added", "item", index, item);
  put_text_part(said, false, item);
  put_item_event(to, EVENT_FRAME, "response.content_part.added", "part", index, item);
  for (size_t i = 0; i < text_list_count(&said->texts); i++)
    stream_text_delta(said, to, index, text_list_get(&said->texts, i));
  put_text_part(said, true, item);
  put_item_event(to, EVENT_FRAME, "response.content_part.done", "part", index, item);
  put_message(said, true, item);
  put_item_event(to, EVENT_FRAME, "response.output_item.done", "item", index, item);
}

static void stream_call(const answer *said, size_t call, stream *to, uint64_t index, mend__buffer *item) {
  const mend_str args = text_list_get(&said->call_args, call);
  put_call(said, call, false, item);
  put_item_event(to, EVENT_CONTENT, "response.output_item.added", "item", index, item);
  for (size_t begin = 0, end; begin < args.len; begin = end) {
    end = answer_args_piece(args, begin);
    stream_put(to, EVENT_CONTENT, "response.function_call_arguments.delta",
               "{'type':'response.function_call_arguments.delta','sequence_number':$n,'item_id':'fc_fault_$n',"
               "'output_index':$n,'delta':$s}",
               to->sequence, (uint64_t)call, index, (mend_str){args.ptr + begin, end - begin});
  }
  stream_put(
      to, EVENT_FRAME, "response.function_call_arguments.done",
      "{'type':'response.function_call_arguments.done','sequence_number':$n,'item_id':'fc_fault_$n','output_index':$n,"
      "'arguments':$s}",
      to->sequence, (uint64_t)call, index, args);
  put_call(said, call, true, item);
  put_item_event(to, EVENT_FRAME, "response.output_item.done", "item", index, item);
}

static void put_end(const reply_facts *facts, stream *to, mend__buffer *response) {
  const char *name = is_incomplete(facts->said) ? "response.incomplete" : "response.completed";
  put_response(facts, response);
  to->to->bytes.failed |= response->failed;
  stream_put(to, EVENT_FINISH, name, "{'type':$s,'sequence_number':$n,'response':$j}", mend_str_from(name),
             to->sequence, text_of(response));
}

static void write_stream(const reply_facts *facts, stream *to) {
  const answer *said = facts->said;
  uint64_t index = 0;
  mend__buffer item;
  mend__buffer_init(&item, NULL);
  put_lifecycle(facts, to, "response.created");
  for (unsigned i = 0; i <= facts->plan->frames; i++)
    put_lifecycle(facts, to, "response.in_progress");
  if (!facts->plan->no_choices) {
    if (text_list_count(&said->thoughts) > 0) stream_reasoning(said, to, index++, &item);
    if (text_list_count(&said->texts) > 0) stream_message(said, to, index++, &item);
    for (size_t i = 0; i < text_list_count(&said->call_ids); i++)
      stream_call(said, i, to, index++, &item);
  }
  put_end(facts, to, &item);
  mend__buffer_free(&item);
}

/* ---- The rest ----------------------------------------------------------------------------------------------- */

static void error(unsigned status, mend_str message, mend__buffer *to) { dialect_chat.error(status, message, to); }

/* A string as it stands in JSON, or null. */
static mend_str string_or_null(mend_str value) { return mend__json_is_string(value) ? value : MEND_STR("null"); }

/* The code and the message move out of the body of an error into the event. */
static void error_event(const reply_facts *facts, mend_str body, bool failed, stream *to) {
  json_field inner[] = {JSON_FIELD("error")},
             fields[] = {JSON_FIELD("code"), JSON_FIELD("type"), JSON_FIELD("message")};
  mend__buffer response;
  if (mend__json_is_object(body)) json_fields_read(body, inner, 1, NULL);
  if (mend__json_is_object(inner[0].value)) json_fields_read(inner[0].value, fields, 3, NULL);
  const mend_str code = string_or_null(mend__json_is_string(fields[0].value) ? fields[0].value : fields[1].value);
  const mend_str message = string_or_null(fields[2].value);
  if (!failed) {
    stream_put(to, EVENT_EXTRA, "error", "{'type':'error','sequence_number':$n,'code':$j,'message':$j,'param':null}",
               to->sequence, code, message);
    return;
  }
  mend__buffer_init(&response, NULL);
  begin_response(facts, "failed", &response);
  json_put(&response, "],'error':{'code':$j,'message':$j},'incomplete_details':null,'usage':null}", code, message);
  to->to->bytes.failed |= response.failed;
  stream_put(to, EVENT_EXTRA, "response.failed", "{'type':'response.failed','sequence_number':$n,'response':$j}",
             to->sequence, text_of(&response));
  mend__buffer_free(&response);
}

static void models(mend__buffer *to) { dialect_chat.models(to); }
static void count(uint64_t tokens, mend__buffer *to) { dialect_chat.count(tokens, to); }

const dialect dialect_responses = {"openai-responses", "input", "content", whole, write_stream, error,
                                   error_event,        NULL,    models,    count};
