/* What docs/api/journal.md quotes. */
#include <mend/journal.h>

#include <stdio.h>

static mend_status record(const char *path, mend_error *error) {
  mend_bus *bus = NULL;
  mend_run *run = NULL;
  mend_journal *journal = NULL;
  mend_journal_options options = MEND_JOURNAL_OPTIONS_INIT;
  options.path = path;
  mend_status status = mend_bus_new(NULL, &bus, error);
  if (status == MEND_OK) status = mend_journal_open(bus, &options, &journal, error);
  if (status == MEND_OK) status = mend_run_new(bus, NULL, &run, NULL);
  if (status == MEND_OK)
    status = mend_run_emit(run, "tool.before", "{\"tool\": \"search\", \"args\": {\"q\": 1}}", error);
  const mend_status closed = mend_journal_close(journal, error); /* says whether all of it is in the file */
  mend_run_release(run);
  mend_bus_release(bus);
  return status == MEND_OK ? closed : status;
}

static mend_status print(const char *path, mend_error *error) {
  mend_journal_reader *reader;
  mend_status status = mend_journal_reader_open(NULL, path, &reader, error);
  if (status != MEND_OK) return status;
  mend_journal_line line = MEND_JOURNAL_LINE_INIT;
  while ((status = mend_journal_reader_next(reader, &line, error)) != MEND_ENOENT) {
    if (status == MEND_ESYNTAX || status == MEND_ELIMIT) continue; /* a broken line; the next one may be whole */
    if (status != MEND_OK) break;
    printf("%llu: %.*s\n", (unsigned long long)line.number, MEND_STR_ARG(line.topic));
  }
  mend_journal_reader_free(reader);
  return status == MEND_ENOENT ? MEND_OK : status;
}

int main(int argc, char **argv) {
  const char *path = argc > 1 ? argv[1] : "run.jsonl";
  mend_error error = MEND_ERROR_INIT;
  mend_status status = record(path, &error);
  if (status == MEND_OK) status = print(path, &error);
  if (status != MEND_OK) fprintf(stderr, "%s\n", mend_error_sentence(&error, status));
  return status == MEND_OK ? 0 : 1;
}
