/* Private to fallback/: what several dialects write alike. */
#ifndef MEND_FALLBACK_WIRE_PARTS_H
#define MEND_FALLBACK_WIRE_PARTS_H

#include "fallback/dialect.h"

/* A message of a request. */
typedef struct mend__wire_message {
  mend_role role;
  const mend_part *parts;
  size_t count;
} mend__wire_message;
/* False behind the last. */
bool mend__wire_message_at(const mend_model_request *request, size_t index, mend__wire_message *ret_message);
bool mend__wire_message_has(const mend__wire_message *message, mend_part_kind kind);
/* Whether the part carries a signature of this provider. */
bool mend__wire_is_signed(const mend_part *part, const char *provider);

/* Whether an image's address is a data URL with base64, and what is in it. */
bool mend__wire_data_url(mend_str url, mend_str *ret_media_type, mend_str *ret_base64);
/* A string member with an image's bytes in base64. */
void mend__wire_bytes(mend__buffer *json, const char *name, const mend_part *image);
/* Appends a JSON string: the image's address, or its bytes as a data URL. */
void mend__wire_image_url(mend__buffer *json, const mend_part *image);
/* A JSON string of all text parts of a message, one after the other. */
void mend__wire_texts(mend__buffer *json, const char *name, const mend__wire_message *message);
/* A member with the texts of `count` system messages from `first` on, an empty line between them; those of other
 * roles are passed over. None: no member. */
void mend__wire_system(mend__buffer *json, const char *name, const mend_model_request *request, size_t first,
                       size_t count);
/* A member with a tool's result where a provider has no place for whether it is an error: "Error: " before the text
 * says so. */
void mend__wire_result(mend__buffer *json, const char *name, const mend_part *result);

/* Appends a piece of a URL's path: what cannot stand there is percent-encoded; slashes can. */
void mend__wire_url(mend__buffer *url, mend_str text);

/* The conversation less its system messages as turns, {"role": ..., <parts>: [...]}: all that one side said between
 * two things of the other's is one, so that the results of calls made together stay together. One of which nothing
 * is written is none. */
void mend__wire_turns(mend__buffer *json, const mend_model_request *request, const char *assistant, const char *parts,
                      void (*write_part)(mend__buffer *json, const mend_part *part));

/* A member with all tools; none without any. */
void mend__wire_tools(mend__buffer *json, const char *name, const mend_model_request *request,
                      void (*write_tool)(mend__buffer *json, const mend_tool_spec *tool));
/* A tool's schema; that of any object when it has none. */
mend_str mend__wire_schema(const mend_tool_spec *tool);
/* A member when `value` is a number. */
void mend__wire_number(mend__buffer *json, const char *name, double value);
/* A member when it is not 0. */
void mend__wire_count(mend__buffer *json, const char *name, uint64_t value);

typedef enum mend__tool_choice {
  MEND__CHOICE_DEFAULT,
  MEND__CHOICE_AUTO,
  MEND__CHOICE_NONE,
  MEND__CHOICE_REQUIRED,
  MEND__CHOICE_NAMED
} mend__tool_choice;
mend__tool_choice mend__wire_choice(const mend_model_request *request);

#endif
