/* What a request asks for, in whichever dialect. */
#ifndef MEND_PROGRAM_FAULT_SERVER_QUESTION_H
#define MEND_PROGRAM_FAULT_SERVER_QUESTION_H

#include "program/fault_server/http_request.h"
#include "program/fault_server/text_list.h"

struct dialect;

typedef enum question_kind {
  QUESTION_ASK,    /* a reply of a model */
  QUESTION_COUNT,  /* how many tokens that would be */
  QUESTION_MODELS, /* which models there are */
  QUESTION_NONE    /* a path that is not known */
} question_kind;

typedef struct question {
  question_kind kind;
  const struct dialect *dialect; /* never NULL */
  uint64_t number;               /* of the request, from 1: identifiers are made from it */
  bool old_http;                 /* it cannot take chunks */
  bool head_only;                /* HEAD: no body */
  bool stream, log_probs, usage;
  mend__buffer model, text; /* text: the last user message */
  text_list tools;          /* names */
  mend_str key;             /* borrowed from the request */
} question;

void question_init(question *asked);
void question_free(question *asked);
/* path: without faults in front and query behind. A body that cannot be read gives a question with nothing in it. */
void question_read(question *asked, const http_request *request, mend_str path, mend_str query);
bool question_failed(const question *asked);

#endif
