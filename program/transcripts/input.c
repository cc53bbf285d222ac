#include "program/transcripts/input.h"

#include "core/buffer.h"
#include "core/memory.h"
#include "program/transcripts/input_internal.h"

#include <stdarg.h>
#include <stdio.h>

mend_status input_bad_row(input *in, input_row *ret_row, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(in->problem, sizeof in->problem, format, arguments);
  va_end(arguments);
  *ret_row = (input_row){.number = in->number, .problem = in->problem};
  return MEND_OK;
}

mend_status input_long_row(input *in, input_row *ret_row) {
  return input_bad_row(in, ret_row, "longer than %zu MiB", INPUT_ROW_MAX >> 20);
}

bool input_is_container(const input *in, const mend_json *json) {
  for (const char *const *name = in->containers; *name != NULL; name++) {
    if (mend_json_is(json, mend_str_from(*name))) return true;
  }
  return false;
}

mend_status input_open(input *in, int fd, const char *const *containers) {
  *in = (input){.containers = containers};
  source_init(&in->bytes, fd);
  const mend_status status = input_find_shape(in);
  if (status == MEND_OK && in->shape == INPUT_DOCUMENT) input_start_document(in);
  return status;
}

/* ---- Rows -------------------------------------------------------------------------------------------------- */

/* Rows read ahead: their texts, one after the other, and where each is. */
struct input_head {
  mend__buffer texts;
  struct {
    input_row row;
    size_t at;
    char problem[sizeof((input *)0)->problem];
  } rows[INPUT_AHEAD_MAX];
  size_t count, next;
};

static void drop_head(input *in) {
  if (in->head == NULL) return;
  mend__buffer_free(&in->head->texts);
  mend__free(NULL, in->head);
  in->head = NULL;
}

static mend_status read_row(input *in, input_row *ret_row) {
  return in->shape == INPUT_LINES ? input_next_line(in, ret_row) : input_next_element(in, ret_row);
}

mend_status input_look_ahead(input *in, input_row *ret_row) {
  if (in->head == NULL) {
    in->head = mend__alloc_zero(NULL, sizeof *in->head);
    if (in->head == NULL) return MEND_ENOMEM;
    mend__buffer_init(&in->head->texts, NULL);
  }
  struct input_head *head = in->head;
  if (head->count == INPUT_AHEAD_MAX) return MEND_ELIMIT;
  const mend_status status = read_row(in, ret_row);
  if (status != MEND_OK) return status;
  const size_t at = head->texts.len;
  mend__buffer_str(&head->texts, ret_row->text);
  if (head->texts.failed) return MEND_ENOMEM;
  head->rows[head->count].row = *ret_row;
  head->rows[head->count].at = at;
  if (ret_row->problem != NULL) memcpy(head->rows[head->count].problem, ret_row->problem, strlen(ret_row->problem) + 1);
  head->count++;
  return MEND_OK;
}

mend_status input_next(input *in, input_row *ret_row) {
  struct input_head *head = in->head;
  if (head != NULL && head->next < head->count) {
    const size_t index = head->next++;
    *ret_row = head->rows[index].row;
    if (ret_row->problem != NULL) {
      ret_row->problem = head->rows[index].problem;
    } else {
      ret_row->text.ptr = head->texts.data + head->rows[index].at;
    }
    return MEND_OK;
  }
  drop_head(in);
  return read_row(in, ret_row);
}

uint64_t input_offset(const input *in) { return in->bytes.taken; }

void input_close(input *in) {
  drop_head(in);
  source_free(&in->bytes);
}
