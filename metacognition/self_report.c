#include "metacognition/metacognition_internal.h"

/* An agent may say in words what it cannot do, or only that this is it. */
static void write_boundary(const mend__member *said, mend__buffer *text) {
  mend__member_text(said, text);
  if (said->kind == MEND_JSON_TRUE)
    mend__buffer_str(text, MEND_STR("the agent says that this is outside its capability"));
}

static mend_status take(const mend__member said[3], mend_enriched *enriched) {
  mend__buffer text;
  mend__buffer_init(&text, enriched->allocator);
  enriched->confidence = mend__member_confidence(&said[0]);
  mend__member_strings(&said[1], &text);
  mend_status status = mend__enriched_set_written(enriched, &enriched->uncertainty_targets, &text);
  if (status == MEND_OK) {
    write_boundary(&said[2], &text);
    status = mend__enriched_set_written(enriched, &enriched->capability_boundary, &text);
  }
  mend__buffer_free(&text);
  return status;
}

mend_status mend__self_report_read(const mend__self_report *names, mend_str text, mend_enriched *enriched,
                                   mend_error *error) {
  mend__member said[3] = {{.name = names->confidence}, {.name = names->uncertainty}, {.name = names->boundary}};
  const mend_status status = mend__members_read(text, said, 3, error);
  return status == MEND_OK ? take(said, enriched) : status;
}
