#include "program/stage/incident_numbers.h"

#include "core/memory.h"
#include "program/base/plain.h"

void incident_numbers_init(incident_numbers *of) {
  of->count = 0;
  mend__strmap_init(&of->by_key, NULL);
  mend__buffer_init(&of->key, NULL);
}

void incident_numbers_free(incident_numbers *of) {
  for (size_t i = 0; i < of->count; i++)
    mend__free(NULL, of->each[i]);
  mend__strmap_free(&of->by_key);
  mend__buffer_free(&of->key);
}

static void append_parts(mend__buffer *key, const mend_str *parts, size_t count) {
  for (size_t i = 0; i < count; i++) {
    mend__buffer_str(key, parts[i]);
    mend__buffer_char(key, '\0');
  }
}

/* A watchdog that does not say what its incidents are reports one for each tool and arguments. */
static mend_status write_key(mend__buffer *key, const replay_detection *found) {
  const mend_detection *detection = found->detection;
  char hash[MEND_HASH_TEXT_SIZE];
  mend_hash_format(found->args_hash, hash);
  const mend_str named[] = {detection->run_id, detection->detector, detection->incident};
  const mend_str unnamed[] = {detection->run_id, detection->detector, detection->reason, detection->tool_name,
                              mend_str_from(hash)};
  mend__buffer_clear(key);
  if (detection->incident.len > 0) {
    append_parts(key, named, sizeof named / sizeof named[0]);
  } else {
    append_parts(key, unnamed, sizeof unnamed / sizeof unnamed[0]);
  }
  return key->failed ? MEND_ENOMEM : MEND_OK;
}

static mend_status add(incident_numbers *of, const mend_detection *detection, numbered_incident **ret_incident) {
  numbered_incident *new = mend__alloc_zero(NULL, sizeof *new + of->key.len);
  if (new == NULL) return MEND_ENOMEM;
  new->number = of->count + 1;
  plain_keep(new->tool, sizeof new->tool, detection->tool_name);
  plain_keep(new->reason, sizeof new->reason, detection->reason);
  memcpy(new->key, of->key.data, of->key.len);
  const mend_status status = mend__strmap_put(&of->by_key, (mend_str){new->key, of->key.len}, new);
  if (status != MEND_OK) {
    mend__free(NULL, new);
    return status;
  }
  of->each[of->count++] = new;
  *ret_incident = new;
  return MEND_OK;
}

mend_status incident_numbers_take(incident_numbers *of, replay_detection *found, numbered_incident **ret_incident) {
  if (write_key(&of->key, found) != MEND_OK) return MEND_ENOMEM;
  *ret_incident = mend__strmap_get(&of->by_key, mend__buffer_text(&of->key));
  found->again = *ret_incident != NULL;
  mend_status status = MEND_OK;
  if (!found->again && of->count < INCIDENTS_MAX) status = add(of, found->detection, ret_incident);
  found->incident = *ret_incident != NULL ? (*ret_incident)->number : 0;
  return status;
}
