#include "core/json_kind.h"
#include "core/options_size.h"
#include "core/texts.h"
#include "metacognition/metacognition_internal.h"

/* An enriched text is a result, for which a reader of journals has one level less than for a document; its members
 * have one less again. */
enum { PART_DEPTH = MEND_JSON_DEPTH_MAX - 2 };

/* ---- Its texts ---- */

void mend_enriched_clear(mend_enriched *enriched) {
  if (enriched == NULL) return;
  mend__texts_free(&enriched->memory);
  const size_t size = enriched->size;
  *enriched = (mend_enriched)MEND_ENRICHED_INIT;
  enriched->size = size;
}

mend_status mend_enriched_set(mend_enriched *enriched, mend_str *member, mend_str text) {
  if (enriched == NULL || member == NULL) return MEND_EINVAL;
  return mend__texts_set(&enriched->memory, enriched->allocator, member, text);
}

void mend__enriched_move(mend_enriched *to, mend_enriched *from) {
  mend_enriched_clear(to);
  const size_t size = to->size;
  *to = *from;
  to->size = size;
  *from = (mend_enriched)MEND_ENRICHED_INIT;
}

mend_status mend__enriched_set_written(mend_enriched *enriched, mend_str *member, mend__buffer *text) {
  if (text->failed) return MEND_ENOMEM;
  const mend_str written = {text->len > 0 ? text->data : NULL, text->len};
  const mend_status status = mend_enriched_set(enriched, member, written);
  mend__buffer_clear(text);
  return status;
}

/* ---- Reading ---- */

mend_status mend__enriched_scan(mend_str result, mend__json_member ret_members[MEND__ENRICHED_MEMBERS]) {
  const mend__json_member wanted[MEND__ENRICHED_MEMBERS] = {
      [MEND__ENRICHED_OUTPUT] = {.name = MEND_STR("output")},
      [MEND__ENRICHED_CONFIDENCE] = {.name = MEND_STR("confidence")},
      [MEND__ENRICHED_TARGETS] = {.name = MEND_STR("uncertainty_targets")},
      [MEND__ENRICHED_BOUNDARY] = {.name = MEND_STR("capability_boundary")},
      [MEND__ENRICHED_PROTOCOL] = {.name = MEND_STR("protocol_name")},
      [MEND__ENRICHED_METADATA] = {.name = MEND_STR("metadata")},
  };
  memcpy(ret_members, wanted, sizeof wanted);
  const mend_status status = mend__json_members_read(result, ret_members, MEND__ENRICHED_MEMBERS, NULL);
  if (status != MEND_OK) return status;
  const bool has_output = ret_members[MEND__ENRICHED_OUTPUT].value.ptr != NULL;
  const bool is_named = mend__json_inside(ret_members[MEND__ENRICHED_PROTOCOL].value).len > 0;
  return has_output && is_named ? MEND_OK : MEND_ENOENT;
}

mend_status mend__enriched_take(const mend__json_member members[MEND__ENRICHED_MEMBERS], mend_enriched *enriched) {
  mend__buffer text;
  mend__buffer_init(&text, enriched->allocator);
  enriched->confidence = mend__said_confidence(members[MEND__ENRICHED_CONFIDENCE].value);
  mend__said_strings(members[MEND__ENRICHED_TARGETS].value, &text);
  mend_status status = mend__enriched_set_written(enriched, &enriched->uncertainty_targets, &text);
  mend__json_append(&text, members[MEND__ENRICHED_BOUNDARY].value);
  if (status == MEND_OK) status = mend__enriched_set_written(enriched, &enriched->capability_boundary, &text);
  mend__json_append(&text, members[MEND__ENRICHED_PROTOCOL].value);
  if (status == MEND_OK) status = mend__enriched_set_written(enriched, &enriched->protocol_name, &text);
  const mend_str metadata = members[MEND__ENRICHED_METADATA].value;
  if (status == MEND_OK && mend__json_is_object(metadata)) {
    status = mend_enriched_set(enriched, &enriched->metadata, metadata);
  }
  mend__buffer_free(&text);
  return status;
}

