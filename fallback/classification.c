#include "core/memory.h"
#include "core/options_size.h"
#include "fallback/classification_internal.h"
#include "fallback/fallback_internal.h"
#include "mend/json.h"

enum { BODY_LIMIT = 65536 };

/* ---- A table's life ---- */

mend_str mend_classification_builtin(void) { return mend_str_from(mend__fallback_classification_json); }

mend_status mend_classification_new(const char *rows, const mend_allocator *allocator, mend_classification **ret_table,
                                    mend_error *error) {
  const mend_str own = mend_str_from(rows), builtin = mend_classification_builtin();
  mend_classification *table = mend__alloc_zero(allocator, sizeof *table);
  if (table == NULL) return mend_error_set(error, MEND_ENOMEM, "out of memory");
  table->allocator = allocator;
  atomic_init(&table->references, 1);
  mend_status status = MEND_OK;
  table->arena = mend__alloc(allocator, own.len + builtin.len);
  if (table->arena == NULL) status = mend_error_set(error, MEND_ENOMEM, "out of memory");
  if (status == MEND_OK && rows != NULL) status = mend__classification_load(table, own, error);
  if (status == MEND_OK) status = mend__classification_load(table, builtin, error);
  if (status == MEND_OK) {
    *ret_table = table;
  } else {
    mend_classification_release(table);
  }
  return status;
}

mend_classification *mend__classification_retain(mend_classification *table) {
  atomic_fetch_add_explicit(&table->references, 1, memory_order_relaxed);
  return table;
}

void mend_classification_release(mend_classification *table) {
  if (table == NULL || atomic_fetch_sub_explicit(&table->references, 1, memory_order_acq_rel) != 1) return;
  mend__free(table->allocator, table->rows);
  mend__free(table->allocator, table->texts);
  mend__free(table->allocator, table->arena);
  mend__free(table->allocator, table);
}

/* ---- Texts: those of the table are in lower case ---- */

static bool equals(mend_str text, mend_str lower) {
  return text.len == lower.len && mend__begins_in_any_case(text, lower);
}

static bool contains(mend_str text, mend_str lower) {
  for (; text.len >= lower.len; text.ptr++, text.len--) {
    if (mend__lower(*text.ptr) == *lower.ptr && mend__begins_in_any_case(text, lower)) return true;
  }
  return false;
}

/* Whether the list is empty or `is` holds between the text and one of it. */
static bool any_of(const mend_classification *table, mend__texts_range range, mend_str text,
                   bool (*is)(mend_str text, mend_str lower)) {
  for (size_t i = 0; i < range.count; i++) {
    if (is(text, table->texts[range.first + i])) return true;
  }
  return range.count == 0;
}

/* ---- The body's text: a hundred fragments are looked for in it ---- */

enum { TRIGRAM_BITS = 16 };

/* What is known of a failure, and which sequences of three characters its body has, by their hash: a fragment with
 * one that is not there need not be searched for. */
typedef struct sighting {
  mend_failure_signal signal;
  uint64_t trigrams[(1u << TRIGRAM_BITS) / 64];
} sighting;

static size_t trigram_at(const char *place) {
  const uint32_t letters = (uint32_t)(unsigned char)mend__lower(place[0]) |
                           (uint32_t)(unsigned char)mend__lower(place[1]) << 8 |
                           (uint32_t)(unsigned char)mend__lower(place[2]) << 16;
  return (letters * UINT32_C(2654435761)) >> (32 - TRIGRAM_BITS);
}

static void note_trigrams(sighting *seen) {
  const mend_str body = seen->signal.body;
  memset(seen->trigrams, 0, sizeof seen->trigrams);
  for (size_t i = 0; i + 3 <= body.len; i++) {
    const size_t hash = trigram_at(body.ptr + i);
    seen->trigrams[hash / 64] |= UINT64_C(1) << hash % 64;
  }
}

static bool may_contain(const sighting *seen, mend_str lower) {
  for (size_t i = 0; i + 3 <= lower.len; i++) {
    const size_t hash = trigram_at(lower.ptr + i);
    if ((seen->trigrams[hash / 64] >> hash % 64 & 1) == 0) return false;
  }
  return true;
}

static bool body_contains(const mend_classification *table, mend__texts_range range, const sighting *seen) {
  for (size_t i = 0; i < range.count; i++) {
    const mend_str fragment = table->texts[range.first + i];
    if (may_contain(seen, fragment) && contains(seen->signal.body, fragment)) return true;
  }
  return range.count == 0;
}

/* ---- The body's JSON ---- */

typedef struct path_search {
  const mend_classification *table;
  mend__texts_range values;
  mend_json json;
} path_search;

static bool is_wanted_value(const path_search *search) {
  const mend_json *json = &search->json;
  if (json->token != MEND_JSON_STRING && json->token != MEND_JSON_NUMBER) return false;
  for (size_t i = 0; i < search->values.count; i++) {
    const mend_str value = search->table->texts[search->values.first + i];
    if (equals(json->slice, value) || mend_str_equal(value, MEND_STR("*"))) return true;
  }
  return false;
}

