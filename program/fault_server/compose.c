#include "program/fault_server/compose.h"

#include "program/fault_server/errors.h"
#include "program/fault_server/json_template.h"

/* ---- Heads -------------------------------------------------------------------------------------------------- */

static const char *reason_of(unsigned status) {
  switch (status) {
  case 200: return "OK";
  case 400: return "Bad Request";
  case 401: return "Unauthorized";
  case 404: return "Not Found";
  case 429: return "Too Many Requests";
  case 403: return "Forbidden";
  case 500: return "Internal Server Error";
  case 502: return "Bad Gateway";
  case 503: return "Service Unavailable";
  default: return "Status";
  }
}

/* Up to the headers that tell of the body. */
static void begin_head(const reply_facts *facts, unsigned status, const char *content_type, delivery *to) {
  const fault_plan *plan = facts->plan;
  const mend_str type = plan->content_type.len > 0 ? text_of(&plan->content_type) : mend_str_from(content_type);
  to->status = (int)status;
  mend__buffer_printf(&to->bytes, "HTTP/1.1 %u %s\r\ncontent-type: %.*s\r\nx-request-id: req_fault_%llu\r\n", status,
                      reason_of(status), MEND_STR_ARG(type), (unsigned long long)facts->asked->number);
  for (size_t i = 0; i < text_list_count(&plan->headers); i++)
    mend__buffer_printf(&to->bytes, "%.*s\r\n", MEND_STR_ARG(text_list_get(&plan->headers, i)));
  if (plan->gzip) mend__buffer_str(&to->bytes, MEND_STR("content-encoding: gzip\r\n"));
  if (plan->close) mend__buffer_str(&to->bytes, MEND_STR("connection: close\r\n"));
}

static void end_head(delivery *to) {
  mend__buffer_str(&to->bytes, MEND_STR("\r\n"));
  delivery_cut_piece(to, 0, 1);
}

/* ---- Bodies that are whole ----------------------------------------------------------------------------------- */

static void put_chunk(bool chunked, mend_str bytes, delivery *to) {
  if (!chunked) {
    mend__buffer_str(&to->bytes, bytes);
  } else if (bytes.len > 0) {
    mend__buffer_printf(&to->bytes, "%zx\r\n", bytes.len);
    mend__buffer_str(&to->bytes, bytes);
    mend__buffer_str(&to->bytes, MEND_STR("\r\n"));
  }
}

/* ENDING_KEEP: a body that is no stream goes on. */
static ending ending_of_cut(plan_cut how) {
  switch (how) {
  case CUT_RESET: return ENDING_RESET;
  case CUT_CLOSE: return ENDING_CLOSE;
  case CUT_SILENCE:
  case CUT_PINGS: return ENDING_SILENCE;
  default: return ENDING_KEEP;
  }
}

/* In pieces, where it is to break off or to be slow: as many as a stream would have contents. */
static void put_body(const fault_plan *plan, bool chunked, mend_str body, delivery *to) {
  const unsigned needed = plan_contents_needed(plan), pieces = needed > 0 ? needed : 1;
  for (unsigned i = 0; i < pieces; i++) {
    const ending how = ending_of_cut(plan_cut_at(plan, i));
    if (how != ENDING_KEEP) {
      delivery_end(to, how, true);
      return;
    }
    const size_t begin = body.len * i / pieces, end = body.len * (i + 1) / pieces;
    put_chunk(chunked, (mend_str){body.ptr + begin, end - begin}, to);
    delivery_cut_piece(to, i == 0 ? plan->first_delay : plan->delta_delay, 1);
  }
  if (chunked) mend__buffer_str(&to->bytes, MEND_STR("0\r\n\r\n"));
  const bool closes = plan->close || plan->short_body > 0;
  delivery_end(to, closes ? ENDING_CLOSE : ENDING_KEEP, plan->short_body > 0);
}

/* The head is begun; takes the body and clears it. */
static void put_whole(const reply_facts *facts, mend__buffer *body, delivery *to) {
  const fault_plan *plan = facts->plan;
  const bool has_body = !facts->asked->head_only && http_status_has_body(to->status);
  if (plan->bad_json || plan_breaks_off(plan, CUT_END)) body->len /= 2;
  answer_spoil(body);
  mend__buffer packed;
  mend__buffer_init(&packed, NULL);
  if (plan->gzip) {
    gzip state;
    gzip_begin(&state, &packed);
    gzip_put(&state, text_of(body), &packed);
    gzip_end(&state, &packed);
  }
  const mend_str bytes = text_of(plan->gzip ? &packed : body);
  if (plan->chunked && http_status_has_body(to->status)) {
    mend__buffer_str(&to->bytes, MEND_STR("transfer-encoding: chunked\r\n"));
  } else if (http_status_has_body(to->status)) {
    mend__buffer_printf(&to->bytes, "content-length: %zu\r\n", bytes.len + plan->short_body);
  }
  end_head(to);
  put_body(plan, plan->chunked && has_body, has_body ? bytes : MEND_STR(""), to);
  to->bytes.failed |= body->failed || packed.failed;
  mend__buffer_free(&packed);
}

