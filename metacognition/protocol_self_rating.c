#include "core/options_size.h"
#include "core/text.h"
#include "metacognition/metacognition_internal.h"
#include "metacognition/room.h"

#include <stdlib.h>

static const char default_instruction[] =
    "You are shown a task and the answer that was given to it. Rate how sure one can be that the answer is right.\n"
    "Reply with nothing but a JSON object:\n"
    "{\"confidence\": <0 to 1>, \"uncertain_about\": [<what may be wrong, in a few words each>], "
    "\"outside_my_capability\": <what the task needs and you cannot do, or null>}";

typedef struct self_rating {
  const mend_allocator *allocator;
  mend_ask_model ask;
  void *ask_ctx;
  char instruction[];
} self_rating;

/* ---- The question ---- */

static void write_question(const self_rating *self, const mend_protocol_input *input, mend__buffer *question) {
  mend__buffer_str(question, mend_str_from(self->instruction));
  mend__buffer_str(question, MEND_STR("\n\nThe task:\n"));
  mend__buffer_str(question, input->prompt);
  mend__buffer_str(question, MEND_STR("\n\nThe answer:\n"));
  mend__buffer_str(question, input->output);
}

static mend_status ask(const self_rating *self, const mend_protocol_input *input, char **ret_reply) {
  mend__buffer question;
  mend__buffer_init(&question, self->allocator);
  write_question(self, input, &question);
  const mend_status status =
      question.failed ? MEND_ENOMEM : self->ask(self->ask_ctx, mend__buffer_text(&question), ret_reply);
  mend__buffer_free(&question);
  return status;
}

/* ---- The reply ---- */

/* Some models say a sentence before the code block that they were not asked for. */
static mend_str without_fences(const char *reply) {
  const mend_str text = mend__skip_blanks(mend_str_from(reply));
  const char *fence = mend__json_is_object(text) ? NULL : strstr(text.ptr, "```");
  return mend__without_fences(fence != NULL ? mend_str_from(fence) : text);
}

static mend_status read_reply(const char *reply, mend_enriched *enriched, mend_error *error) {
  const mend__self_report names = {MEND_STR("confidence"), MEND_STR("uncertain_about"),
                                   MEND_STR("outside_my_capability")};
  if (reply == NULL) return mend_error_set(error, MEND_EFAILED, "the model gave no reply");
  mend_error reason = MEND_ERROR_INIT;
  const mend_status status = mend__self_report_read(&names, without_fences(reply), enriched, &reason);
  if (status == MEND_OK || status == MEND_ENOMEM) return status;
  return mend_error_set(error, status, "the model's reply: %s", reason.message);
}

static mend_status measure(void *ctx, const mend_protocol_input *input, mend_enriched *enriched, mend_error *error) {
  const self_rating *self = ctx;
  char *reply = NULL;
  mend_status status = ask(self, input, &reply);
  if (status == MEND_OK) {
    status = read_reply(reply, enriched, error);
  } else {
    mend_error_set(error, status, "asking the model failed: %s", mend_status_name(status));
  }
  free(reply);
  return status;
}

/* ---- Life ---- */

static void destroy(void *ctx) {
  self_rating *self = ctx;
  mend__free(self->allocator, self);
}

static const mend_protocol_vtable vtable = {
    .size = sizeof vtable,
    .name = "self_rating",
    .measure = measure,
    .destroy = destroy,
};

static self_rating *self_rating_new(const mend_self_rating_options *options) {
  const char *instruction = options->instruction != NULL ? options->instruction : default_instruction;
  const size_t size = strlen(instruction) + 1;
  self_rating *self = mend__alloc(options->allocator, sizeof *self + size);
  if (self == NULL) return NULL;
  self->allocator = options->allocator;
  self->ask = options->ask;
  self->ask_ctx = options->ask_ctx;
  memcpy(self->instruction, instruction, size);
  return self;
}

mend_status mend_protocol_new_self_rating(const mend_self_rating_options *given, mend_protocol **ret_protocol,
                                          mend_error *error) {
  mend_self_rating_options options = MEND_SELF_RATING_OPTIONS_INIT;
  mend_status status = mend__options_take(&options, given, "mend_self_rating_options", error);
  if (status != MEND_OK) return status;
  if (options.ask == NULL) {
    return mend_error_set(error, MEND_EINVAL, "mend_self_rating_options.ask: NULL, expected a function");
  }
  self_rating *self = self_rating_new(&options);
  if (self == NULL) return mend_error_set(error, MEND_ENOMEM, "protocol self_rating: out of memory");
  status = mend_protocol_new(&vtable, self, options.allocator, ret_protocol, error);
  if (status != MEND_OK) destroy(self);
  return status;
}
