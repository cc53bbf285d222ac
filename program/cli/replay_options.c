#include "program/cli/replay_options.h"

#include "core/options_json.h"
#include "program/replay/json_fields.h"
#include "program/replay/plain.h"

/* Who makes use of an option. */
typedef enum use { USED_HERE, USED_BY_EVIDENCE, USED_ELSEWHERE } use;

static bool begins_with(const char *text, const char *beginning) {
  return strncmp(text, beginning, strlen(beginning)) == 0;
}

static bool ends_with(const char *text, const char *end) {
  const size_t len = strlen(text), end_len = strlen(end);
  return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

/* Recorded models cannot be failed over, and the watchdogs of mode seed have deadlines of their own. */
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

/* What an option does, then what it may be. */
static void help_option(FILE *out, const mend_option_info *info) {
  enum { INDENT = 24 };
  mend__buffer sentence, text;
  mend__buffer_init(&sentence, NULL);
  mend__buffer_init(&text, NULL);
  if (strcmp(info->name, "mode") == 0) {
    mend__buffer_str(&sentence, MEND_STR("which rules; seed is the only one so far"));
  } else {
    mend__buffer_printf(&sentence, "%.*s (%s, %s; default %s)", MEND_STR_ARG(help_of(info)), info->type, info->range,
                        info->fallback);
  }
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
  fputs("Options of the watchdogs:\n", out);
  help_options(out, USED_HERE);
  fputs("\nOptions of mode evidence, which does not exist yet (they are checked, no more):\n", out);
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

static mend_status tell_idle(const mend_option_info *info, report *to) {
  char sentence[160];
  const char *where = use_of(info) == USED_BY_EVIDENCE ? "mode seed" : "a replay";
  snprintf(sentence, sizeof sentence, "%s has no effect in %s", info->name, where);
  return to->remark(to, mend_str_from(sentence));
}

/* Halves of less than three readings are moved by a single one. */
static mend_status tell_narrow_window(const mend_options *given, report *to) {
  enum { WIDE_ENOUGH = 6 };
  const mend_regression_watchdog_options *regression = &given->regression;
  if (!regression->enable || regression->window_n >= WIDE_ENOUGH) return MEND_OK;
  char sentence[160];
  snprintf(sentence, sizeof sentence,
           "regression.window_n is %u: with noisy readings that often raises false alarms; 10 is a good start",
           (unsigned)regression->window_n);
  return to->remark(to, mend_str_from(sentence));
}

static mend_status tell_all_idle(const mend_options *given, report *to) {
  const mend_options defaults = MEND_OPTIONS_INIT;
  mend__buffer before, after;
  mend__buffer_init(&before, NULL);
  mend__buffer_init(&after, NULL);
  mend__options_write(&before, &defaults);
  mend__options_write(&after, given);
  mend_status status = before.failed || after.failed ? MEND_ENOMEM : MEND_OK;
  mend_option_info info = {.size = sizeof info};
  for (size_t i = 0; status == MEND_OK && mend_option_at(i, &info) == MEND_OK; i++) {
    const bool changed = !mend_str_equal(value_of(mend__buffer_text(&before), info.name),
                                         value_of(mend__buffer_text(&after), info.name));
    if (changed && use_of(&info) != USED_HERE) status = tell_idle(&info, to);
  }
  mend__buffer_free(&before);
  mend__buffer_free(&after);
  return status;
}

mend_status replay_options_tell(const mend_options *given, report *to) {
  const mend_status status = tell_all_idle(given, to);
  return status == MEND_OK ? tell_narrow_window(given, to) : status;
}
