#include "program/transcripts/input_internal.h"

/* Where in the document the scanner is. */
enum place { BEFORE_ROWS, IN_ROWS, AFTER_ROWS, GIVEN_UP };

void input_start_document(input *in) {
  mend_json_init(&in->json, MEND_STR(""), MEND_JSON_DEPTH_MAX);
  in->json.partial = true;
  in->place = BEFORE_ROWS;
}

/* What the scanner has consumed goes, unless it belongs to an element. Rebasing the scanner before the window moves
 * lets it count lines in text that is still there. */
static void drop_consumed(input *in, bool keep) {
  const size_t consumed = in->json.at;
  const mend_str rest = {in->json.text.ptr + consumed, in->json.text.len - consumed};
  mend_json_refill(&in->json, rest);
  in->kept += consumed;
  if (keep) return;
  source_take(&in->bytes, in->kept);
  in->kept = 0;
}

/* More text for a scanner that asked for it: as much again where the window allows, because it starts its token over.
 * MEND_ENOENT when there is none, MEND_ELIMIT when the token does not fit into the window. */
static mend_status feed(input *in, bool keep) {
  drop_consumed(in, keep);
  const size_t had = in->kept + in->json.text.len;
  const size_t twice = 2 * had + 1;
  const size_t want = twice <= SOURCE_WINDOW_MAX || had >= SOURCE_WINDOW_MAX ? twice : SOURCE_WINDOW_MAX;
  mend_str window;
  const mend_status status = source_peek(&in->bytes, want, &window);
  if (status != MEND_OK) return status;
  mend_json_refill(&in->json, (mend_str){window.ptr + in->kept, window.len - in->kept});
  return window.len > had ? MEND_OK : MEND_ENOENT;
}

static mend_status next_token(input *in) {
  while (mend_json_next(&in->json) == MEND_JSON_MORE) {
    const mend_status status = feed(in, false);
    if (status != MEND_OK) return status;
  }
  return MEND_OK;
}

/* Skips the value whose KEY, ARRAY or OBJECT was the last token. Once it is too long to be a row it is not kept. */
static mend_status skip_value(input *in, bool keep, bool *ret_kept) {
  while (mend_json_skip(&in->json) == MEND_JSON_MORE) {
    keep = keep && in->kept + in->json.text.len <= INPUT_ROW_MAX;
    const mend_status status = feed(in, keep);
    if (status != MEND_OK) return status;
  }
  *ret_kept = keep;
  return MEND_OK;
}

/* Nothing after a mistake in a document can be told apart, so it is the last row. `reason`: why there is no token. */
static mend_status give_up(input *in, mend_status reason, input_row *ret_row) {
  in->place = GIVEN_UP;
  if (reason == MEND_ELIMIT) {
    input_bad_row(in, ret_row, "a single text in it is longer than %zu MiB", INPUT_ROW_MAX >> 20);
  } else if (in->json.token == MEND_JSON_MORE) {
    input_bad_row(in, ret_row, "the document ends in the middle");
  } else {
    mend_error error;
    mend_json_error(&in->json, &error);
    input_bad_row(in, ret_row, "the document is broken at line %u, column %u: %s", error.line, error.column,
                  error.message);
  }
  ret_row->loses_rest = true;
  return MEND_OK;
}

/* Whether the document is at fault, not the reading of it. */
static bool is_mistake(const input *in, mend_status status) {
  return in->json.token == MEND_JSON_ERROR || status == MEND_ENOENT || status == MEND_ELIMIT;
}

/* Goes to the array that holds the rows. MEND_ENOENT when there is none. */
static mend_status find_rows(input *in) {
  mend_status status = next_token(in);
  if (status == MEND_OK && in->json.token == MEND_JSON_ARRAY) in->place = IN_ROWS;
  bool kept;
  while (status == MEND_OK && in->place == BEFORE_ROWS && in->json.token > MEND_JSON_END) {
    status = next_token(in);
    if (status != MEND_OK || in->json.token != MEND_JSON_KEY) continue;
    const bool candidate = input_is_container(in, &in->json);
    if (candidate) status = next_token(in);
    if (status == MEND_OK && candidate && in->json.token == MEND_JSON_ARRAY) {
      in->place = IN_ROWS;
    } else if (status == MEND_OK) {
      status = skip_value(in, false, &kept);
    }
  }
  return status;
}

/* An element whose first token was just read. */
static mend_status take_element(input *in, input_row *ret_row) {
  const mend_json_token first = in->json.token;
  const char *begin = first == MEND_JSON_STRING ? in->json.slice.ptr - 1 : in->json.slice.ptr;
  /* The element becomes the window's beginning. */
  const size_t before = in->kept + (size_t)(begin - in->json.text.ptr);
  const size_t already = in->json.at - (size_t)(begin - in->json.text.ptr);
  source_take(&in->bytes, before);
  mend_json_refill(&in->json, (mend_str){in->json.text.ptr + in->json.at, in->json.text.len - in->json.at});
  in->kept = already;
  in->number++;
  bool kept = true;
  if (first == MEND_JSON_OBJECT || first == MEND_JSON_ARRAY) {
    const mend_status status = skip_value(in, true, &kept);
    if (is_mistake(in, status)) return give_up(in, status, ret_row);
    if (status != MEND_OK) return status;
  }
  if (!kept || in->kept + in->json.at > INPUT_ROW_MAX) return input_long_row(in, ret_row);
  *ret_row = (input_row){.number = in->number};
  ret_row->text = (mend_str){in->json.text.ptr - in->kept, in->kept + in->json.at};
  return MEND_OK;
}

mend_status input_next_element(input *in, input_row *ret_row) {
  if (in->place == GIVEN_UP) return MEND_ENOENT;
  mend_status status = in->place == BEFORE_ROWS ? find_rows(in) : MEND_OK;
  while (status == MEND_OK && in->json.token != MEND_JSON_ERROR) {
    drop_consumed(in, false);
    status = next_token(in);
    if (status != MEND_OK || in->json.token == MEND_JSON_ERROR) break;
    if (in->place == IN_ROWS && in->json.token != MEND_JSON_ARRAY_END) return take_element(in, ret_row);
    in->place = AFTER_ROWS;
  }
  const bool whole = status == MEND_ENOENT && in->json.depth == 0;
  if (whole || !is_mistake(in, status)) return status;
  in->number++;
  return give_up(in, status, ret_row);
}

bool input_array_was_empty(const input *in) {
  return in->shape == INPUT_DOCUMENT && in->place == AFTER_ROWS && in->number == 0;
}
