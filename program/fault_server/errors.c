#include "program/fault_server/errors.h"

#include "program/fault_server/wordings.h"

#include <stdio.h>

static const char html[] = "<!DOCTYPE html>\n<html><head><title>Bad Gateway</title></head>\n"
                           "<body><center><h1>Bad Gateway</h1></center></body></html>\n";

static void put_wording(error_reply *made, const reply_facts *facts, const char *name) {
  const mend_str vendor = text_of(&facts->plan->vendor);
  const wording *words =
      vendor.len > 0 ? wording_find(name, vendor) : wording_nearest(name, facts->asked->dialect->vendor);
  if (words == NULL) words = wording_nearest(name, "openai");
  const wording_facts braces = {text_of(&facts->asked->model), facts->asked->key, text_of(&facts->plan->retry_info)};
  made->status = words->status;
  made->header = words->header;
  wording_write(words, &braces, &made->body);
}

static void put_status(error_reply *made, const reply_facts *facts) {
  char message[64];
  const int len = snprintf(message, sizeof message, "The fault server was asked for status %u.", facts->plan->status);
  facts->asked->dialect->error(facts->plan->status, (mend_str){message, (size_t)len}, &made->body);
}

static void replace_body(error_reply *made, const char *content_type, mend_str body) {
  mend__buffer_clear(&made->body);
  mend__buffer_str(&made->body, body);
  made->content_type = content_type;
}

/* From the weakest to the strongest: a provider's words, a page, a body, a status. */
void error_reply_make(error_reply *made, const reply_facts *facts) {
  const fault_plan *plan = facts->plan;
  const bool has_own_form = plan->html || plan->body.len > 0 || plan->status != 0;
  *made = (error_reply){.status = plan->html ? 502 : 500, .content_type = "application/json"};
  mend__buffer_init(&made->body, NULL);
  if (plan->wording != NULL || plan->waits || !has_own_form) {
    put_wording(made, facts, plan->wording != NULL ? plan->wording : plan->waits ? "rate_limit" : "overloaded");
  } else {
    put_status(made, facts);
  }
  if (plan->html) replace_body(made, "text/html", mend_str_from(html));
  if (plan->body.len > 0) replace_body(made, "application/json", text_of(&plan->body));
  if (plan->status != 0) made->status = plan->status;
  if (plan->error_200) made->status = 200;
}

void error_reply_free(error_reply *made) { mend__buffer_free(&made->body); }
