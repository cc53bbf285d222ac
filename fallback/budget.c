#include "fallback/budget.h"

#include <stdio.h>

enum {
  BYTES_PER_TOKEN = 3, /* rather too few, so that the room is enough */
  TOKENS_PER_IMAGE = 2000,
  TOKENS_OF_REPLY = 4096 /* when the request names no limit */
};

/* ---- How many tokens a request is, about ---- */

static uint64_t part_bytes(const mend_part *part) {
  if (part->kind == MEND_PART_IMAGE) return (uint64_t)TOKENS_PER_IMAGE * BYTES_PER_TOKEN;
  return part->text.len + part->call_id.len + part->name.len + part->args.len;
}

static uint64_t message_bytes(const mend_messages *messages) {
  uint64_t bytes = 0;
  mend_role role;
  const mend_part *parts;
  size_t count;
  for (size_t i = 0; mend_messages_get(messages, i, &role, &parts, &count) == MEND_OK; i++) {
    for (size_t k = 0; k < count; k++)
      bytes += part_bytes(&parts[k]);
  }
  return bytes;
}

static uint64_t tool_bytes(const mend_model_request *request) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < request->tool_count; i++)
    bytes += request->tools[i].name.len + request->tools[i].description.len + request->tools[i].schema.len;
  return bytes;
}

static mend_usage usage_at_most(const mend_model_request *request) {
  const uint64_t bytes = message_bytes(request->messages) + tool_bytes(request);
  return (mend_usage){.input = (bytes + BYTES_PER_TOKEN - 1) / BYTES_PER_TOKEN,
                      .output = request->max_tokens != 0 ? request->max_tokens : TOKENS_OF_REPLY,
                      .cached_input = MEND_NONE,
                      .reasoning = MEND_NONE};
}

/* ---- Room, and what is spent ---- */

double mend__budget_left_usd(const mend__budget *budget) { return budget->limit_usd - budget->spent_usd; }

/* Of a model without a price nobody knows what it costs: it is asked as long as anything is left. */
bool mend__budget_allows(mend__budget *budget, const mend_model_request *request, const mend_model_facts *facts) {
  if (budget->limit_usd == 0) return true;
  const mend_usage usage = usage_at_most(request);
  const double usd = mend_model_cost_usd(facts, &usage);
  budget->asked_usd = usd == usd ? usd : 0;
  return mend__budget_left_usd(budget) > 0 && budget->asked_usd <= mend__budget_left_usd(budget);
}

void mend__budget_sentence(const mend__budget *budget, char ret_sentence[MEND__BUDGET_SENTENCE_MAX]) {
  snprintf(ret_sentence, MEND__BUDGET_SENTENCE_MAX,
           "asking it may cost up to %.6g US dollars, of max_cost_usd %.6g are left", budget->asked_usd,
           mend__budget_left_usd(budget));
}

void mend__budget_settle(mend__budget *budget, const mend__budget *of_attempt, const mend_usage *usage,
                         const mend_model_facts *facts) {
  const double usd = mend_model_cost_usd(facts, usage);
  budget->spent_usd += usd > of_attempt->spent_usd ? usd : of_attempt->spent_usd;
  budget->attempts += of_attempt->attempts;
}
