/* A script: which requests get which faults and replies, as a JSON file. */
#ifndef MEND_PROGRAM_FAULT_SERVER_SCRIPT_H
#define MEND_PROGRAM_FAULT_SERVER_SCRIPT_H

#include "mend/json.h"

/**
 *   {"rules": [
 *     {"match": {"nth": [1, 3]}, "faults": "status=503"},
 *     {"match": {"model": "gpt-*", "path": "*chat*", "key": "sk-2", "nth": 4}, "faults": ["body={\"a\":1,\"b\":2}"]},
 *     {"reply": {"text": "fine"}}
 *   ]}
 * The first rule that matches is used. Everything in "match" must hold, nothing need be there; path and model are
 * patterns with * and ?. nth counts, from 1, the requests for which the rest of the rule's match holds and that no
 * earlier rule took; [2, null] has no end.
 * faults: a list as in a URL, or an array of faults, each as it is. reply: see given.h.
 */
typedef struct script script;
/* The text is copied. Errors: MEND_ESYNTAX and MEND_EINVAL with line and column, MEND_ENOMEM. */
mend_status script_new(mend_str text, script **ret_script, mend_error *error);
/* NULL is allowed. */
void script_free(script *of);

typedef struct script_request {
  mend_str path, model, key;
} script_request;
typedef struct script_choice {
  mend_str faults; /* JSON string or array; absent: none */
  mend_str reply;  /* JSON object; absent: none */
} script_choice;
/* Which rule there is for a request, and counts it. Borrowed from the script. */
script_choice script_choose(script *of, const script_request *request);

#endif
