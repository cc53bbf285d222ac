/* mend-docs: prints the tables of docs/ that come from the library, as Markdown; scripts/update-docs puts them there.
 *
 *   mend-docs events                 every built-in event and its fields (mend/events.def)
 *   mend-docs options [GROUP]...     every option, or those of these groups (mend/options.def)
 *   mend-docs aliases                other names options answer to
 *   mend-docs threads HEADER...      what the headers' lines `Threads:` say
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
    printf("| `%s` | `%s` | ", info.name, info.fallback);
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

/* ---- The program ------------------------------------------------------------------------------------------- */

typedef struct topic {
  const char *name;
  int (*print)(int count, char **arguments);
} topic;

int main(int argc, char **argv) {
  static const topic topics[] = {
      {"events", print_events}, {"options", print_options}, {"aliases", print_aliases}, {"threads", print_threads}};
  for (size_t i = 0; argc > 1 && i < sizeof topics / sizeof *topics; i++) {
    if (strcmp(argv[1], topics[i].name) == 0) return topics[i].print(argc - 2, argv + 2);
  }
  fputs("usage: mend-docs events | options [GROUP]... | aliases | threads HEADER...\n", stderr);
  return EXIT_FAILURE;
}
