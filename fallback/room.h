/* House header: what the rooms above ask of models beside mend/model.h. */
#ifndef MEND_FALLBACK_ROOM_H
#define MEND_FALLBACK_ROOM_H

#include "mend/loop.h"
#include "mend/model.h"

/* Where a model's answers arrive. Borrowed, valid as long as the model. */
mend_loop *mend__model_loop(const mend_model *model);

/* Who asks and waits, and wants to hear or to end it meanwhile. Absent members are not told. */
typedef struct mend__asking {
  void (*delta)(void *ctx, const mend_delta *delta); /* on the loop's thread */
  void (*sent)(void *ctx, mend_exchange *exchange);  /* here, before it is waited for; the exchange is borrowed */
  void *ctx;
} mend__asking;
/* As mend_model_ask; ret_reply->usage is what a failure has cost. */
mend_status mend__model_ask(mend_model *model, const mend_model_request *request, const mend__asking *asking,
                            mend_reply *ret_reply, mend_error *error);

#endif
