#include "program/fault_server/stream.h"

#include "program/fault_server/errors.h"
#include "program/fault_server/json_template.h"

#include <stdarg.h>

/* ---- Bytes -------------------------------------------------------------------------------------------------- */

static void send_raw(stream *to, mend_str bytes) {
  mend__buffer *out = &to->to->bytes;
  if (to->chunked) mend__buffer_printf(out, "%zx\r\n", bytes.len);
  mend__buffer_str(out, bytes);
  if (to->chunked) mend__buffer_str(out, MEND_STR("\r\n"));
}

/* Sends what was written to `event`. */
static void send_bytes(stream *to, double wait_s, uint64_t times) {
  mend__buffer packed;
  mend__buffer_init(&packed, NULL);
  answer_spoil(&to->event);
  if (to->plan->gzip) gzip_put(&to->packed, text_of(&to->event), &packed);
  send_raw(to, text_of(to->plan->gzip ? &packed : &to->event));
  to->to->bytes.failed |= packed.failed || to->event.failed;
  delivery_cut_piece(to->to, wait_s, times);
  mend__buffer_free(&packed);
  mend__buffer_clear(&to->event);
}

static const char *line_end(const stream *to) { return to->plan->crlf ? "\r\n" : to->plan->cr ? "\r" : "\n"; }

static void put_line(stream *to, const char *name, mend_str value) {
  mend__buffer_printf(&to->event, "%s:%s%.*s%s", name, to->plan->no_space ? "" : " ", MEND_STR_ARG(value),
                      line_end(to));
}

/* JSON may be broken behind its first brace: the line feed between the lines is white space there. */
static void put_data(stream *to, mend_str data) {
  if (to->plan->multiline && data.len > 1 && data.ptr[0] == '{') {
    put_line(to, "data", (mend_str){data.ptr, 1});
    data = (mend_str){data.ptr + 1, data.len - 1};
  }
  put_line(to, "data", data);
}

static void send_event(stream *to, const char *name, mend_str data, double wait_s, uint64_t times) {
  if (name != NULL && !to->plan->unnamed) put_line(to, "event", mend_str_from(name));
  put_data(to, data);
  mend__buffer_str(&to->event, mend_str_from(line_end(to)));
  send_bytes(to, wait_s, times);
  to->sequence++;
}

static void send_comment(stream *to, const char *text, double wait_s, uint64_t times) {
  mend__buffer_printf(&to->event, ": %s%s%s", text, line_end(to), line_end(to));
  send_bytes(to, wait_s, times);
}

static void send_ping(stream *to, double wait_s, uint64_t times) {
  const char *data = to->facts->asked->dialect->ping;
  if (data == NULL) {
    send_comment(to, "ping", wait_s, times);
  } else {
    send_event(to, "ping", mend_str_from(data), wait_s, times);
  }
}

/* ---- Where it ends ------------------------------------------------------------------------------------------ */

static void end_body(stream *to, bool cut) {
  if (to->plan->gzip) {
    mend__buffer trailer;
    mend__buffer_init(&trailer, NULL);
    gzip_end(&to->packed, &trailer);
    send_raw(to, text_of(&trailer));
    mend__buffer_free(&trailer);
  }
  if (to->chunked) mend__buffer_str(&to->to->bytes, MEND_STR("0\r\n\r\n"));
  delivery_end(to->to, to->chunked && !to->plan->close ? ENDING_KEEP : ENDING_CLOSE, cut);
  to->over = true;
}

static void break_off(stream *to, ending how) {
  delivery_end(to->to, how, true);
  to->over = true;
}

static void end_with_error(stream *to, bool failed) {
  error_reply made;
  error_reply_make(&made, to->facts);
  to->facts->asked->dialect->error_event(to->facts, text_of(&made.body), failed, to);
  to->to->bytes.failed |= made.body.failed;
  error_reply_free(&made);
  end_body(to, true);
}

static void cut_off(stream *to, plan_cut how) {
  switch (how) {
  case CUT_RESET: break_off(to, ENDING_RESET); break;
  case CUT_CLOSE: break_off(to, ENDING_CLOSE); break;
  case CUT_SILENCE: break_off(to, ENDING_SILENCE); break;
  case CUT_PINGS:
    send_ping(to, 1, PIECE_FOREVER);
    break_off(to, ENDING_SILENCE);
    break;
  case CUT_ERROR:
  case CUT_FAILED: end_with_error(to, how == CUT_FAILED); break;
  case CUT_END: end_body(to, true); break;
  default: break;
  }
}

/* ---- Events ------------------------------------------------------------------------------------------------- */

/* Only the first content waits first_delay. */
static double wait_before(const stream *to, event_kind kind) {
  if (kind != EVENT_CONTENT) return 0;
  return to->contents == 0 ? to->plan->first_delay : to->plan->delta_delay;
}

static void put_between(stream *to) {
  if (to->plan->comments) send_comment(to, "this is a comment", 0, 1);
  if (to->plan->pings) send_ping(to, 0, 1);
}

void stream_put_text(stream *to, event_kind kind, const char *name, mend_str data) {
  const bool left_out = to->plan->no_finish && kind == EVENT_FINISH;
  if (to->plan->error_first && kind != EVENT_EXTRA && !to->over) cut_off(to, CUT_ERROR);
  if (kind == EVENT_CONTENT && !to->over) cut_off(to, plan_cut_at(to->plan, to->contents));
  if (to->over || left_out) return;
  if (delivery_is_too_large(to->to)) {
    break_off(to, ENDING_CLOSE);
    return;
  }
  if (kind != EVENT_EXTRA) put_between(to);
  if (to->plan->bad_json && kind == EVENT_CONTENT && to->contents == 0) data.len /= 2;
  send_event(to, name, data, wait_before(to, kind), 1);
  if (kind == EVENT_CONTENT) to->contents++;
}

void stream_put(stream *to, event_kind kind, const char *name, const char *template, ...) {
  mend__buffer data;
  va_list arguments;
  if (to->over) return;
  mend__buffer_init(&data, NULL);
  va_start(arguments, template);
  json_put_list(&data, template, &arguments);
  va_end(arguments);
  to->to->bytes.failed |= data.failed;
  stream_put_text(to, kind, name, text_of(&data));
  mend__buffer_free(&data);
}

void stream_write(const reply_facts *facts, delivery *to) {
  stream events = {.facts = facts, .plan = facts->plan, .to = to, .chunked = !facts->asked->old_http};
  mend__buffer_init(&events.event, NULL);
  if (facts->plan->gzip) {
    gzip_begin(&events.packed, &events.event);
    send_raw(&events, text_of(&events.event));
    mend__buffer_clear(&events.event);
  }
  if (facts->plan->bom) mend__buffer_str(&events.event, MEND_STR("\xEF\xBB\xBF"));
  facts->asked->dialect->stream(facts, &events);
  if (!events.over) end_body(&events, facts->plan->no_finish);
  mend__buffer_free(&events.event);
}
