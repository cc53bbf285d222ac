/* The four dialects: how a reply, its stream, an error and a list of models are written. */
#ifndef MEND_PROGRAM_FAULT_SERVER_DIALECT_H
#define MEND_PROGRAM_FAULT_SERVER_DIALECT_H

#include "program/fault_server/answer.h"
#include "program/fault_server/stream.h"

/* Everything a dialect may need to write one reply. */
typedef struct reply_facts {
  const question *asked;
  const fault_plan *plan;
  const answer *said;
} reply_facts;

typedef struct dialect {
  const char *vendor;                       /* in wordings */
  const char *messages_name, *content_name; /* the conversation in the body, and the content of a message */
  void (*whole)(const reply_facts *facts, mend__buffer *to);
  void (*stream)(const reply_facts *facts, stream *to);
  /* An error in the provider's form, for one that has no wording. */
  void (*error)(unsigned status, mend_str message, mend__buffer *to);
  /* What the body of such an error is as an event: `failed` as the end of a reply, where the dialect tells the two
   * apart. */
  void (*error_event)(const reply_facts *facts, mend_str body, bool failed, stream *to);
  const char *ping; /* the data of a ping event; NULL: it is a comment */
  void (*models)(mend__buffer *to);
  void (*count)(uint64_t tokens, mend__buffer *to);
} dialect;

extern const dialect dialect_chat, dialect_responses, dialect_anthropic, dialect_gemini;

/* When everything was created, in seconds since 1970: replies are the same every time. */
#define REPLY_CREATED UINT64_C(1767225600)

#endif
