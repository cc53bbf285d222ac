#include "program/doctor/provider.h"

#include "program/doctor/model_list.h"

#include <stdlib.h>

/* ---- Keys ---- */

const char *doctor_find_variable(const mend__dialect *dialect) {
  for (const char *const *each = dialect->variables; *each != NULL; each++) {
    const char *value = getenv(*each);
    if (value != NULL && value[0] != '\0') return *each;
  }
  return NULL;
}

const char *doctor_find_key(const mend__dialect *dialect) {
  const char *variable = doctor_find_variable(dialect);
  return variable != NULL ? getenv(variable) : NULL;
}

/* ---- Asking a provider ---- */

/* The headers a request of this dialect has. */
static mend_status write_headers(const mend__dialect *dialect, mend__wire *wire, mend_error *error) {
  mend_messages *messages;
  mend_model_request request = MEND_MODEL_REQUEST_INIT;
  mend_status status = mend_messages_new(NULL, &messages);
  if (status != MEND_OK) return status;
  status = mend_messages_add_user(messages, MEND_STR("hello"));
  request.messages = messages;
  if (status == MEND_OK)
    status = mend__dialect_write(dialect, &request, MEND_STR("any"), doctor_find_key(dialect), wire, error);
  mend_messages_free(messages);
  return status;
}

static mend_status ask(doctor_provider *asked, mend_loop *loop, mend__http *http, double limit_s, mend_error *error) {
  mend__wire wire;
  mend__buffer url;
  mend__wire_init(&wire, NULL);
  mend__buffer_init(&url, NULL);
  mend_str base = mend_str_from(asked->base_url);
  while (base.len > 0 && base.ptr[base.len - 1] == '/')
    base.len--;
  mend__buffer_printf(&url, "%.*s/models", MEND_STR_ARG(base));
  mend__buffer_char(&url, '\0');
  mend_status status = url.failed ? MEND_ENOMEM : write_headers(asked->dialect, &wire, error);
  if (status == MEND_OK) status = visit_url(loop, http, url.data, &wire, limit_s, &asked->visit, error);
  mend__buffer_free(&url);
  mend__wire_free(&wire);
  return status;
}

/* ---- What came of it ---- */

typedef struct fault_row {
  const char *fault, *sentence, *advice;
} fault_row;

/* The last one is for all others. */
static const fault_row *find_fault(const fault_row *rows, const char *fault) {
  while (rows->fault != NULL && strcmp(rows->fault, fault) != 0)
    rows++;
  return rows;
}

static const fault_row *fault_of(const doctor_provider *asked) {
  static const fault_row rows[] = {
      {"dns", "its name is not found", "Is this machine online? Else check the name, and this machine's resolver."},
      {"refused", "nothing listens there", "Start the server, or check host and port of the base URL."},
      {"connect_failed", "there is no way to it", "Is this machine online, and does it need --proxy URL?"},
      {"certificate", "its certificate is not trusted",
       "Check the clock and the package ca-certificates; a server with one of its own: --ca-file FILE."},
      {"timeout", "it does not answer in time",
       "Does this machine need --proxy URL? A longer wait: --timeout SECONDS."},
      {"stalled", "it begins to answer and does not come to an end in time", "A longer wait: --timeout SECONDS."},
      {"too_large", "its answer is too long for a list of models", "Check the base URL, which mostly ends in /v1."},
      {"malformed", "what it answers is not understood", "Is it a provider of models that listens there?"},
      {"no_descriptors", "it could not be asked", "Close files, or raise their limit: ulimit -n."},
      {NULL, "the connection broke off", "Try again; if it stays so, something on the way does not let it through."},
  };
  static const fault_row by_proxy[] = {
      {"dns", "the proxy's name is not found", "Check --proxy, and this machine's resolver."},
      {"refused", "nothing listens at the proxy's address", "Check --proxy."},
      {"connect_failed", "there is no way to it by the proxy", "Check --proxy, and what the proxy lets through."},
      {NULL, NULL, NULL},
  };
  const fault_row *row = asked->by_proxy ? find_fault(by_proxy, asked->visit.fault) : NULL;
  return row != NULL && row->fault != NULL ? row : find_fault(rows, asked->visit.fault);
}

static void say_fault(doctor_sheet *sheet, const doctor_provider *asked) {
  const fault_row *row = fault_of(asked);
  const char *message = asked->visit.message;
  doctor_say(sheet, DOCTOR_PROBLEM, asked->dialect->provider, row->advice, "%s: %s%s%s%s", asked->base_url,
             row->sentence, message[0] != '\0' ? " (" : "", message, message[0] != '\0' ? ")" : "");
}