static mend_str first_name(mend_str path) {
  const char *dot = memchr(path.ptr, '.', path.len);
  return (mend_str){path.ptr, dot != NULL ? (size_t)(dot - path.ptr) : path.len};
}

static mend_str behind(mend_str path, mend_str name) {
  const size_t used = name.len < path.len ? name.len + 1 : name.len;
  return (mend_str){path.ptr + used, path.len - used};
}

static bool find_value(path_search *search, mend_str path);

/* Each ends behind the value that the last token began. */
static bool find_in_array(path_search *search, mend_str path) {
  while (mend_json_next(&search->json) != MEND_JSON_ARRAY_END && search->json.token != MEND_JSON_ERROR) {
    if (find_value(search, path)) return true;
  }
  return false;
}

static bool find_in_object(path_search *search, mend_str path) {
  const mend_str name = first_name(path);
  while (mend_json_next(&search->json) == MEND_JSON_KEY) {
    if (path.len == 0 || !equals(search->json.slice, name)) {
      mend_json_skip(&search->json);
    } else {
      mend_json_next(&search->json);
      if (find_value(search, behind(path, name))) return true;
    }
  }
  return false;
}

/* Recursion ends with the scanner's depth. */
static bool find_value(path_search *search, mend_str path) {
  if (search->json.token == MEND_JSON_ARRAY) return find_in_array(search, path);
  if (search->json.token == MEND_JSON_OBJECT) return find_in_object(search, path);
  return path.len == 0 && is_wanted_value(search);
}

static bool has_path(const mend_classification *table, const mend__row_path *path, mend_str body) {
  path_search search = {.table = table, .values = path->values};
  mend_json_init(&search.json, body, MEND_JSON_DEPTH);
  mend_json_next(&search.json);
  return find_value(&search, path->path);
}

/* ---- Rows ---- */

static bool suits(mend__wanted wanted, bool is) {
  return wanted == MEND__WANTED_EITHER || (wanted == MEND__WANTED_TRUE) == is;
}

static bool status_fits(const mend__row *row, uint32_t status) {
  for (size_t i = 0; i < row->status_count; i++) {
    if (status >= row->statuses[i].from && status <= row->statuses[i].to) return true;
  }
  return row->status_count == 0;
}

static bool flags_fit(const mend__row *row, const mend_failure_signal *signal) {
  return suits(row->empty, signal->body.len == 0) && suits(row->streaming, signal->streaming) &&
         suits(row->after_content, signal->after_content) && suits(row->reused, signal->reused) &&
         suits(row->any_byte, signal->any_byte);
}

static bool asks_for_reply(const mend__row *row) {
  return row->status_count > 0 || row->content_types.count > 0 || row->bodies.count > 0 || row->body_starts.count > 0 ||
         row->path_count > 0;
}

static bool body_fits(const mend_classification *table, const mend__row *row, const sighting *seen) {
  const mend_str body = seen->signal.body;
  if (!any_of(table, row->body_starts, body, mend__begins_in_any_case)) return false;
  for (size_t i = 0; i < row->path_count; i++) {
    if (!has_path(table, &row->paths[i], body)) return false;
  }
  return body_contains(table, row->bodies, seen);
}

/* What happened to the transport is no reply, so rows about replies do not fit. */
static bool row_fits(const mend_classification *table, const mend__row *row, const sighting *seen) {
  const mend_failure_signal *signal = &seen->signal;
  const mend_str transport = mend_str_from(signal->transport);
  if (transport.ptr == NULL ? row->transports.count > 0 : asks_for_reply(row)) return false;
  return any_of(table, row->transports, transport, equals) && any_of(table, row->providers, signal->provider, equals) &&
         status_fits(row, signal->http_status) && flags_fit(row, signal) &&
         any_of(table, row->content_types, signal->content_type, contains) && body_fits(table, row, seen);
}

static mend_failure_signal known_part(const mend_failure_signal *signal) {
  mend_failure_signal known = MEND_FAILURE_SIGNAL_INIT;
  memcpy(&known, signal, signal->size < sizeof known ? signal->size : sizeof known);
  if (known.body.len > BODY_LIMIT) known.body.len = BODY_LIMIT;
  known.body = mend__skip_blanks(known.body);
  return known;
}

void mend_classify(const mend_classification *table, const mend_failure_signal *signal, mend_failure_class *ret_class) {
  sighting seen;
  size_t i = 0;
  seen.signal = known_part(signal);
  note_trigrams(&seen);
  while (i + 1 < table->row_count && !row_fits(table, &table->rows[i], &seen))
    i++;
  mend__options_give(ret_class, &table->rows[i].outcome);
}

void mend__classify_name(const mend_classification *table, mend_str name, mend_failure_class *ret_class) {
  size_t i = 0;
  while (i + 1 < table->row_count && !mend_str_equal(mend_str_from(table->rows[i].outcome.name), name))
    i++;
  mend__options_give(ret_class, &table->rows[i].outcome);
}

const char *mend_failure_action_name(mend_failure_action action) {
  static const char *const names[] = {"propagate", "retry", "fail_over", "cancel"};
  return (size_t)action < sizeof names / sizeof *names ? names[action] : "unknown";
}
