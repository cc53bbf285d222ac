#include "program/doctor/models.h"

#include "fallback/provider.h"
#include "program/doctor/provider.h"

#include <stdlib.h>

typedef struct office {
  doctor_sheet *sheet;
  const doctor_models *asked;
  mend_fallback_options options; /* its loop, endpoints, ... */
  mend__http *http;
  doctor_provider *providers; /* room for as many as there are models */
  size_t count;
} office;

/* ---- Keys ---- */

/* Whether there is one where one is needed. */
static bool check_key(const office *o, const char *name, const mend__dialect *dialect) {
  const char *variable = doctor_find_variable(dialect);
  char advice[256];
  if (variable == NULL && dialect->needs_key) {
    snprintf(advice, sizeof advice, "Set %s.", dialect->variables[0]);
    doctor_say(o->sheet, DOCTOR_PROBLEM, name, advice, "there is no key for %s", dialect->provider);
    return false;
  }
  const char *key = variable != NULL ? getenv(variable) : NULL;
  if (key != NULL && mend__key_is_odd(key)) {
    doctor_say(o->sheet, DOCTOR_PROBLEM, name, "Copy it again, without the line end.",
               "the key in %s has blanks, line ends or characters in it that no key has", variable);
    return false;
  }
  return true;
}

/* ---- Models ---- */

static const char *base_url_of(const office *o, const mend__dialect *dialect) {
  for (size_t i = 0; i < o->asked->endpoint_count; i++) {
    if (strcmp(o->asked->endpoints[i].provider, dialect->provider) == 0) return o->asked->endpoints[i].base_url;
  }
  return dialect->base_url;
}

/* A URL that is refused may have a password in it: it is not shown. */
static bool check_base_url(const office *o, const char *name, const mend__dialect *dialect) {
  const char *base_url = base_url_of(o, dialect);
  mend_error error = MEND_ERROR_INIT;
  if (base_url == NULL) {
    doctor_say(o->sheet, DOCTOR_PROBLEM, name, "Give it with --base-url compatible=URL.", "it needs a base URL");
    return false;
  }
  if (mend__base_url_check(base_url, &error) == MEND_OK) return true;
  doctor_say(o->sheet, DOCTOR_PROBLEM, name, "Correct --base-url.", "%s", error.message);
  return false;
}

static bool check_model(const office *o, const char *name, const mend__dialect *dialect) {
  mend_model *model = NULL;
  mend_error error = MEND_ERROR_INIT;
  if (dialect != NULL && !check_key(o, name, dialect)) return false;
  if (mend_model_open(name, &o->options, &model, &error) != MEND_OK) {
    doctor_say(o->sheet, DOCTOR_PROBLEM, name, NULL, "%s", error.message);
    return false;
  }
  mend_model_release(model);
  const char *variable = dialect != NULL ? doctor_find_variable(dialect) : NULL;
  if (variable != NULL) {
    doctor_say(o->sheet, DOCTOR_OK, name, NULL, "its key is in %s", variable);
  } else {
    doctor_say(o->sheet, DOCTOR_OK, name, NULL, dialect != NULL ? "it has no key" : "its script can be played");
  }
  return true;
}

/* ---- Providers ---- */

/* Each is asked once. */
static mend_status find_provider(office *o, const mend__dialect *dialect, doctor_provider **ret_provider,
                                 mend_error *error) {
  for (size_t i = 0; i < o->count; i++) {
    *ret_provider = &o->providers[i];
    if (o->providers[i].dialect == dialect) return MEND_OK;
  }
  *ret_provider = &o->providers[o->count++];
  **ret_provider = (doctor_provider){.dialect = dialect, .base_url = base_url_of(o, dialect)};
  if (o->asked->offline) {
    doctor_say(o->sheet, DOCTOR_NOT_CHECKED, dialect->provider, NULL, "%s (--offline)", (*ret_provider)->base_url);
    return MEND_OK;
  }
  return doctor_check_provider(o->sheet, *ret_provider, o->options.loop, o->http, o->asked->limit_s, error);
}

/* ---- The whole ---- */

static mend_status check(office *o, const char *name, mend_error *error) {
  const char *colon = strchr(name, ':');
  const mend__dialect *dialect = colon != NULL ? mend__dialect_find((mend_str){name, (size_t)(colon - name)}) : NULL;
  doctor_provider *asked = NULL;
  if (dialect != NULL && !check_base_url(o, name, dialect)) return MEND_OK;
  const bool is_fine = check_model(o, name, dialect);
  if (dialect == NULL) return MEND_OK;
  const mend_status status = find_provider(o, dialect, &asked, error);
  if (status == MEND_OK && is_fine && asked->has_list && !doctor_may_have(asked, colon + 1)) {
    doctor_say(o->sheet, DOCTOR_WARNING, name, "Check its name; a key may also be kept from some models.",
               "it is not in the provider's list of models");
  }
  return status;
}

static mend_status open_office(office *o, mend_error *error) {
  const doctor_models *asked = o->asked;
  mend_status status = mend_loop_new(NULL, &o->options.loop, error);
  if (status != MEND_OK) return status;
  o->options.keys_from_environment = true;
  o->options.endpoints = asked->endpoints;
  o->options.endpoint_count = asked->endpoint_count;
  o->options.proxy = asked->proxy;
  o->options.ca_file = asked->ca_file;
  o->providers = calloc(asked->count, sizeof *o->providers);
  if (o->providers == NULL) return mend_error_set(error, MEND_ENOMEM, "%s", mend_status_message(MEND_ENOMEM));
  const mend__http_options http = {.loop = o->options.loop, .proxy = asked->proxy, .ca_file = asked->ca_file};
  return mend__http_new(&http, &o->http, error);
}

static void close_office(office *o) {
  for (size_t i = 0; i < o->count; i++)
    visit_free(&o->providers[i].visit);
  free(o->providers);
  mend__http_release(o->http);
  mend_loop_release(o->options.loop);
}

mend_status doctor_check_models(doctor_sheet *sheet, const doctor_models *models, mend_error *error) {
  office o = {.sheet = sheet, .asked = models, .options = MEND_FALLBACK_OPTIONS_INIT};
  if (models->count == 0) {
    doctor_say(sheet, DOCTOR_NOT_CHECKED, "models", NULL,
               "none was named: mend doctor openai:gpt-4.1, or --config FILE with fallback.models");
    return MEND_OK;
  }
  mend_status status = open_office(&o, error);
  for (size_t i = 0; i < models->count && status == MEND_OK; i++)
    status = check(&o, models->names[i], error);
  close_office(&o);
  return status;
}