/* Google answers 400 to a wrong key. */
static bool is_refusal(const doctor_provider *asked) {
  const uint32_t status = asked->visit.status;
  return status == 401 || status == 403 || (status == 400 && asked->dialect == &mend__dialect_google);
}

static void say_answer(doctor_sheet *sheet, const doctor_provider *asked, bool takes_key) {
  const uint64_t ms = asked->visit.ns / 1000000 + 1;
  doctor_say(sheet, DOCTOR_OK, asked->dialect->provider, NULL, "%s answers within %llu ms%s%s", asked->base_url,
             (unsigned long long)ms, strncmp(asked->base_url, "https", 5) == 0 ? ", over TLS" : "",
             takes_key ? ", and takes the key" : "");
}

static void say_trouble(doctor_sheet *sheet, const doctor_provider *asked) {
  static const struct {
    uint32_t first, last; /* status */
    doctor_state state;
    const char *sentence, *advice;
  } rows[] = {
      {201, 299, DOCTOR_WARNING, "has no list of models", "Check the base URL, which mostly ends in /v1."},
      {300, 399, DOCTOR_PROBLEM, "redirects", "Give the address it redirects to: mend follows no redirects."},
      {404, 405, DOCTOR_WARNING, "has no list of models", "Check the base URL, which mostly ends in /v1."},
      {402, 402, DOCTOR_WARNING, "wants money", "Look at the account's balance."},
      {429, 429, DOCTOR_WARNING, "takes no more requests", "Wait, or look at the account's limits."},
      {400, 499, DOCTOR_WARNING, "does not understand what it is asked",
       "Check the base URL: is it this provider's, and does it end as it should, mostly in /v1?"},
      {0, UINT32_MAX, DOCTOR_WARNING, "has trouble", "If it stays so, look at the provider's status page."},
  };
  const uint32_t status = asked->visit.status;
  size_t row = 0;
  while (status < rows[row].first || status > rows[row].last)
    row++;
  doctor_say(sheet, rows[row].state, asked->dialect->provider, rows[row].advice, "%s %s (status %u)", asked->base_url,
             rows[row].sentence, status);
}

/* Who answers with no list may not even have looked at the key. */
static void say_instead(doctor_sheet *sheet, const doctor_provider *asked, const char *instead) {
  doctor_say(sheet, DOCTOR_WARNING, asked->dialect->provider, "Check the base URL, which mostly ends in /v1.",
             "%s answers with %s, not with a list of models", asked->base_url, instead);
}

static void say_reply(doctor_sheet *sheet, doctor_provider *asked) {
  const char *variable = doctor_find_variable(asked->dialect);
  if (asked->visit.status == 200) {
    const char *instead = model_list_instead(mend__buffer_text(&asked->visit.body));
    asked->has_list = instead == NULL;
    if (instead != NULL) {
      say_instead(sheet, asked, instead);
    } else {
      say_answer(sheet, asked, variable != NULL);
    }
  } else if (!is_refusal(asked)) {
    say_trouble(sheet, asked);
  } else if (variable == NULL) {
    say_answer(sheet, asked, false);
  } else {
    doctor_say(sheet, DOCTOR_PROBLEM, asked->dialect->provider,
               "Make a new key, or check that it is one of this provider's.", "%s refuses the key in %s (status %u)",
               asked->base_url, variable, asked->visit.status);
  }
}

static void say_skew(doctor_sheet *sheet, const doctor_provider *asked) {
  enum { MUCH_S = 60 };
  const long long skew_s = asked->visit.skew_s;
  if (sheet->has_told_skew || (skew_s >= -MUCH_S && skew_s <= MUCH_S)) return;
  sheet->has_told_skew = true;
  doctor_say(sheet, DOCTOR_WARNING, "clock", "Set this machine's clock: dates in Retry-After would be misread.",
             "it is %lld s %s that of %s", skew_s > 0 ? skew_s : -skew_s, skew_s > 0 ? "ahead of" : "behind",
             asked->dialect->provider);
}

/* Whatever became of the rest of such a reply. */
static bool has_said_no(const doctor_provider *asked) { return asked->visit.status != 0 && asked->visit.status != 200; }

mend_status doctor_check_provider(doctor_sheet *sheet, doctor_provider *asked, mend_loop *loop, mend__http *http,
                                  double limit_s, mend_error *error) {
  const mend_status status = ask(asked, loop, http, limit_s, error);
  if (status == MEND_EINVAL) {
    doctor_say(sheet, DOCTOR_PROBLEM, asked->dialect->provider, NULL, "%s", error->message);
    return MEND_OK;
  }
  if (status != MEND_OK) return status;
  if (asked->visit.fault != NULL && !has_said_no(asked)) {
    say_fault(sheet, asked);
  } else {
    say_reply(sheet, asked);
    say_skew(sheet, asked);
  }
  return MEND_OK;
}