mend_status mend_enriched_read(mend_str result, const mend_allocator *allocator, mend_enriched *ret_enriched) {
  if (ret_enriched == NULL || ret_enriched->size < sizeof *ret_enriched) return MEND_EINVAL;
  mend__json_member members[MEND__ENRICHED_MEMBERS];
  mend_status status = mend__enriched_scan(result, members);
  if (status != MEND_OK) return status;
  mend_enriched read = MEND_ENRICHED_INIT;
  read.allocator = allocator;
  status = mend_enriched_set(&read, &read.output, members[MEND__ENRICHED_OUTPUT].value);
  if (status == MEND_OK) status = mend__enriched_take(members, &read);
  if (status == MEND_OK) {
    mend__enriched_move(ret_enriched, &read);
  } else {
    mend_enriched_clear(&read);
  }
  return status;
}

double mend_enriched_confidence(void *ctx, const mend_subtask *subtask, const mend_result *result) {
  (void)ctx;
  (void)subtask;
  mend__json_member members[MEND__ENRICHED_MEMBERS];
  if (result == NULL || mend__enriched_scan(result->value, members) != MEND_OK) return MEND_NAN;
  return mend__said_confidence(members[MEND__ENRICHED_CONFIDENCE].value);
}

/* ---- Writing ---- */

static mend_status check_strings(mend_str array, mend_error *error) {
  mend_json json;
  mend_json_init(&json, array, PART_DEPTH);
  if (mend_json_next(&json) == MEND_JSON_ARRAY) {
    while (mend_json_next(&json) == MEND_JSON_STRING)
      continue;
    if (json.token == MEND_JSON_ARRAY_END && mend_json_next(&json) == MEND_JSON_END) return MEND_OK;
  }
  return mend_error_set(error, MEND_ESYNTAX, "uncertainty_targets: %.*s, expected a JSON array of strings",
                        MEND_STR_ARG(array));
}

static mend_status check_object(mend_str object, mend_error *error) {
  if (mend__json_kind(object) == MEND_JSON_OBJECT) return mend_json_check(object, PART_DEPTH, error);
  return mend_error_set(error, MEND_ESYNTAX, "metadata: %.*s, expected a JSON object", MEND_STR_ARG(object));
}

mend_status mend__enriched_check(const mend_enriched *enriched, mend_error *error) {
  mend_status status = MEND_OK;
  if (enriched->protocol_name.len == 0)
    status = mend_error_set(error, MEND_EINVAL, "protocol_name: none, expected one");
  if (status == MEND_OK && enriched->output.ptr != NULL) status = mend_json_check(enriched->output, PART_DEPTH, error);
  if (status == MEND_OK && enriched->uncertainty_targets.ptr != NULL) {
    status = check_strings(enriched->uncertainty_targets, error);
  }
  if (status == MEND_OK && enriched->metadata.ptr != NULL) status = check_object(enriched->metadata, error);
  return status;
}

static void write_json(mend__buffer *text, const char *key, mend_str json, const char *when_absent) {
  mend__buffer_str(text, mend_str_from(key));
  mend__buffer_str(text, json.ptr != NULL ? json : mend_str_from(when_absent));
}

static void write_text(mend__buffer *text, const char *key, mend_str value) {
  mend__buffer_str(text, mend_str_from(key));
  mend__buffer_json_text(text, value);
}

static void write_enriched(mend__buffer *text, const mend_enriched *enriched) {
  write_json(text, "{\"output\":", enriched->output, "null");
  mend__buffer_str(text, MEND_STR(",\"confidence\":"));
  mend__buffer_f64(text, mend__clamp_confidence(enriched->confidence));
  write_json(text, ",\"uncertainty_targets\":", enriched->uncertainty_targets, "[]");
  write_text(text, ",\"capability_boundary\":", enriched->capability_boundary);
  write_text(text, ",\"protocol_name\":", enriched->protocol_name);
  write_json(text, ",\"metadata\":", enriched->metadata, "{}");
  mend__buffer_char(text, '}');
}

mend_status mend_enriched_write(const mend_enriched *given, const mend_allocator *allocator, char **ret_json,
                                size_t *ret_len) {
  mend_enriched enriched = MEND_ENRICHED_INIT;
  if (given == NULL) return MEND_EINVAL;
  mend_status status = mend__options_take(&enriched, given, "mend_enriched", NULL);
  if (status == MEND_OK) status = mend__enriched_check(&enriched, NULL);
  if (status != MEND_OK) return status;
  mend__buffer text;
  mend__buffer_init(&text, allocator);
  write_enriched(&text, &enriched);
  return mend__buffer_take(&text, ret_json, ret_len);
}
