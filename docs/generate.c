/* mend-docs: prints the tables of docs/ that come from the library, as Markdown; scripts/update-docs puts them there.
 *
 *   mend-docs events                 every built-in event and its fields (mend/events.def)
 *   mend-docs options [GROUP]...     every option, or those of these groups (mend/options.def)
 *   mend-docs aliases                other names options answer to
 *   mend-docs threads HEADER...      what the headers' lines `Threads:` say
 *   mend-docs classification         the built-in rows of the classification of models' failures
 */
#include <mend.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- Text -------------------------------------------------------------------------------------------------- */

/* A cell of a table: a bar would end it. */
static void print_cell(const char *text) {
  for (; *text != '\0'; text++) {
    if (*text == '|') putchar('\\');
    putchar(*text);
  }
}

static void print_row(const char *name, const char *type, const char *what) {
  printf("| `%s` | %s | ", name, type);
  print_cell(what);
  puts(" |");
}

/* ---- Events ------------------------------------------------------------------------------------------------ */

typedef struct field {
  const char *type, *name, *what;
} field;

typedef struct event {
  const char *topic, *kind, *what;
  const field *fields;
  size_t field_count;
} event;

#define FIELD_ROW(TYPE, name, what) {#TYPE, #name, what},
#define FIELD_LIST(KIND, kind, topic, what) static const field kind##_fields[] = {MEND_FIELDS_##kind(FIELD_ROW)};
MEND_EVENTS(FIELD_LIST)

#define EVENT_ROW(KIND, kind, topic, what)                                                                             \
  {topic, #kind, what, kind##_fields, sizeof kind##_fields / sizeof *kind##_fields},
static const event events[] = {MEND_EVENTS(EVENT_ROW)};

static void print_event(const event *each) {
  printf("### %s\n\n%c%s. `mend_%s_event`\n\n", each->topic, toupper(each->what[0]), each->what + 1, each->kind);
  puts("| field | type | what |\n|---|---|---|");
  for (size_t i = 0; i < each->field_count; i++)
    print_row(each->fields[i].name, each->fields[i].type, each->fields[i].what);
}

static int print_events(int count, char **names) {
  (void)count, (void)names;
  for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
    if (i > 0) putchar('\n');
    print_event(&events[i]);
  }
  return EXIT_SUCCESS;
}

/* ---- Options ----------------------------------------------------------------------------------------------- */

static bool is_in_group(const char *option, const char *group) {
  const size_t len = strlen(group);
  return strncmp(option, group, len) == 0 && option[len] == '.';
}

static bool is_wanted(const char *option, int count, char **groups) {
  for (int i = 0; i < count; i++) {
    if (is_in_group(option, groups[i])) return true;
  }
  return count == 0;
}

static int print_options(int count, char **groups) {
  mend_option_info info = {.size = sizeof info};
  puts("| option | default | range | what |\n|---|---|---|---|");
  for (size_t i = 0; mend_option_at(i, &info) == MEND_OK; i++) {
    if (!is_wanted(info.name, count, groups)) continue;
    printf("| `%s` | `%s`", info.name, info.fallback);
    if (info.evidence != NULL) printf("; in mode evidence `%s`", info.evidence);
    printf(" | ");
    print_cell(info.range);
    printf(" | ");
    print_cell(info.help);
    puts(" |");
  }
  return EXIT_SUCCESS;
}

static int print_aliases(int count, char **names) {
  (void)count, (void)names;
#define ALIAS_ROW(alias, path) printf("| `%s` | `%s` |\n", alias, path);
  puts("| also called | option |\n|---|---|");
  MEND_OPTION_ALIASES(ALIAS_ROW)
  return EXIT_SUCCESS;
}

/* ---- Threads ----------------------------------------------------------------------------------------------- */

static const char MARK[] = " * Threads: ";

/* A line of a comment goes on with a paragraph: its text, without what begins and ends the line; NULL at the end. */
static char *paragraph_text(char *line) {
  line[strcspn(line, "\n")] = '\0';
  return strncmp(line, " * ", 3) == 0 && line[3] != '\0' ? line + 3 : NULL;
}

static bool print_paragraph(FILE *header) {
  char line[512];
  while (fgets(line, sizeof line, header) != NULL) {
    if (strncmp(line, MARK, sizeof MARK - 1) != 0) continue;
    for (char *text = paragraph_text(line) + strlen("Threads: "); text != NULL;) {
      print_cell(text);
      text = fgets(line, sizeof line, header) != NULL ? paragraph_text(line) : NULL;
      if (text != NULL) putchar(' ');
    }
    return true;
  }
  return false;
}

static bool print_header(const char *path) {
  FILE *header = fopen(path, "r");
  if (header == NULL) return false;
  const char *name = strrchr(path, '/');
  printf("| `%s` | ", name != NULL ? name + 1 : path);
  const bool found = print_paragraph(header);
  puts(" |");
  fclose(header);
  return found;
}

