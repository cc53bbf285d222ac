/* What docs/api/options.md quotes. */
#include <mend/options.h>

#include <stdio.h>

/* What a program was told with --set NAME=VALUE. */
static mend_status set_one(mend_option_tree *tree, const char *setting, mend_error *error) {
  const char *equals = strchr(setting, '=');
  if (equals == NULL) return mend_error_set(error, MEND_EINVAL, "\"%s\": expected NAME=VALUE", setting);
  const mend_str name = {setting, (size_t)(equals - setting)};
  return mend_option_tree_set(tree, name, mend_str_from(equals + 1), error);
}

int main(int argc, char **argv) {
  const mend_str config = MEND_STR("{\"loop\": {\"k\": 5, \"n\": 20}, \"stall.timeout_s\": 120}");
  mend_error error = MEND_ERROR_INIT;
  mend_option_tree *tree = NULL;
  mend_status status = mend_option_tree_new(NULL, &tree);
  if (status == MEND_OK) status = mend_option_tree_load(tree, config, &error);
  for (int i = 1; i < argc && status == MEND_OK; i++)
    status = set_one(tree, argv[i], &error);
  if (status == MEND_OK) status = mend_option_tree_check(tree, &error); /* after --set, whose order does not matter */
  if (status == MEND_OK) {
    const mend_options *options = mend_option_tree_get(tree);
    printf("a loop: more than %u of %u calls; a stall: %g s\n", options->loop.k, options->loop.n,
           options->stall.timeout_s);
  } else {
    fprintf(stderr, "%s\n", mend_error_sentence(&error, status));
  }
  mend_option_tree_free(tree);
  return status == MEND_OK ? 0 : 2;
}
