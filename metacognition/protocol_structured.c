#include "core/options_size.h"
#include "metacognition/metacognition_internal.h"

typedef struct structured {
  const mend_allocator *allocator;
  mend__self_report names; /* pieces of `texts` */
  char texts[];
} structured;

static mend_status measure(void *ctx, const mend_protocol_input *input, mend_enriched *enriched, mend_error *error) {
  const structured *self = ctx;
  mend_error reason = MEND_ERROR_INIT;
  const mend_status status = mend__self_report_read(&self->names, input->output, enriched, &reason);
  if (status == MEND_OK || status == MEND_ENOMEM) return status;
  return mend_error_set(error, status, "the output says nothing of itself: %s", reason.message);
}

static void destroy(void *ctx) {
  structured *self = ctx;
  mend__free(self->allocator, self);
}

static const mend_protocol_vtable vtable = {
    .size = sizeof vtable,
    .name = "structured",
    .measure = measure,
    .destroy = destroy,
};

static mend_status check_name(const char *member, const char *name, mend_error *error) {
  if (name != NULL && *name != '\0') return MEND_OK;
  return mend_error_set(error, MEND_EINVAL, "mend_structured_options.%s: none, expected the name of a member", member);
}

static mend_status take_options(const mend_structured_options *given, mend_structured_options *ret_options,
                                mend_error *error) {
  *ret_options = (mend_structured_options)MEND_STRUCTURED_OPTIONS_INIT;
  mend_status status = mend__options_take(ret_options, given, "mend_structured_options", error);
  if (status == MEND_OK) status = check_name("confidence_field", ret_options->confidence_field, error);
  if (status == MEND_OK) status = check_name("uncertainty_field", ret_options->uncertainty_field, error);
  if (status == MEND_OK) status = check_name("boundary_field", ret_options->boundary_field, error);
  return status;
}

static structured *structured_new(const mend_structured_options *options) {
  const mend_str confidence = mend_str_from(options->confidence_field);
  const mend_str uncertainty = mend_str_from(options->uncertainty_field);
  const mend_str boundary = mend_str_from(options->boundary_field);
  const size_t size = mend__room_for(confidence) + mend__room_for(uncertainty) + mend__room_for(boundary);
  structured *self = mend__alloc(options->allocator, sizeof *self + size);
  if (self == NULL) return NULL;
  char *place = self->texts;
  self->allocator = options->allocator;
  self->names.confidence = mend__keep_text(&place, confidence);
  self->names.uncertainty = mend__keep_text(&place, uncertainty);
  self->names.boundary = mend__keep_text(&place, boundary);
  return self;
}

mend_status mend_protocol_new_structured(const mend_structured_options *given, mend_protocol **ret_protocol,
                                         mend_error *error) {
  mend_structured_options options;
  mend_status status = take_options(given, &options, error);
  if (status != MEND_OK) return status;
  structured *self = structured_new(&options);
  if (self == NULL) return mend_error_set(error, MEND_ENOMEM, "protocol structured: out of memory");
  status = mend_protocol_new(&vtable, self, options.allocator, ret_protocol, error);
  if (status != MEND_OK) destroy(self);
  return status;
}
