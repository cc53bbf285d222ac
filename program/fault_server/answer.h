/* What the model says, before it is in any dialect: made from the question, so that it is the same every time. */
#ifndef MEND_PROGRAM_FAULT_SERVER_ANSWER_H
#define MEND_PROGRAM_FAULT_SERVER_ANSWER_H

#include "program/fault_server/plan.h"
#include "program/fault_server/question.h"

/* Stands in texts for three bytes that are no UTF-8: a character for private use, which answer_spoil replaces. */
#define ANSWER_INVALID_MARK "\xEE\x80\x80"

#define ANSWER_TOO_LARGE                                                                                               \
  "the reply would be too large (32 MiB, 250000 deltas): ask for less text, deltas, frames or tool_calls"

typedef enum answer_finish { ANSWER_STOP, ANSWER_LENGTH, ANSWER_CALLS, ANSWER_FILTER, ANSWER_FINISHES } answer_finish;

typedef struct answer {
  text_list thoughts, texts;                 /* deltas */
  text_list call_ids, call_names, call_args; /* as many of each */
  answer_finish finish;
  mend_str finish_word; /* absent: the dialect's own; borrowed from the plan */
  bool log_probs, usage;
  uint64_t input_tokens, output_tokens;
} answer;

void answer_init(answer *said);
void answer_free(answer *said);
/* Fills in what is to be said. given: what a script or a header wants said (given.h), and was checked; absent: the
 * words of the last user message. Errors: MEND_ELIMIT when it is too much, MEND_ENOMEM. */
mend_status answer_make(answer *said, const question *asked, const fault_plan *plan, mend_str given, mend_error *error);

/* The word for why it ended, of a dialect that has these. */
mend_str answer_finish_of(const answer *said, const char *const words[ANSWER_FINISHES]);
/* finish=refusal: dialects of OpenAI have the text as a refusal. */
bool answer_is_refusal(const answer *said);

/* Replaces each ANSWER_INVALID_MARK. */
void answer_spoil(mend__buffer *text);

/* Where the arguments of a call are cut into pieces; the last one ends at `args`' end. */
size_t answer_args_piece(mend_str args, size_t begin);
/* The log probability of a delta, in thousandths: from its bytes, so it is always the same. */
int answer_log_prob(mend_str text);

#endif
