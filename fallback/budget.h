/* Private to fallback/: what a request may cost: there has to be room for it before a model is asked, and what that
 * says it has used is spent. */
#ifndef MEND_FALLBACK_BUDGET_H
#define MEND_FALLBACK_BUDGET_H

#include "mend/model.h"

typedef struct mend__budget {
  double limit_usd; /* 0: there is none */
  double spent_usd; /* by the attempts of a chain, as far as prices are known */
  double asked_usd; /* the last that was to be allowed */
  uint32_t attempts;
} mend__budget;
/* Whether a target may be asked: there is room for what that costs at most. */
bool mend__budget_allows(mend__budget *budget, const mend_model_request *request, const mend_model_facts *facts);
double mend__budget_left_usd(const mend__budget *budget);
/* Takes off what an attempt has used: as it says, of a target with these facts; or, being a chain's, as its own
 * attempts have, when that is more. */
void mend__budget_settle(mend__budget *budget, const mend__budget *of_attempt, const mend_usage *usage,
                         const mend_model_facts *facts);

enum { MEND__BUDGET_SENTENCE_MAX = 160 };
/* Why the last one was not allowed. */
void mend__budget_sentence(const mend__budget *budget, char ret_sentence[MEND__BUDGET_SENTENCE_MAX]);

#endif
