/* Anthropic Messages. */
#include "program/fault_server/dialect.h"
#include "program/fault_server/json_template.h"

#define SIGNATURE "c2lnbmVkIGJ5IHRoZSBmYXVsdCBzZXJ2ZXI="

static const char *const finishes[ANSWER_FINISHES] = {"end_turn", "max_tokens", "tool_use", "refusal"};

/* ---- Whole -------------------------------------------------------------------------------------------------- */

static void put_content(const answer *said, mend__buffer *to) {
  bool any = false;
  if (text_list_count(&said->thoughts) > 0) {
    json_put(to, "{'type':'thinking','thinking':$s,'signature':'" SIGNATURE "'}", text_of(&said->thoughts.bytes));
    any = true;
  }
  if (text_list_count(&said->texts) > 0) {
    json_put(to, "$j{'type':'text','text':$s}", any ? MEND_STR(",") : MEND_STR(""), text_of(&said->texts.bytes));
    any = true;
  }
  for (size_t i = 0; i < text_list_count(&said->call_ids); i++) {
    json_put(to, "$j{'type':'tool_use','id':$s,'name':$s,'input':$j}", any ? MEND_STR(",") : MEND_STR(""),
             text_list_get(&said->call_ids, i), text_list_get(&said->call_names, i),
             text_list_get(&said->call_args, i));
    any = true;
  }
}

static void whole(const reply_facts *facts, mend__buffer *to) {
  const answer *said = facts->said;
  json_put(to, "{'id':'msg_fault_$n','type':'message','role':'assistant','model':$s,'content':[", facts->asked->number,
           text_of(&facts->asked->model));
  if (!facts->plan->no_choices) put_content(said, to);
  json_put(to, "],'stop_reason':$s,'stop_sequence':null", answer_finish_of(said, finishes));
  if (said->usage) {
    json_put(
        to,
        ",'usage':{'input_tokens':$n,'output_tokens':$n,'cache_read_input_tokens':0,'cache_creation_input_tokens':0}",
        said->input_tokens, said->output_tokens);
  }
  json_put(to, "}");
}

/* ---- Stream ------------------------------------------------------------------------------------------------- */

static void begin_block(stream *to, event_kind kind, size_t index, const char *block) {
  stream_put(to, kind, "content_block_start", "{'type':'content_block_start','index':$n,'content_block':$j}",
             (uint64_t)index, mend_str_from(block));
}

static void end_block(stream *to, size_t index) {
  stream_put(to, EVENT_FRAME, "content_block_stop", "{'type':'content_block_stop','index':$n}", (uint64_t)index);
}

static void put_thoughts(const answer *said, stream *to, size_t index) {
  begin_block(to, EVENT_FRAME, index, "{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}");
  for (size_t i = 0; i < text_list_count(&said->thoughts); i++) {
    stream_put(to, EVENT_CONTENT, "content_block_delta",
               "{'type':'content_block_delta','index':$n,'delta':{'type':'thinking_delta','thinking':$s}}",
               (uint64_t)index, text_list_get(&said->thoughts, i));
  }
  stream_put(to, EVENT_FRAME, "content_block_delta",
             "{'type':'content_block_delta','index':$n,'delta':{'type':'signature_delta','signature':'" SIGNATURE "'}}",
             (uint64_t)index);
  end_block(to, index);
}

static void put_texts(const answer *said, stream *to, size_t index) {
  begin_block(to, EVENT_FRAME, index, "{\"type\":\"text\",\"text\":\"\"}");
  for (size_t i = 0; i < text_list_count(&said->texts); i++) {
    stream_put(to, EVENT_CONTENT, "content_block_delta",
               "{'type':'content_block_delta','index':$n,'delta':{'type':'text_delta','text':$s}}", (uint64_t)index,
               text_list_get(&said->texts, i));
  }
  end_block(to, index);
}

static void put_call(const answer *said, size_t call, stream *to, size_t index) {
  const mend_str args = text_list_get(&said->call_args, call);
  stream_put(
      to, EVENT_CONTENT, "content_block_start",
      "{'type':'content_block_start','index':$n,'content_block':{'type':'tool_use','id':$s,'name':$s,'input':{}}}",
      (uint64_t)index, text_list_get(&said->call_ids, call), text_list_get(&said->call_names, call));
  for (size_t begin = 0, end; begin < args.len; begin = end) {
    end = answer_args_piece(args, begin);
    stream_put(to, EVENT_CONTENT, "content_block_delta",
               "{'type':'content_block_delta','index':$n,'delta':{'type':'input_json_delta','partial_json':$s}}",
               (uint64_t)index, (mend_str){args.ptr + begin, end - begin});
  }
  end_block(to, index);
}

static void write_stream(const reply_facts *facts, stream *to) {
  const answer *said = facts->said;
  size_t index = 0;
  stream_put(to, EVENT_FRAME, "message_start",
             "{'type':'message_start','message':{'id':'msg_fault_$n','type':'message','role':'assistant','model':$s,"
             "'content':[],'stop_reason':null,'stop_sequence':null,'usage':{'input_tokens':$n,'output_tokens':1}}}",
             facts->asked->number, text_of(&facts->asked->model), said->input_tokens);
  for (unsigned i = 0; i <= facts->plan->frames; i++)
    stream_put_text(to, EVENT_FRAME, "ping", mend_str_from(facts->asked->dialect->ping));
  if (!facts->plan->no_choices) {
    if (text_list_count(&said->thoughts) > 0) put_thoughts(said, to, index++);
    if (text_list_count(&said->texts) > 0) put_texts(said, to, index++);
    for (size_t i = 0; i < text_list_count(&said->call_ids); i++)
      put_call(said, i, to, index++);
  }
  stream_put(to, EVENT_FINISH, "message_delta",
             "{'type':'message_delta','delta':{'stop_reason':$s,'stop_sequence':null},'usage':{'output_tokens':$n}}",
             answer_finish_of(said, finishes), said->output_tokens);
  stream_put(to, EVENT_FINISH, "message_stop", "{'type':'message_stop'}");
}

/* ---- The rest ----------------------------------------------------------------------------------------------- */

static void error(unsigned status, mend_str message, mend__buffer *to) {
  json_put(to, "{'type':'error','error':{'type':$s,'message':$s},'request_id':'req_fault'}",
           status == 529   ? MEND_STR("overloaded_error")
           : status == 429 ? MEND_STR("rate_limit_error")
           : status >= 500 ? MEND_STR("api_error")
                           : MEND_STR("invalid_request_error"),
           message);
}

static void error_event(const reply_facts *facts, mend_str body, bool failed, stream *to) {
  (void)facts;
  (void)failed;
  stream_put_text(to, EVENT_EXTRA, "error", body);
}

static void models(mend__buffer *to) {
  json_put(to, "{'data':[{'type':'model','id':'fault-1','display_name':'Fault 1','created_at':'2026-01-01T00:00:00Z'}],"
               "'has_more':false,'first_id':'fault-1','last_id':'fault-1'}");
}

static void count(uint64_t tokens, mend__buffer *to) { json_put(to, "{'input_tokens':$n}", tokens); }

const dialect dialect_anthropic = {
    "anthropic", "messages", "content", whole, write_stream, error, error_event, "{\"type\":\"ping\"}", models, count};
