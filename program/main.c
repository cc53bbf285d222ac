/* The program mend: a table of sub-commands. */
#include "program/cli/commands.h"

static void help(FILE *out) {
  fputs("Usage: mend COMMAND [ARGUMENT]...\n"
        "\n"
        "Keeps runs of LLM agents alive.\n"
        "\n"
        "Commands:\n",
        out);
  for (const cli_command *const *each = cli_commands; *each != NULL; each++)
    fprintf(out, "  %-10s %s\n", (*each)->name, (*each)->summary);
  fputs("  help       explain a command: mend help replay\n"
        "\n"
        "Options:\n"
        "  --help     this text\n"
        "  --version  the version\n",
        out);
}

static const cli_command *find_command(const char *name) {
  for (const cli_command *const *each = cli_commands; *each != NULL; each++) {
    if (strcmp((*each)->name, name) == 0) return *each;
  }
  return NULL;
}

static int unknown_command(const char *name) {
  enum { MOST = 32 };
  const char *words[MOST + 4] = {NULL};
  size_t count = 0;
  for (; count < MOST && cli_commands[count] != NULL; count++)
    words[count] = cli_commands[count]->name;
  words[count] = "help";
  words[count + 1] = "--version";
  words[count + 2] = "--help";
  return cli_unknown(name[0] == '-' ? "option" : "command", name, words, "mend --help");
}

static int show_help(const char *command_name) {
  if (command_name == NULL) {
    help(stdout);
    return CLI_FINE;
  }
  const cli_command *command = find_command(command_name);
  if (command == NULL) return unknown_command(command_name);
  command->help(stdout);
  return CLI_FINE;
}

static int dispatch(int argc, char **argv) {
  if (argc < 2) {
    help(stderr);
    return CLI_FAILED;
  }
  const char *name = argv[1];
  if (strcmp(name, "--version") == 0) return cli_show_version();
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) return show_help(NULL);
  if (strcmp(name, "help") == 0) return show_help(argv[2]);
  const cli_command *command = find_command(name);
  return command != NULL ? command->main(argc - 1, argv + 1) : unknown_command(name);
}

int main(int argc, char **argv) {
  cli_prepare_streams();
  return cli_finish(dispatch(argc, argv));
}
