/* The program mend: a table of sub-commands. */
#include "program/cli/cli.h"

static const cli_command *const commands[] = {&cli_replay, NULL};

static void help(FILE *out) {
  fputs("Usage: mend COMMAND [ARGUMENT]...\n"
        "\n"
        "Keeps runs of LLM agents alive.\n"
        "\n"
        "Commands:\n",
        out);
  for (size_t i = 0; commands[i] != NULL; i++)
    fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
  fputs("  help       explain a command: mend help replay\n"
        "\n"
        "Options:\n"
        "  --help     this text\n"
        "  --version  the version\n",
        out);
}

static const cli_command *find_command(const char *name) {
  for (size_t i = 0; commands[i] != NULL; i++) {
    if (strcmp(commands[i]->name, name) == 0) return commands[i];
  }
  return NULL;
}

static int unknown_command(const char *name) {
  const char *names[sizeof commands / sizeof commands[0] + 1] = {"help"};
  for (size_t i = 0; commands[i] != NULL; i++)
    names[i + 1] = commands[i]->name;
  const char *near = cli_nearest(name, names);
  if (near == NULL) return cli_fail("unknown command %s; `mend --help` lists them", name);
  return cli_fail("unknown command %s; did you mean %s?", name, near);
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
  if (strcmp(name, "--version") == 0) {
    printf("mend %s\n", mend_version());
    return CLI_FINE;
  }
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) return show_help(NULL);
  if (strcmp(name, "help") == 0) return show_help(argv[2]);
  const cli_command *command = find_command(name);
  return command != NULL ? command->main(argc - 1, argv + 1) : unknown_command(name);
}

int main(int argc, char **argv) {
  cli_prepare_streams();
  return cli_finish(dispatch(argc, argv));
}
