#include "program/doctor/models.h"

#include "fallback/provider.h"
#include "program/doctor/model_list.h"
#include "program/doctor/provider.h"

#include <stdlib.h>

/* What is known of a provider once a model of it was looked at. */
typedef struct desk {
  doctor_provider provider;
  const char *first; /* model that was, which has all that is wrong with the provider told under its name */
  bool is_right;     /* its base URL and its key are */
  bool may_be_asked; /* also without a key: it may answer all the same */
  bool is_asked;
} desk;

typedef struct office {
  doctor_sheet *sheet;
  const doctor_models *asked;
  mend_fallback_options options; /* its loop, endpoints, ... */
  mend__http *http;
  desk *desks; /* room for as many as there are models */
  size_t count;
} office;

/* ---- Keys and base URLs ---- */

/* Whether there is one where one is needed. */
static bool has_key(const office *o, const char *name, const mend__dialect *dialect) {
  char advice[256];
  if (!dialect->needs_key || doctor_find_variable(dialect) != NULL) return true;
  snprintf(advice, sizeof advice, "Set %s.", dialect->variables[0]);
  doctor_say(o->sheet, DOCTOR_PROBLEM, name, advice, "there is no key for %s", dialect->provider);
  return false;
}

static bool check_key(const office *o, const char *name, const mend__dialect *dialect) {
  const char *key = doctor_find_key(dialect);
  if (key == NULL || !mend__key_is_odd(key)) return true;
  doctor_say(o->sheet, DOCTOR_PROBLEM, name, "Copy it again, without the line end.",
             "the key in %s has blanks, line ends or characters in it that no key has", doctor_find_variable(dialect));
  return false;
}

static const char *base_url_of(const office *o, const mend__dialect *dialect) {
  for (size_t i = 0; i < o->asked->endpoint_count; i++) {
    if (strcmp(o->asked->endpoints[i].provider, dialect->provider) == 0) return o->asked->endpoints[i].base_url;
  }
  return dialect->base_url;
}

/* A URL that is refused may have a password in it: it is not shown. */
static bool check_base_url(const office *o, const char *name, const char *base_url) {
  mend_error error = MEND_ERROR_INIT;
  if (base_url == NULL) {
    doctor_say(o->sheet, DOCTOR_PROBLEM, name, "Give it with --base-url compatible=URL.", "it needs a base URL");
    return false;
  }
  if (mend__base_url_check(base_url, &error) == MEND_OK && mend__http_check(o->http, base_url, &error) == MEND_OK)
    return true;
  doctor_say(o->sheet, DOCTOR_PROBLEM, name, "Correct --base-url.", "%s", error.message);
  return false;
}

/* ---- Providers ---- */

/* What is wrong with one is told once, by the first model of it. */
static desk *find_desk(office *o, const mend__dialect *dialect, const char *name) {
  for (size_t i = 0; i < o->count; i++) {
    if (o->desks[i].provider.dialect == dialect) return &o->desks[i];
  }
  desk *made = &o->desks[o->count++];
  *made = (desk){.first = name};
  made->provider.dialect = dialect;
  made->provider.base_url = base_url_of(o, dialect);
  made->provider.by_proxy = o->asked->proxy != NULL;
  made->may_be_asked = check_base_url(o, name, made->provider.base_url) && check_key(o, name, dialect);
  made->is_right = made->may_be_asked && has_key(o, name, dialect);
  return made;
}

/* Once. */
static mend_status ask(const office *o, desk *at, mend_error *error) {
  if (at->is_asked) return MEND_OK;
  at->is_asked = true;
  if (!o->asked->offline)
    return doctor_check_provider(o->sheet, &at->provider, o->options.loop, o->http, o->asked->limit_s, error);
  doctor_say(o->sheet, DOCTOR_NOT_CHECKED, at->provider.dialect->provider, NULL, "%s (--offline)",
             at->provider.base_url);
  return MEND_OK;
}

/* ---- Models ---- */

static bool check_model(const office *o, const char *name, const mend__dialect *dialect) {
  mend_model *model = NULL;
  mend_error error = MEND_ERROR_INIT;
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

static mend_status check_listed(const office *o, desk *at, const char *name, mend_error *error) {
  const mend_status status = ask(o, at, error);
  const mend_str list = mend__buffer_text(&at->provider.visit.body);
  if (status == MEND_OK && at->provider.has_list && !model_list_may_have(list, strchr(name, ':') + 1)) {
    doctor_say(o->sheet, DOCTOR_WARNING, name, "Check its name; a key may also be kept from some models.",
               "it is not in the provider's list of models");
  }
  return status;
}

static mend_status check(office *o, const char *name, mend_error *error) {
  const char *colon = strchr(name, ':');
  const mend__dialect *dialect = colon != NULL ? mend__dialect_find((mend_str){name, (size_t)(colon - name)}) : NULL;
  if (dialect == NULL) {
    check_model(o, name, NULL);
    return MEND_OK;
  }
  if (colon[1] == '\0') {
    doctor_say(o->sheet, DOCTOR_PROBLEM, name, "Name a model behind the colon.", "there is no model id in it");
    return MEND_OK;
  }
  desk *at = find_desk(o, dialect, name);
  if (at->is_right) return check_model(o, name, dialect) ? check_listed(o, at, name, error) : MEND_OK;
  if (at->first != name) doctor_say(o->sheet, DOCTOR_NOT_CHECKED, name, NULL, "first what is said of %s", at->first);
  return at->may_be_asked ? ask(o, at, error) : MEND_OK;
}

/* ---- The whole ---- */

static mend_status open_office(office *o, mend_error *error) {
  const doctor_models *asked = o->asked;
  mend_status status = mend_loop_new(NULL, &o->options.loop, error);
  if (status != MEND_OK) return status;
  o->options.keys_from_environment = true;
  o->options.endpoints = asked->endpoints;
  o->options.endpoint_count = asked->endpoint_count;
  o->options.proxy = asked->proxy;
  o->options.ca_file = asked->ca_file;
  o->desks = calloc(asked->count, sizeof *o->desks);
  if (o->desks == NULL) return mend_error_set(error, MEND_ENOMEM, "%s", mend_status_message(MEND_ENOMEM));
  const mend__http_options http = {.loop = o->options.loop, .proxy = asked->proxy, .ca_file = asked->ca_file};
  return mend__http_new(&http, &o->http, error);
}

static void close_office(office *o) {
  for (size_t i = 0; i < o->count; i++)
    visit_free(&o->desks[i].provider.visit);
  free(o->desks);
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
