#include "watchdogs/monologue.h"

#include "core/mix.h"
#include "core/text.h"
#include "mend/json.h"

static void forget_deltas(mend__monologue *monologue) { monologue->said = monologue->inner = (mend__message){0, 0}; }

/* Byte by byte, so that pieces are one text whatever the cuts. */
static void say(mend__monologue *monologue, mend_str text) {
  mend__message *said = &monologue->said;
  for (size_t i = 0; i < text.len; i++) {
    const bool is_blank = mend__is_blank(text.ptr[i]);
    if (is_blank && said->len == 0) continue;
    said->hash = (said->hash + (unsigned char)text.ptr[i] + 1) * MEND__MIX_STEP;
    said->len++;
    if (!is_blank) monologue->inner = *said;
  }
}

static void say_delta(mend__monologue *monologue, const mend_model_delta_event *delta) {
  const bool is_text = delta->delta_kind.len == 0 || mend_str_equal(delta->delta_kind, MEND_STR("text"));
  if (is_text) say(monologue, delta->text);
}

static mend__message whole(mend_str text) {
  const mend_str inner = mend__trim(text);
  return (mend__message){mend_hash_bytes(inner).lo, inner.len};
}

static void begin_request(mend__monologue *monologue) {
  if (monologue->requests++ > 0) monologue->is_parallel = true;
}

/* Of one of several requests at once the deltas were mixed, too. */
static bool end_request(mend__monologue *monologue) {
  const bool was_parallel = monologue->is_parallel;
  if (monologue->requests > 0) monologue->requests--;
  if (monologue->requests == 0) monologue->is_parallel = false;
  return was_parallel;
}

/* A reply that only calls tools says nothing. One whose text is given is compared with others like it. */
static bool end_message(mend__monologue *monologue, const mend_model_response_event *response) {
  const mend__message message = response->text.len != 0 ? whole(response->text) : monologue->inner;
  const bool was_parallel = end_request(monologue);
  forget_deltas(monologue);
  if (was_parallel || message.len == 0) return false;
  const bool is_same = message.len == monologue->message.len && message.hash == monologue->message.hash;
  monologue->times = is_same ? monologue->times + 1 : 1;
  monologue->message = message;
  return monologue->times == MEND__MONOLOGUE_TIMES;
}

bool mend__monologue_event(mend__monologue *monologue, const mend_event *event) {
  switch (event->kind) {
  case MEND_EVENT_MODEL_REQUEST: begin_request(monologue); return false;
  case MEND_EVENT_MODEL_DELTA: say_delta(monologue, (const mend_model_delta_event *)event); return false;
  case MEND_EVENT_MODEL_RESPONSE: return end_message(monologue, (const mend_model_response_event *)event);
  case MEND_EVENT_MODEL_ERROR:
    end_request(monologue);
    forget_deltas(monologue);
    return false;
  case MEND_EVENT_TOOL_BEFORE: monologue->times = 0; return false;
  case MEND_EVENT_USER_MESSAGE: *monologue = (mend__monologue){.times = 0}; return false;
  default: return false;
  }
}
