/* Whether a file is lines or a document, by its beginning. */
#include "core/text.h"
#include "program/transcripts/input_internal.h"

#include <stdio.h>

/* So much of a file is looked at, and all of its first line. */
static const size_t GLANCE = 1024 * 1024;

/* ---- The first bytes --------------------------------------------------------------------------------------- */

/* Files that are recognised by their first bytes, and what is to be done with them. */
static const struct {
  const char *beginning, *problem;
} others[] = {
    {"\x1F\x8B", "it is compressed with gzip: gunzip it first"},
    {"\x28\xB5\x2F\xFD", "it is compressed with zstd: unzstd it first"},
    {"PK\x03\x04", "it is a ZIP archive: unzip it first"},
    {"\xFF\xFE", "it is UTF-16, expected UTF-8"},
    {"\xFE\xFF", "it is UTF-16, expected UTF-8"},
};

static mend_status check_kind(input *in) {
  mend_str window;
  const mend_status status = source_peek(&in->bytes, 4, &window);
  if (status != MEND_OK) return status;
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    const size_t len = strlen(others[i].beginning);
    if (window.len < len || memcmp(window.ptr, others[i].beginning, len) != 0) continue;
    snprintf(in->problem, sizeof in->problem, "%s", others[i].problem);
    return MEND_EINVAL;
  }
  return MEND_OK;
}

/* Looks for the first byte that is not white space; on success the window begins with it, unless white space is longer
 * than a glance. */
static mend_status find_beginning(input *in, mend_str *ret_window) {
  mend_str window;
  mend_status status = source_peek(&in->bytes, 3, &window);
  if (status == MEND_OK && window.len >= 3 && memcmp(window.ptr, "\xEF\xBB\xBF", 3) == 0) {
    source_take(&in->bytes, 3); /* a byte order mark */
    status = source_peek(&in->bytes, 1, &window);
  }
  while (status == MEND_OK && mend__skip_blanks(window).len == 0) {
    const size_t blank = window.len;
    if (blank > GLANCE) break;
    status = source_peek(&in->bytes, blank + 1, &window);
    if (status == MEND_OK && window.len == blank) return MEND_ENOENT;
  }
  *ret_window = window;
  return status;
}

/* ---- The first value --------------------------------------------------------------------------------------- */

/* The first value of the file: how far it reaches, and whether it has a member that may hold rows. */
typedef struct first_value {
  size_t len;
  bool complete;
  bool broken;
  bool array;
  bool has_container;
  mend_str other; /* the name of its first member that is an array of objects, escaped; empty for none */
} first_value;

static first_value look_at_first_value(const input *in, mend_str text) {
  first_value first = {0};
  mend_json json;
  mend_json_init(&json, text, MEND_JSON_DEPTH_MAX);
  json.partial = true;
  json.stream = true;
  first.array = mend_json_next(&json) == MEND_JSON_ARRAY;
  mend_str member = {NULL, 0};
  while (json.token > MEND_JSON_END) {
    const bool is_member = json.token == MEND_JSON_KEY && json.depth == 1;
    const bool named = is_member && input_is_container(in, &json);
    if (is_member) member = json.slice;
    const bool in_array = json.token == MEND_JSON_ARRAY && json.depth == 2;
    mend_json_next(&json);
    first.has_container |= named && json.token == MEND_JSON_ARRAY;
    if (in_array && json.token == MEND_JSON_OBJECT && first.other.len == 0) first.other = member;
    if (json.depth == 0) break;
  }
  first.complete = json.depth == 0 && json.token > MEND_JSON_END;
  first.broken = json.token == MEND_JSON_ERROR;
  first.len = json.at;
  return first;
}

/* Whether anything comes after the first value, or after the line in which it is broken. */
static bool more_follows(first_value first, mend_str text) {
  const char *end = text.ptr + text.len;
  const char *from = first.complete ? text.ptr + first.len : memchr(text.ptr, '\n', text.len);
  return from != NULL && mend__skip_blanks((mend_str){from, (size_t)(end - from)}).len > 0;
}

static bool holds_rows(first_value first) { return first.array || first.has_container; }

/* Whether more text could tell more about the shape. */
static bool is_undecided(first_value first, mend_str text) {
  const bool ended = first.complete || first.broken;
  return !ended || (holds_rows(first) && !more_follows(first, text));
}

/* How many bytes are to be looked at next; 0: these are enough. Beyond a glance only a line that has not ended asks for
 * more, and for much: each look begins anew. */
static size_t next_look(first_value first, mend_str text, size_t looked) {
  if (!is_undecided(first, text)) return 0;
  if (looked < GLANCE) return looked + 1;
  if (memchr(text.ptr, '\n', text.len) != NULL || looked >= SOURCE_WINDOW_MAX) return 0;
  return looked <= SOURCE_WINDOW_MAX / 2 ? looked * 2 : SOURCE_WINDOW_MAX;
}

/* JSON strings hold no line feeds, so a line of JSONL is a whole value; a value that spans lines, or the only value of
 * the file when it can hold rows, is a document. */
static input_shape shape_of(first_value first, mend_str text) {
  const bool spans_lines = memchr(text.ptr, '\n', first.len) != NULL;
  if (spans_lines && !first.broken) return INPUT_DOCUMENT;
  return holds_rows(first) && (spans_lines || is_undecided(first, text)) ? INPUT_DOCUMENT : INPUT_LINES;
}

/* A document whose rows are in a member that nobody knows. */
static void take_other_container(input *in, mend_str name) {
  if (name.len == 0 || name.len >= sizeof in->other_name) return;
  in->other_name[mend_json_unescape(name, in->other_name)] = '\0';
  in->other[0] = in->other_name;
  in->containers = in->other;
}

static mend_status find_shape(input *in, mend_str window) {
  mend_str text = mend__skip_blanks(window);
  if (text.len == 0 || (text.ptr[0] != '[' && text.ptr[0] != '{')) return MEND_OK;
  first_value first = look_at_first_value(in, text);
  for (size_t want; (want = next_look(first, text, window.len)) > 0;) {
    const size_t before = window.len;
    const mend_status status = source_peek(&in->bytes, want, &window);
    if (status != MEND_OK) return status;
    if (window.len == before) break;
    text = mend__skip_blanks(window);
    first = look_at_first_value(in, text);
  }
  in->shape = shape_of(first, text);
  if (in->shape == INPUT_DOCUMENT && !holds_rows(first)) take_other_container(in, first.other);
  in->beginning = text;
  return MEND_OK;
}

mend_status input_find_shape(input *in) {
  mend_str window;
  mend_status status = check_kind(in);
  if (status == MEND_OK) status = find_beginning(in, &window);
  return status == MEND_OK ? find_shape(in, window) : status;
}
