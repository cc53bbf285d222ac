#include "core/options_json.h"

#include "core/option_internal.h"

static void write_value(mend__buffer *buffer, const mend__option *option, mend__option_value value) {
  switch (option->type) {
  case MEND__OPTION_SWITCH: mend__buffer_str(buffer, value.on ? MEND_STR("true") : MEND_STR("false")); break;
  case MEND__OPTION_COUNT: mend__buffer_u64(buffer, value.count); break;
  case MEND__OPTION_AMOUNT: mend__buffer_u64(buffer, value.amount); break;
  case MEND__OPTION_SECONDS:
  case MEND__OPTION_RATIO:
  case MEND__OPTION_MONEY: mend__buffer_f64(buffer, value.number); break;
  case MEND__OPTION_CHOICE: mend__buffer_str(buffer, mend_str_from(option->choices[value.choice])); break;
  case MEND__OPTION_NAMES:
  case MEND__OPTION_LIMITS:
  case MEND__OPTION_MASKS:
  case MEND__OPTION_COUNTS: mend__buffer_str(buffer, value.text); break;
  }
}

/* The part of a name before its dot, empty for the tree's own members. */
static mend_str group_of(const char *name) {
  const char *dot = strchr(name, '.');
  return (mend_str){name, dot != NULL ? (size_t)(dot - name) : 0};
}

void mend__options_write(mend__buffer *buffer, const mend_options *options) {
  mend_str open = {"", 0};
  mend__buffer_char(buffer, '{');
  for (int i = 0; i < MEND__OPTIONS_COUNT; i++) {
    const mend__option *option = &mend__options[i];
    const mend__option_value value = mend__option_load(option, options);
    if (mend__option_is_text(option) && value.text.ptr == NULL) continue;
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
    write_value(buffer, option, value);
  }
  if (open.len > 0) mend__buffer_char(buffer, '}');
  mend__buffer_char(buffer, '}');
}
