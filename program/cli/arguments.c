#include "program/cli/arguments.h"

static const cli_option *find_option(const cli_syntax *syntax, const char *text, size_t len) {
  for (size_t i = 0; i < syntax->count; i++) {
    const cli_option *option = &syntax->options[i];
    if (strlen(option->name) == len && memcmp(option->name, text, len) == 0) return option;
  }
  return NULL;
}

static int unknown_option(const cli_syntax *syntax, const char *text, size_t len) {
  enum { MOST = 32 };
  const char *names[MOST + 1] = {NULL};
  char word[64];
  snprintf(word, sizeof word, "%.*s", len < sizeof word ? (int)len : (int)sizeof word - 1, text);
  for (size_t i = 0; i < syntax->count && i < MOST; i++)
    names[i] = syntax->options[i].name;
  return cli_unknown("option", word, names, syntax->help);
}

/* Takes the option at argv[*at]; its value may be the next argument. */
static int take_option(const cli_syntax *syntax, char **argv, int *at, void *to) {
  const char *text = strcmp(argv[*at], "-h") == 0 ? "--help" : argv[*at];
  const char *equals = strchr(text, '=');
  const size_t len = equals != NULL ? (size_t)(equals - text) : strlen(text);
  const cli_option *found = find_option(syntax, text, len);
  if (found == NULL) return unknown_option(syntax, text, len);
  if (found->set == NULL) {
    if (equals != NULL) return cli_fail("%s takes no value", found->name);
    *(bool *)(void *)((char *)to + found->flag) = true;
    return CLI_FINE;
  }
  if (equals != NULL) return found->set(to, equals + 1);
  if (argv[*at + 1] == NULL) return cli_fail("%s needs a value", found->name);
  return found->set(to, argv[++*at]);
}

int cli_take_arguments(const cli_syntax *syntax, int argc, char **argv, void *to, const char **operands,
                       size_t *ret_count) {
  bool only_operands = false;
  size_t count = 0;
  for (int i = 1; i < argc; i++) {
    if (only_operands || argv[i][0] != '-' || argv[i][1] == '\0') {
      operands[count++] = argv[i];
    } else if (strcmp(argv[i], "--") == 0) {
      only_operands = true;
    } else if (take_option(syntax, argv, &i, to) != CLI_FINE) {
      return CLI_FAILED;
    }
  }
  *ret_count = count;
  return CLI_FINE;
}
