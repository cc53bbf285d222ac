/* mend completion: scripts made from the tables of commands and options. */
#include "core/buffer.h"
#include "program/cli/arguments.h"
#include "program/cli/commands.h"

/* Values of options that can be named; others are completed as files. */
static const struct {
  const char *option, *words;
} values[] = {
    {"--mode", "evidence seed"},
    {"--fail-on", "loop stall regression budget none"},
    {"--to", "journal otlp"},
};

static const char *words_of(const char *option) {
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
    if (strcmp(values[i].option, option) == 0) return values[i].words;
  }
  return NULL;
}

static void print_names(FILE *out) {
  mend_option_info info = {.size = sizeof info};
  for (size_t i = 0; mend_option_at(i, &info) == MEND_OK; i++)
    fprintf(out, "%s%s=", i > 0 ? " " : "", info.name);
}

/* ---- bash, and zsh, which can read that -------------------------------------------------------------------- */

static void print_bash(FILE *out) {
  fputs("_mend() {\n"
        "  local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=\n"
        "  case $before in\n",
        out);
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
    fprintf(out, "  %s) words='%s' ;;\n", values[i].option, values[i].words);
  fputs("  --set) words='", out);
  print_names(out);
  fputs("'; compopt -o nospace ;;\n"
        "  mend | help) words='",
        out);
  for (const cli_command *const *each = cli_commands; *each != NULL; each++)
    fprintf(out, "%s ", (*each)->name);
  fputs("help' ;;\n"
        "  *) [[ $COMP_CWORD -ne 2 || ${COMP_WORDS[1]} != replay ]] || words='diff convert'\n"
        "    case $cur in -*) case ${COMP_WORDS[1]} in\n",
        out);
  for (const cli_command *const *each = cli_commands; *each != NULL; each++) {
    fprintf(out, "    %s) words='", (*each)->name);
    for (size_t i = 0; i < (*each)->syntax->count; i++)
      fprintf(out, "%s%s", i > 0 ? " " : "", (*each)->syntax->options[i].name);
    fputs("' ;;\n", out);
  }
  fputs("    esac ;; esac ;;\n"
        "  esac\n"
        "  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
        "}\n"
        "complete -o default -F _mend mend\n",
        out);
}

static void print_zsh(FILE *out) {
  fputs("autoload -U +X bashcompinit && bashcompinit\n", out);
  print_bash(out);
}

/* ---- fish -------------------------------------------------------------------------------------------------- */

static void print_fish_option(FILE *out, const char *command, const cli_option *option) {
  const char *words = words_of(option->name);
  fprintf(out, "complete -c mend -n '__fish_seen_subcommand_from %s' -l %s", command, option->name + strlen("--"));
  if (strcmp(option->name, "--set") == 0) {
    fputs(" -x -a '", out);
    print_names(out);
    fputc('\'', out);
  } else if (words != NULL) {
    fprintf(out, " -x -a '%s'", words);
  } else if (option->set != NULL) {
    fputs(" -r", out);
  }
  fputc('\n', out);
}

static void print_fish(FILE *out) {
  fputs("complete -c mend -n '__fish_seen_subcommand_from replay' -a 'diff convert'\n", out);
  for (const cli_command *const *each = cli_commands; *each != NULL; each++) {
    const cli_command *command = *each;
    fprintf(out, "complete -c mend -n __fish_use_subcommand -f -a %s -d '%s'\n", command->name, command->summary);
    for (size_t i = 0; i < command->syntax->count; i++)
      print_fish_option(out, command->name, &command->syntax->options[i]);
  }
}

/* ---- The command ------------------------------------------------------------------------------------------- */

static const struct {
  const char *name;
  void (*print)(FILE *out);
} shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};

typedef struct arguments {
  bool help;
} arguments;

static const cli_option options[] = {{"--help", offsetof(arguments, help), NULL}};
static const cli_syntax syntax = {options, sizeof options / sizeof options[0], "mend completion --help"};

static void help(FILE *out) {
  fputs("Usage: mend completion bash|zsh|fish\n"
        "\n"
        "Prints a script with which the shell completes mend's commands and options.\n"
        "\n"
        "  source <(mend completion bash)              in ~/.bashrc\n"
        "  source <(mend completion zsh)               in ~/.zshrc, after compinit\n"
        "  mend completion fish | source               in ~/.config/fish/config.fish\n",
        out);
}

static int print_for(const char *name) {
  const char *names[sizeof shells / sizeof shells[0] + 1] = {NULL};
  for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++) {
    names[i] = shells[i].name;
    if (strcmp(shells[i].name, name) != 0) continue;
    shells[i].print(stdout);
    return CLI_FINE;
  }
  return cli_unknown("shell", name, names, syntax.help);
}

static int run_completion(int argc, char **argv) {
  arguments given = {.help = false};
  const char *operands[16];
  size_t count;
  if (argc > (int)(sizeof operands / sizeof operands[0])) return cli_fail("expected one shell, %d given", argc - 1);
  if (cli_take_arguments(&syntax, argc, argv, &given, operands, &count) != CLI_FINE) return CLI_FAILED;
  if (given.help) {
    help(stdout);
    return CLI_FINE;
  }
  if (count != 1) return cli_fail("expected one shell: bash, zsh or fish");
  return print_for(operands[0]);
}

const cli_command cli_completion = {"completion", "print a script that lets a shell complete these commands",
                                    run_completion, help, &syntax};
