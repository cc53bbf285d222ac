/* What agents say of themselves. */
#include "metacognition/metacognition_internal.h"

/* ---- A member, whatever its type ---- */

double mend__said_confidence(mend_str value) { return mend__clamp_confidence(mend__json_number(value)); }

static void add_string(mend__buffer *json, bool is_first, mend_str quoted) {
  mend__buffer_char(json, is_first ? '[' : ',');
  mend__buffer_str(json, quoted);
}

void mend__said_strings(mend_str value, mend__buffer *json) {
  mend__json_items items = mend__json_items_of(value);
  bool is_first = true;
  for (mend_str item; mend__json_items_next(&items, &item);) {
    if (!mend__json_is_string(item)) continue;
    add_string(json, is_first, item);
    is_first = false;
  }
  if (mend__json_is_string(value)) {
    add_string(json, is_first, value);
    is_first = false;
  }
  if (!is_first) mend__buffer_char(json, ']');
}

/* It may say in words what it cannot do, or only that this is it. */
static void write_boundary(mend_str value, mend__buffer *text) {
  mend__json_append(text, value);
  if (mend__json_is_true(value)) mend__buffer_str(text, MEND_STR("the agent says that this is outside its capability"));
}

/* ---- A report ---- */

enum { CONFIDENCE, UNCERTAINTY, BOUNDARY, MEMBERS };

static mend_status take(const mend__json_member said[MEMBERS], mend_enriched *enriched) {
  mend__buffer text;
  mend__buffer_init(&text, enriched->allocator);
  enriched->confidence = mend__said_confidence(said[CONFIDENCE].value);
  mend__said_strings(said[UNCERTAINTY].value, &text);
  mend_status status = mend__enriched_set_written(enriched, &enriched->uncertainty_targets, &text);
  if (status == MEND_OK) {
    write_boundary(said[BOUNDARY].value, &text);
    status = mend__enriched_set_written(enriched, &enriched->capability_boundary, &text);
  }
  mend__buffer_free(&text);
  return status;
}

mend_status mend__self_report_read(const mend__self_report *names, mend_str text, mend_enriched *enriched,
                                   mend_error *error) {
  mend__json_member said[MEMBERS] = {[CONFIDENCE] = {.name = names->confidence},
                                     [UNCERTAINTY] = {.name = names->uncertainty},
                                     [BOUNDARY] = {.name = names->boundary}};
  const mend_status status = mend__json_members_read(text, said, MEMBERS, error);
  return status == MEND_OK ? take(said, enriched) : status;
}
