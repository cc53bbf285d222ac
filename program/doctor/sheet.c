#include "program/doctor/sheet.h"

#include "program/base/plain.h"

#include <stdarg.h>

static const char *const state_names[] = {"ok", "warning", "problem", "not checked"};

/* ---- Lines ---- */

static void print(const doctor_sheet *sheet, mend__buffer *line) {
  if (!line->failed) fwrite(line->data, 1, line->len, sheet->out);
  mend__buffer_free(line);
}

static void print_json(const doctor_sheet *sheet, doctor_state state, const char *check, mend_str message,
                       const char *advice) {
  mend__buffer line;
  mend__buffer_init(&line, NULL);
  mend__buffer_printf(&line, "{\"state\":\"%s\",\"check\":", state_names[state]);
  mend__buffer_json_string(&line, mend_str_from(check));
  mend__buffer_str(&line, MEND_STR(",\"message\":"));
  mend__buffer_json_string(&line, message);
  mend__buffer_str(&line, MEND_STR(",\"advice\":"));
  mend__buffer_json_text(&line, advice != NULL ? mend_str_from(advice) : (mend_str){NULL, 0});
  mend__buffer_str(&line, MEND_STR("}\n"));
  print(sheet, &line);
}

static void write_plain(mend__buffer *line, const doctor_sheet *sheet, mend_str text, size_t indent) {
  mend__buffer plain;
  mend__buffer_init(&plain, NULL);
  plain_text(&plain, text, 4096);
  plain_wrap(line, mend__buffer_text(&plain), sheet->width, indent, indent);
  line->failed |= plain.failed;
  mend__buffer_free(&plain);
}

static void print_plain(const doctor_sheet *sheet, doctor_state state, mend_str message, const char *advice) {
  static const char *const colours[] = {"\033[32m", "\033[33m", "\033[31m", "\033[2m"};
  enum { INDENT = 15 };
  mend__buffer line;
  mend__buffer_init(&line, NULL);
  mend__buffer_printf(&line, "  %s%-11s%s  ", sheet->colour ? colours[state] : "", state_names[state],
                      sheet->colour ? "\033[0m" : "");
  write_plain(&line, sheet, message, INDENT);
  if (advice != NULL) {
    mend__buffer_printf(&line, "%*s", INDENT, "");
    write_plain(&line, sheet, mend_str_from(advice), INDENT);
  }
  print(sheet, &line);
}

void doctor_say(doctor_sheet *sheet, doctor_state state, const char *check, const char *advice, const char *format,
                ...) {
  char text[2048];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  sheet->counts[state]++;
  if (sheet->json) {
    print_json(sheet, state, check, mend_str_from(text), advice);
    return;
  }
  mend__buffer message;
  mend__buffer_init(&message, NULL);
  mend__buffer_printf(&message, "%s: %s", check, text);
  if (!message.failed) print_plain(sheet, state, mend__buffer_text(&message), advice);
  mend__buffer_free(&message);
}

/* ---- The sum ---- */

void doctor_sum_up(const doctor_sheet *sheet) {
  if (sheet->json) return;
  mend__buffer line;
  mend__buffer_init(&line, NULL);
  mend__buffer_char(&line, '\n');
  plain_count(&line, sheet->counts[DOCTOR_PROBLEM], "problem");
  mend__buffer_str(&line, MEND_STR(", "));
  plain_count(&line, sheet->counts[DOCTOR_WARNING], "warning");
  mend__buffer_char(&line, '\n');
  print(sheet, &line);
}
