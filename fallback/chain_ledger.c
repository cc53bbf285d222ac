#include "fallback/chain_internal.h"

enum { ERROR_SHOWN = 200 };

void mend__ledger_init(mend__ledger *ledger, const mend_allocator *allocator) {
  mend__buffer_init(&ledger->json, allocator);
  mend__buffer_init(&ledger->words, allocator);
}

void mend__ledger_free(mend__ledger *ledger) {
  mend__buffer_free(&ledger->json);
  mend__buffer_free(&ledger->words);
}

static void add_words(mend__buffer *words, const mend__attempt_end *end) {
  mend__buffer_printf(words, "%s%.*s: %s", words->len > 0 ? ", " : "", MEND_STR_ARG(end->target), end->class);
}

static void add_failure(mend__buffer *json, const mend_failure *failure) {
  if (failure->http_status != 0) mend__buffer_printf(json, ",\"http_status\":%u", (unsigned)failure->http_status);
  mend__buffer_str(json, MEND_STR(",\"error\":"));
  mend__buffer_json_string_cut(json, failure->message, ERROR_SHOWN);
}

void mend__ledger_add(mend__ledger *ledger, const mend__attempt_end *end) {
  mend__buffer *json = &ledger->json;
  mend__buffer_str(json, ledger->count++ == 0 ? MEND_STR("[{\"target\":") : MEND_STR(",{\"target\":"));
  mend__buffer_json_string(json, end->target);
  mend__buffer_str(json, MEND_STR(",\"class\":"));
  mend__buffer_json_string(json, mend_str_from(end->class));
  if (end->failure != NULL) {
    mend__buffer_printf(json, ",\"action\":\"%s\"", mend_failure_action_name(end->action));
    add_failure(json, end->failure);
    add_words(&ledger->words, end);
  }
  mend__buffer_str(json, MEND_STR(",\"ms\":"));
  mend__buffer_f64(json, end->ms);
  mend__buffer_char(json, '}');
}

mend_str mend__ledger_text(mend__ledger *ledger) {
  mend__buffer *json = &ledger->json;
  if (ledger->count == 0) return MEND_STR("[]");
  mend__buffer_char(json, ']');
  if (json->failed) return (mend_str){NULL, 0};
  return (mend_str){json->data, json->len--};
}

mend_str mend__ledger_words(const mend__ledger *ledger) { return (mend_str){ledger->words.data, ledger->words.len}; }
