#include "core/option_internal.h"
#include "core/options_json.h"

static void write_text(mend__buffer *buffer, const char *field) {
  mend_str text;
  memcpy(&text, field, sizeof text);
  mend__buffer_str(buffer, text.ptr != NULL ? text : MEND_STR("null"));
}

static double double_at(const char *field) {
  double value;
  memcpy(&value, field, sizeof value);
  return value;
}

static uint64_t integer_at(const char *field, size_t size) {
  uint32_t narrow;
  uint64_t wide;
  memcpy(size == sizeof narrow ? (void *)&narrow : (void *)&wide, field, size);
  return size == sizeof narrow ? narrow : wide;
}

static void write_value(mend__buffer *buffer, const mend__option *option, const mend_options *options) {
  const char *field = (const char *)options + option->offset;
  switch (option->type) {
  case MEND__OPTION_SWITCH:
    mend__buffer_str(buffer, *(const bool *)field ? MEND_STR("true") : MEND_STR("false"));
    break;
  case MEND__OPTION_COUNT:
  case MEND__OPTION_AMOUNT: mend__buffer_u64(buffer, integer_at(field, option->size)); break;
  case MEND__OPTION_SECONDS:
  case MEND__OPTION_RATIO:
  case MEND__OPTION_MONEY: mend__buffer_f64(buffer, double_at(field)); break;
  case MEND__OPTION_CHOICE:
    mend__buffer_str(buffer, mend_str_from(option->choices[integer_at(field, option->size)]));
    break;
  case MEND__OPTION_NAMES:
  case MEND__OPTION_LIMITS:
  case MEND__OPTION_MASKS:
  case MEND__OPTION_COUNTS: write_text(buffer, field); break;
  }
}

/* The part of a name before its dot, empty for the tree's own members. */
static mend_str group_of(const char *name) {
  const char *dot = strchr(name, '.');
  return (mend_str){name, dot != NULL ? (size_t)(dot - name) : 0};
}

static bool is_absent(const mend__option *option, const mend_options *options) {
  mend_str text;
  if (!mend__option_is_text(option)) return false;
  memcpy(&text, (const char *)options + option->offset, sizeof text);
  return text.ptr == NULL;
}

void mend__options_write(mend__buffer *buffer, const mend_options *options) {
  mend_str open = {"", 0};
  mend__buffer_char(buffer, '{');
  for (int i = 0; i < MEND__OPTIONS_COUNT; i++) {
    const mend__option *option = &mend__options[i];
    if (is_absent(option, options)) continue;
    const mend_str group = group_of(option->name);
    const bool same = mend_str_equal(group, open);
    if (!same && open.len > 0) mend__buffer_char(buffer, '}');
    if (buffer->len > 0 && buffer->data[buffer->len - 1] != '{') mend__buffer_char(buffer, ',');
    if (!same && group.len > 0) {
      mend__buffer_json_string(buffer, group);
      mend__buffer_str(buffer, MEND_STR(":{"));
    }
    open = group;
    mend__buffer_json_string(buffer, mend_str_from(option->name + (group.len > 0 ? group.len + 1 : 0)));
    mend__buffer_char(buffer, ':');
    write_value(buffer, option, options);
  }
  if (open.len > 0) mend__buffer_char(buffer, '}');
  mend__buffer_char(buffer, '}');
}
