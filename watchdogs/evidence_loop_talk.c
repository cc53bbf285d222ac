/* What goes round without a call of a tool: a model that says the same, a context that does not get shorter. */
#include "watchdogs/evidence_loop_talk.h"
#include "watchdogs/detector.h"
#include "watchdogs/saying.h"

/* A detection that is about no tool. */
static mend_detection about(const mend_event *event, const char *reason, uint32_t count, uint32_t limit,
                            char digits[MEND__CALL_DIGITS]) {
  mend_detection detection = MEND_DETECTION_INIT;
  detection.reason = mend_str_from(reason);
  detection.severity = count / (2.0 * limit);
  detection.last_call = mend__call_text(event->call, event->call_name, digits);
  detection.first_call = detection.last_call;
  detection.count = count;
  return detection;
}

/* Each is one incident in a run, whatever the words: it is the same model that does it again. */
static mend_status emit(mend__saying *saying, mend_emitter *emitter, mend_detection *detection) {
  mend__saying_next(saying);
  mend__buffer_str(&saying->text, detection->reason);
  mend__saying_next(saying);
  return mend__saying_emit(saying, emitter, detection);
}

static mend_status tell_chant(const mend_allocator *allocator, const mend_event *event, const mend__chant *chant,
                              mend_emitter *emitter) {
  char digits[MEND__CALL_DIGITS];
  mend_detection detection = about(event, "chanting", chant->times, MEND__CHANT_TIMES - 1, digits);
  detection.confidence = 0.85;
  detection.steer = MEND_STR("stop this reply and ask again, more briefly or with another model");
  mend__saying saying;
  mend__saying_init(&saying, allocator);
  mend__buffer_printf(&saying.text, "the model has said the same %u times in one reply, every %u bytes", chant->times,
                      chant->distance);
  mend__saying_next(&saying);
  mend__buffer_str(&saying.text, MEND_STR("[{\"text\":"));
  mend__buffer_json_string(&saying.text, (mend_str){chant->piece, sizeof chant->piece});
  mend__buffer_printf(&saying.text, ",\"times\":%u,\"distance\":%u}]", chant->times, chant->distance);
  return emit(&saying, emitter, &detection);
}

static mend_status tell_monologue(const mend_allocator *allocator, const mend_event *event,
                                  const mend__monologue *monologue, mend_emitter *emitter) {
  char digits[MEND__CALL_DIGITS];
  mend_detection detection = about(event, "monologue", monologue->times, MEND__MONOLOGUE_TIMES - 1, digits);
  detection.confidence = 0.8;
  detection.steer = MEND_STR("do what the message says with a tool, ask the person, or end the task");
  mend__saying saying;
  mend__saying_init(&saying, allocator);
  mend__buffer_printf(&saying.text, "the model has said the same message %u times and called no tool",
                      monologue->times);
  mend__saying_next(&saying);
  mend__buffer_printf(&saying.text, "[{\"hash\":\"%016llx\",\"bytes\":%llu,\"times\":%u}]",
                      (unsigned long long)monologue->message.hash, (unsigned long long)monologue->message.len,
                      monologue->times);
  return emit(&saying, emitter, &detection);
}

static mend_status tell_compaction(const mend_allocator *allocator, const mend_event *event,
                                   const mend__compaction *compaction, mend_emitter *emitter) {
  char digits[MEND__CALL_DIGITS];
  mend_detection detection = about(event, "compaction", compaction->times, MEND__COMPACTION_TIMES - 1, digits);
  detection.confidence = 0.9;
  detection.steer = MEND_STR("shortening does not help any more: drop large results, or go on in a new session with a "
                             "summary");
  mend__saying saying;
  mend__saying_init(&saying, allocator);
  mend__buffer_printf(&saying.text, "the context was shortened %u times in a row by less than a tenth",
                      compaction->times);
  mend__saying_next(&saying);
  mend__buffer_printf(&saying.text, "[{\"before\":%llu,\"after\":%llu,\"times\":%u}]",
                      (unsigned long long)compaction->before, (unsigned long long)compaction->after, compaction->times);
  return emit(&saying, emitter, &detection);
}

mend_status mend__loop_talk_event(mend__loop_talk *talk, const mend_event *event, mend_emitter *emitter) {
  const mend_allocator *allocator = talk->chanting.allocator;
  mend__chant chant;
  bool has_chant;
  mend_status status = mend__chanting_event(&talk->chanting, event, &has_chant, &chant);
  if (status == MEND_OK && has_chant) status = tell_chant(allocator, event, &chant, emitter);
  if (mend__monologue_event(&talk->monologue, event)) {
    const mend_status told = tell_monologue(allocator, event, &talk->monologue, emitter);
    if (status == MEND_OK) status = told;
  }
  if (mend__compaction_event(&talk->compaction, event)) {
    const mend_status told = tell_compaction(allocator, event, &talk->compaction, emitter);
    if (status == MEND_OK) status = told;
  }
  return status;
}

void mend__loop_talk_reset(mend__loop_talk *talk) {
  const mend_allocator *allocator = talk->chanting.allocator;
  mend__chanting_reset(&talk->chanting);
  *talk = (mend__loop_talk){.chanting.allocator = allocator};
}