static int print_threads(int count, char **headers) {
  puts("| header | threads |\n|---|---|");
  for (int i = 0; i < count; i++) {
    if (print_header(headers[i])) continue;
    fprintf(stderr, "mend-docs: %s: no line \"Threads:\"\n", headers[i]);
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}

/* ---- The classification of models' failures ----------------------------------------------------------------- */

enum { NAME, ACTION, SEED, COOL_DOWN, SCOPE, REMEDY, COUNTS, PARKS, ALERT, HIDE_BODY, WAIT, STATUS, SAID };

/* What a row says beside its conditions. */
static const char *const said[SAID] = {"name",   "action", "seed",  "cool_down_s", "scope",  "remedy",
                                       "counts", "parks",  "alert", "hide_body",   "wait_s", "report_status"};

static void print_json(mend_str value) {
  const bool quoted = value.len > 0 && value.ptr[0] == '"';
  char text[1024];
  snprintf(text, sizeof text, "%.*s", (int)value.len - 2 * quoted, value.ptr + quoted);
  print_cell(text);
}

/* Reads what is said, and prints the conditions as they come. */
static void read_row(mend_json *json, mend_str values[SAID]) {
  bool any = false;
  while (mend_json_next(json) == MEND_JSON_KEY) {
    const mend_str key = json->slice;
    mend_str value = {NULL, 0};
    size_t i = 0;
    while (i < SAID && !mend_str_equal(key, mend_str_from(said[i])))
      i++;
    mend_json_value(json, &value);
    if (i < SAID) {
      values[i] = value;
      continue;
    }
    printf("%s%.*s `", any ? "; " : "", MEND_STR_ARG(key));
    print_json(value);
    putchar('`');
    any = true;
  }
  if (!any) printf("all else");
}

/* What a member says, in words: separated from what is before it in the cell. */
static void print_said(const char **before, const char *words, mend_str value) {
  if (value.ptr == NULL) return;
  printf("%s%s", *before, words);
  print_json(value);
  *before = ", ";
}

static void print_flag(const char **before, mend_str value, const char *wanted, const char *words) {
  if (!mend_str_equal(value, mend_str_from(wanted))) return;
  printf("%s%s", *before, words);
  *before = ", ";
}

static void print_outcome(const mend_str values[SAID]) {
  const char *before = " | ";
  print_said(&before, "", values[ACTION]);
  print_said(&before, "seed ", values[SEED]);
  before = " | ";
  fputs(values[COOL_DOWN].ptr == NULL ? " |" : "", stdout);
  print_said(&before, "", values[COOL_DOWN]);
  if (values[COOL_DOWN].ptr != NULL) print_said(&before, "", values[SCOPE]);
  before = " | ";
  print_said(&before, "", values[REMEDY]);
  print_flag(&before, values[COUNTS], "false", "does not count");
  print_flag(&before, values[COUNTS], "true", "counts");
  print_flag(&before, values[PARKS], "true", "parks");
  print_flag(&before, values[ALERT], "true", "alert");
  print_flag(&before, values[HIDE_BODY], "true", "hidden body");
  print_said(&before, "told as ", values[STATUS]);
  print_said(&before, "waits up to ", values[WAIT]);
  puts(before[0] == ' ' ? " | |" : " |");
}

static int print_classification(int count, char **arguments) {
  (void)count, (void)arguments;
  mend_json json;
  puts("| row | when | action | cool-down | also |\n|---|---|---|---|---|");
  mend_json_init(&json, mend_classification_builtin(), MEND_JSON_DEPTH);
  mend_json_next(&json);
  while (mend_json_next(&json) == MEND_JSON_OBJECT) {
    mend_str values[SAID] = {{NULL, 0}};
    mend_json ahead = json;
    while (mend_json_next(&ahead) == MEND_JSON_KEY && !mend_json_is(&ahead, MEND_STR("name")))
      mend_json_skip(&ahead);
    mend_json_next(&ahead);
    printf("| `%.*s` | ", MEND_STR_ARG(ahead.slice));
    read_row(&json, values);
    print_outcome(values);
  }
  return EXIT_SUCCESS;
}

/* ---- The program ------------------------------------------------------------------------------------------- */

typedef struct topic {
  const char *name;
  int (*print)(int count, char **arguments);
} topic;

int main(int argc, char **argv) {
  static const topic topics[] = {{"events", print_events},
                                 {"options", print_options},
                                 {"aliases", print_aliases},
                                 {"threads", print_threads},
                                 {"classification", print_classification}};
  for (size_t i = 0; argc > 1 && i < sizeof topics / sizeof *topics; i++) {
    if (strcmp(argv[1], topics[i].name) == 0) return topics[i].print(argc - 2, argv + 2);
  }
  fputs("usage: mend-docs events | options [GROUP]... | aliases | threads HEADER... | classification\n", stderr);
  return EXIT_FAILURE;
}
