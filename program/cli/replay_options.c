#include "program/cli/replay_options.h"

#include "core/options_json.h"
#include "program/base/json_fields.h"
#include "program/base/plain.h"
#include "program/cli/cli.h"

/* Who makes use of an option. */
typedef enum use { USED_HERE, USED_BY_EVIDENCE, USED_ELSEWHERE } use;

static bool begins_with(const char *text, const char *beginning) {
  return strncmp(text, beginning, strlen(beginning)) == 0;
}

static bool ends_with(const char *text, const char *end) {
  const size_t len = strlen(text), end_len = strlen(end);
  return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

/* Recorded models cannot be failed over, and the watchdogs have deadlines of their own. */
static use use_of(const mend_option_info *info) {
  if (begins_with(info->name, "fallback.") || strcmp(info->name, "poll_interval_s") == 0) return USED_ELSEWHERE;
  return ends_with(info->help, "(mode evidence)") ? USED_BY_EVIDENCE : USED_HERE;
}

/* ---- Help -------------------------------------------------------------------------------------------------- */

/* The help without the mode, which the heading names. */
static mend_str help_of(const mend_option_info *info) {
  static const char mode[] = " (mode evidence)";
  mend_str help = mend_str_from(info->help);
  if (ends_with(info->help, mode)) help.len -= sizeof mode - 1;
  return help;
}

static void write_option(mend__buffer *sentence, const mend_option_info *info) {
  if (strcmp(info->name, "mode") == 0) {
    mend__buffer_str(sentence, MEND_STR("evidence weighs what calls answered; seed is Orqest's rules to the letter"));
    return;
  }
  const char *fallback = info->evidence != NULL ? info->evidence : info->fallback;
  mend__buffer_printf(sentence, "%.*s (%s, %s; default %s", MEND_STR_ARG(help_of(info)), info->type, info->range,
                      fallback);
  if (info->evidence != NULL) mend__buffer_printf(sentence, ", in mode seed %s", info->fallback);
  mend__buffer_char(sentence, ')');
}

/* What an option does, then what it may be. */
static void help_option(FILE *out, const mend_option_info *info) {
  enum { INDENT = 24 };
  mend__buffer sentence, text;
  mend__buffer_init(&sentence, NULL);
  mend__buffer_init(&text, NULL);
  write_option(&sentence, info);
  mend__buffer_printf(&text, "  %-*s ", INDENT - 3, info->name);
  plain_wrap(&text, mend__buffer_text(&sentence), PLAIN_WIDTH, INDENT, INDENT);
  if (!sentence.failed && !text.failed) fwrite(text.data, 1, text.len, out);
  mend__buffer_free(&sentence);
  mend__buffer_free(&text);
}

static void help_options(FILE *out, use wanted) {
  mend_option_info info = {.size = sizeof info};
  for (size_t i = 0; mend_option_at(i, &info) == MEND_OK; i++) {
    if (use_of(&info) == wanted) help_option(out, &info);
  }
}

void replay_options_help(FILE *out) {
  fputs("Options of the watchdogs, for --set and --config:\n", out);
  help_options(out, USED_HERE);
  fputs("\nOnly in mode evidence, the default:\n", out);
  help_options(out, USED_BY_EVIDENCE);
}

/* ---- Options that do nothing ------------------------------------------------------------------------------- */

/* The value at "loop.k" in a tree of options written as JSON. */
static mend_str value_of(mend_str tree, const char *name) {
  const char *dot = strchr(name, '.');
  const size_t len = dot != NULL ? (size_t)(dot - name) : strlen(name);
  json_field field = {.name = {name, len}};
  json_fields_read(tree, &field, 1, NULL);
  return dot != NULL ? value_of(field.value, dot + 1) : field.value;
}

static void tell_idle(const mend_option_info *info) {
  const char *where = use_of(info) == USED_BY_EVIDENCE ? "mode seed" : "a replay";
  cli_remark("%s has no effect in %s", info->name, where);
}

/* Halves of less than three readings are moved by a single one. */
static void tell_narrow_window(const mend_options *given) {
  enum { WIDE_ENOUGH = 6 };
  const mend_regression_watchdog_options *regression = &given->regression;
  if (!regression->enable || regression->window_n >= WIDE_ENOUGH) return;
  cli_remark("regression.window_n is %u: with noisy readings that often raises false alarms; 10 is a good start",
             (unsigned)regression->window_n);
}

static bool is_idle(const mend_option_info *info, mend_watch_mode mode) {
  const use by = use_of(info);
  return by == USED_ELSEWHERE || (by == USED_BY_EVIDENCE && mode == MEND_WATCH_MODE_SEED);
}

static bool is_pattern_of_tools(const mend_option_info *info) {
  return begins_with(info->range, "array of names") || strstr(info->range, "pattern") != NULL;
}

/* A pattern is the beginning of a name and "*": a "*" elsewhere stands for itself. */
static void tell_pattern(const mend_option_info *info, mend_str value) {
  mend_json json;
  mend_json_init(&json, value, MEND_JSON_DEPTH);
  while (mend_json_next(&json) > MEND_JSON_END) {
    const bool is_name = json.token == MEND_JSON_KEY || json.token == MEND_JSON_STRING;
    const char *star = is_name && json.slice.len > 0 ? memchr(json.slice.ptr, '*', json.slice.len - 1) : NULL;
    if (star == NULL) continue;
    cli_remark("%s: \"%.*s\" matches no tool: only a * at the end stands for the rest of a name", info->name,
               MEND_STR_ARG(json.slice));
  }
}

/* The option was given another value than its default. */
static void tell_changed(const mend_option_info *info, const mend_options *given, mend_str value) {
  if (is_idle(info, given->mode)) {
    tell_idle(info);
  } else if (begins_with(info->name, "budget.") && !given->budget.enable) {
    cli_remark("%s has no effect without budget.enable=true", info->name);
  } else if (is_pattern_of_tools(info)) {
    tell_pattern(info, value);
  }
}

static mend_status tell_all_changed(const mend_option_tree *tree, const mend_options *given) {
  const mend_options defaults = MEND_OPTIONS_INIT;
  mend__buffer before, after;
  mend__buffer_init(&before, NULL);
  mend__buffer_init(&after, NULL);
  mend__options_write(&before, &defaults);
  mend__options_write(&after, given);
  const mend_status status = before.failed || after.failed ? MEND_ENOMEM : MEND_OK;
  mend_option_info info = {.size = sizeof info};
  for (size_t i = 0; status == MEND_OK && mend_option_at(i, &info) == MEND_OK; i++) {
    if (!mend_option_tree_given(tree, mend_str_from(info.name))) continue;
    const mend_str value = value_of(mend__buffer_text(&after), info.name);
    if (mend_str_equal(value_of(mend__buffer_text(&before), info.name), value)) continue;
    tell_changed(&info, given, value);
  }
  mend__buffer_free(&before);
  mend__buffer_free(&after);
  return status;
}

mend_status replay_options_tell(const mend_option_tree *tree) {
  const mend_options *given = mend_option_tree_get(tree);
  tell_narrow_window(given);
  return tell_all_changed(tree, given);
}
