#include "program/fault_server/text_list.h"

void text_list_init(text_list *list) {
  list->is_full = false;
  mend__buffer_init(&list->bytes, NULL);
  mend__buffer_init(&list->ends, NULL);
}

void text_list_free(text_list *list) {
  mend__buffer_free(&list->bytes);
  mend__buffer_free(&list->ends);
}

void text_list_add(text_list *list, mend_str text) {
  list->is_full |= text.len > TEXT_LIST_BYTES_MAX - list->bytes.len || text_list_count(list) == TEXT_LIST_COUNT_MAX;
  if (list->is_full) return;
  mend__buffer_str(&list->bytes, text);
  const size_t end = list->bytes.len;
  mend__buffer_bytes(&list->ends, (const char *)&end, sizeof end);
}

bool text_list_failed(const text_list *list) { return list->bytes.failed || list->ends.failed; }

size_t text_list_count(const text_list *list) { return list->ends.len / sizeof(size_t); }

static size_t end_of(const text_list *list, size_t index) {
  size_t end;
  memcpy(&end, list->ends.data + index * sizeof end, sizeof end);
  return end;
}

mend_str text_list_get(const text_list *list, size_t index) {
  const size_t begin = index > 0 ? end_of(list, index - 1) : 0, end = end_of(list, index);
  return begin < end ? (mend_str){list->bytes.data + begin, end - begin} : MEND_STR("");
}

mend_str text_of(const mend__buffer *buffer) {
  return buffer->len > 0 ? (mend_str){buffer->data, buffer->len} : MEND_STR("");
}