/* ---- Replies ------------------------------------------------------------------------------------------------ */

static void compose_error(const reply_facts *facts, delivery *to) {
  error_reply made;
  error_reply_make(&made, facts);
  begin_head(facts, made.status, made.content_type, to);
  if (made.header != NULL) mend__buffer_printf(&to->bytes, "%s\r\n", made.header);
  put_whole(facts, &made.body, to);
  error_reply_free(&made);
}

static void compose_stream(const reply_facts *facts, delivery *to) {
  begin_head(facts, 200, "text/event-stream", to);
  mend__buffer_str(&to->bytes, MEND_STR("cache-control: no-cache\r\n"));
  mend__buffer_str(&to->bytes, facts->asked->old_http ? MEND_STR("connection: close\r\n")
                                                      : MEND_STR("transfer-encoding: chunked\r\n"));
  end_head(to);
  stream_write(facts, to);
}

static void compose_whole(const reply_facts *facts, delivery *to) {
  const question *asked = facts->asked;
  mend__buffer body;
  mend__buffer_init(&body, NULL);
  if (asked->kind == QUESTION_NONE) {
    json_put(&body, "{'detail':'Not Found'}");
  } else if (facts->plan->not_json) {
    json_put(&body, "upstream says hello\n");
  } else if (asked->kind == QUESTION_MODELS) {
    asked->dialect->models(&body);
  } else if (asked->kind == QUESTION_COUNT) {
    asked->dialect->count(facts->said->input_tokens, &body);
  } else {
    asked->dialect->whole(facts, &body);
  }
  begin_head(facts, asked->kind == QUESTION_NONE ? 404 : 200, facts->plan->not_json ? "text/plain" : "application/json",
             to);
  put_whole(facts, &body, to);
  mend__buffer_free(&body);
}

/* An error event is an error where there are no events. */
static bool is_error(const reply_facts *facts, bool streams) {
  const fault_plan *plan = facts->plan;
  const bool as_event = plan_breaks_off(plan, CUT_ERROR) || plan_breaks_off(plan, CUT_FAILED);
  return as_event ? !streams : plan_is_error(plan);
}

static void compose_reply(const reply_facts *facts, delivery *to) {
  const bool streams = facts->asked->kind == QUESTION_ASK && facts->asked->stream && !facts->plan->not_json;
  if (is_error(facts, streams)) {
    compose_error(facts, to);
  } else if (streams) {
    compose_stream(facts, to);
  } else {
    compose_whole(facts, to);
  }
}

/* ---- Pace --------------------------------------------------------------------------------------------------- */

/* Far enough apart that a reader that does not dawdle sees every part by itself. */
static const double PAUSE_S = 0.002;

static pace pace_of(const fault_plan *plan) {
  if (plan->trickle > 0) return (pace){.every = 1, .wait_s = plan->trickle};
  return (pace){.every = plan->split, .in_crlf = plan->split_crlf, .in_utf8 = plan->split_utf8, .wait_s = PAUSE_S};
}

mend_status compose(const question *asked, const fault_plan *plan, mend_str given, delivery *to, mend_error *error) {
  answer said;
  answer_init(&said);
  mend_status status = answer_make(&said, asked, plan, given, error);
  if (status == MEND_OK) {
    const reply_facts facts = {asked, plan, &said};
    delivery_cut_piece(to, plan->delay, 1);
    if (plan->instead != NULL) {
      plan->instead(plan, to);
    } else {
      compose_reply(&facts, to);
    }
    to->pace = pace_of(plan);
    if (delivery_failed(to)) {
      status = MEND_ENOMEM;
    } else if (delivery_is_too_large(to)) {
      status = mend_error_set(error, MEND_ELIMIT, ANSWER_TOO_LARGE);
    }
  }
  answer_free(&said);
  return status;
}

void compose_complaint(int status, const char *sentence, delivery *to) {
  mend__buffer body;
  mend__buffer_init(&body, NULL);
  json_put(&body, "{'error':{'message':$s,'type':'mend_fault_server','param':null,'code':null}}",
           mend_str_from(sentence));
  to->status = status;
  mend__buffer_printf(
      &to->bytes,
      "HTTP/1.1 %d %s\r\ncontent-type: application/json\r\ncontent-length: %zu\r\nconnection: close\r\n\r\n", status,
      reason_of((unsigned)status), body.len);
  mend__buffer_str(&to->bytes, text_of(&body));
  to->bytes.failed |= body.failed;
  delivery_end(to, ENDING_CLOSE, false);
  mend__buffer_free(&body);
}
