/* What is told of a finding: a sentence, what it rests on, how sure it is and what might help. */
#include "watchdogs/evidence_loop_judge.h"
#include "watchdogs/saying.h"

#include <stdio.h>

typedef struct reason_words {
  const char *name;
  const char *what;  /* in the sentence, behind "bash was called 4 times " */
  double confidence; /* when it is known what the calls answered */
  const char *steer;
} reason_words;

static const reason_words reasons[] = {
    [MEND__LOOP_REPEAT] = {"repeat", "with the same arguments and the same answer", 0.9,
                           "asking again will not change the answer: use what it gave, or ask for something else"},
    [MEND__LOOP_REPEAT_ERROR] = {"repeat_error", "with the same arguments and the same error", 0.95,
                                 "it fails the same way each time: change what the error is about before trying again"},
    [MEND__LOOP_CYCLE] = {"cycle", "", 0.9,
                          "these calls lead back to where they began: decide with what they answered, or do something "
                          "that is not one of them"},
    [MEND__LOOP_SAME_ERROR] = {"same_error_moving_args", "with other arguments and the same error", 0.8,
                               "other arguments do not change this error: look for its cause instead"},
    [MEND__LOOP_EMPTY_RESULT] = {"empty_result_moving_args", "with other arguments and found nothing", 0.7,
                                 "there is nothing to be found this way: check that it exists, or look elsewhere"},
    [MEND__LOOP_SAME_RESULT] = {"empty_result_moving_args", "with other arguments and the same answer", 0.6,
                                "the answer does not depend on what is changed: use it, or look elsewhere"},
    [MEND__LOOP_UNKNOWN_TOOL] = {"unknown_tool", "and there is no such tool", 0.95,
                                 "there is no such tool: use one of those that are offered"},
    [MEND__LOOP_RETRY_STORM] = {"retry_storm", "while what it asks turns calls away", 0.9,
                                "the service needs time: wait longer before the next try, or do without it"},
    [MEND__LOOP_FROZEN_POLL] = {"frozen_poll", "and always gave the same answer", 0.8,
                                "one blocking wait instead of polling; check that what it waits for is still alive"},
    [MEND__LOOP_VERIFY_NO_PROGRESS] = {"verify_no_progress", "and failed alike, whatever was edited", 0.7,
                                       "the edits do not touch what fails: read the failure anew before the next one"},
};

/* Below one half, so that such an incident begins with a warning. */
#define UNSURE 0.4

static double confidence_of(const mend__loop_finding *finding) {
  const bool is_unsure = !finding->is_known || finding->is_idempotent || finding->may_be_poll;
  return is_unsure ? UNSURE : reasons[finding->reason].confidence;
}

/* ---- The sentence ---- */

static void write_round(mend__buffer *text, const mend__loop_finding *finding) {
  if (finding->period == 1) {
    mend__buffer_printf(text, "the same batch of calls came %u times", finding->count);
  } else {
    mend__buffer_printf(text, "the same %u steps went round %u times", finding->period, finding->count);
  }
  if (finding->is_known) mend__buffer_str(text, MEND_STR(" with the same answers"));
}

static void write_summary(mend__buffer *text, mend_str tool_name, const mend__loop_finding *finding) {
  if (finding->scope == MEND__LOOP_OF_ROUND) {
    write_round(text, finding);
    return;
  }
  const char *what =
      finding->is_known ? reasons[finding->reason].what : "with the same arguments; what came of it is unknown";
  mend__buffer_tool(text, tool_name);
  mend__buffer_printf(text, " was called %u times %s", finding->count, what);
}

/* ---- The evidence ---- */

enum { EVIDENCE_CALLS = 6 };

static bool rests_on(const mend__loop_finding *finding, const mend__loop_call *call, const mend__loop_shown *shown) {
  if (shown->is_retracted) return false;
  switch (finding->scope) {
  case MEND__LOOP_OF_PAIR: return mend_hash_equal(shown->pair, call->pair->key);
  case MEND__LOOP_OF_TOOL: return mend_hash_equal(shown->tool, call->tool->name);
  case MEND__LOOP_OF_ROUND: return true;
  }
  return false;
}

/* What was said, or its hash where that is all that is known. */
static void write_answer(mend__buffer *text, const mend__loop_shown *shown) {
  if (shown->excerpt_len > 0) {
    const bool is_error = mend__outcome_is_error(&shown->outcome);
    mend__buffer_str(text, is_error ? MEND_STR(",\"error\":") : MEND_STR(",\"result\":"));
    mend__buffer_json_string(text, (mend_str){shown->excerpt, shown->excerpt_len});
  } else if (!mend_hash_is_none(shown->outcome.hash)) {
    char hash[MEND_HASH_TEXT_SIZE];
    mend_hash_format(shown->outcome.hash, hash);
    mend__buffer_printf(text, ",\"hash\":\"%s\"", hash);
  }
}

/* Where the clock knows no time of day there is none to tell. */
static void write_time(mend__buffer *text, uint64_t wall_ns) {
  if (wall_ns == 0) {
    mend__buffer_str(text, MEND_STR("null"));
  } else {
    mend__buffer_seconds(text, wall_ns);
  }
}

static void write_shown(mend__buffer *text, const mend__loop_shown *shown) {
  char digits[MEND__CALL_DIGITS];
  mend__buffer_str(text, MEND_STR("{\"call_id\":"));
  mend__buffer_json_text(text, mend__call_text(shown->call, mend__kept_text_first(&shown->name), digits));
  mend__buffer_str(text, MEND_STR(",\"ts\":"));
  write_time(text, shown->wall_ns);
  mend__buffer_str(text, MEND_STR(",\"outcome\":"));
  mend__buffer_json_string(text, mend__outcome_word(shown->outcome.kind));
  write_answer(text, shown);
  mend__buffer_char(text, '}');
}

/* The latest calls before the one that begins, the oldest of them first. */
static void write_evidence(mend__buffer *text, const mend__loop_state *state, const mend__loop_call *call,
                           const mend__loop_finding *finding) {
  const mend__loop_shown *picked[EVIDENCE_CALLS];
  size_t count = 0;
  for (uint64_t number = state->shown_count - 1; number > 0 && count < EVIDENCE_CALLS; number--) {
    const mend__loop_shown *shown = mend__loop_shown_at(state, number);
    if (shown == NULL) break;
    if (rests_on(finding, call, shown)) picked[count++] = shown;
  }
  mend__buffer_char(text, '[');
  while (count > 0) {
    write_shown(text, picked[--count]);
    if (count > 0) mend__buffer_char(text, ',');
  }
  mend__buffer_char(text, ']');
}

/* ---- The rest ---- */

enum { REASON_SIZE = 32 };

static mend_str reason_of(const mend__loop_finding *finding, char room[REASON_SIZE]) {
  const char *name = reasons[finding->reason].name;
  if (finding->reason != MEND__LOOP_CYCLE) return mend_str_from(name);
  snprintf(room, REASON_SIZE, "%s%u", name, finding->period);
  return mend_str_from(room);
}

/* "repeat/bash/9f3c02d85bd7a4e1"; of a round, whose tools are several, "cycle2/b8f43a8f0586b56d" */
static void write_incident(mend__buffer *text, mend_str reason, mend_str tool_name, const mend__loop_finding *finding) {
  mend__buffer_str(text, reason);
  mend__buffer_char(text, '/');
  if (finding->scope != MEND__LOOP_OF_ROUND) {
    mend__buffer_tool(text, tool_name);
    mend__buffer_char(text, '/');
  }
  mend__buffer_printf(text, "%016llx", (unsigned long long)finding->identity);
}

static void write_payload(mend__buffer *text, const mend__loop_call *call, const mend__loop_finding *finding,
                          uint32_t n) {
  char hash[MEND_HASH_TEXT_SIZE];
  mend_hash_format(call->args_hash, hash);
  mend__buffer_str(text, MEND_STR("{\"tool_name\":"));
  mend__buffer_json_string(text, call->before->tool_name);
  mend__buffer_printf(text, ",\"args_hash\":\"%s\",\"count\":%u,\"limit\":%u,\"window_size\":%u}", hash, finding->count,
                      finding->limit, n);
}

mend_status mend__loop_report(const mend__loop_state *state, const mend__loop_call *call,
                              const mend__loop_finding *finding, mend_emitter *emitter) {
  char first[MEND__CALL_DIGITS], last[MEND__CALL_DIGITS], reason[REASON_SIZE];
  const mend_event *event = &call->before->event;
  mend_detection detection = MEND_DETECTION_INIT;
  detection.reason = reason_of(finding, reason);
  detection.severity = finding->count / (2.0 * finding->limit);
  detection.confidence = confidence_of(finding);
  detection.tool_name = call->before->tool_name;
  detection.first_call = mend__call_text(finding->first->call, mend__kept_text_first(&finding->first->name), first);
  detection.last_call = mend__call_text(event->call, event->call_name, last);
  detection.count = finding->count;
  detection.period = finding->period;
  detection.steer = mend_str_from(reasons[finding->reason].steer);

  mend__saying saying;
  mend__saying_init(&saying, state->watchdog->allocator);
  write_summary(&saying.text, detection.tool_name, finding);
  mend__saying_next(&saying);
  write_evidence(&saying.text, state, call, finding);
  mend__saying_next(&saying);
  write_incident(&saying.text, detection.reason, detection.tool_name, finding);
  mend__saying_next(&saying);
  write_payload(&saying.text, call, finding, state->watchdog->rules.n);
  return mend__saying_emit(&saying, emitter, &detection);
}
