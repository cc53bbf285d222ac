#include "program/reports/spool.h"

/* So much of it is in memory. */
static const size_t SPOOL_MAX = 256 * 1024;

void spool_init(spool *of) {
  of->file = NULL;
  mend__buffer_init(&of->text, NULL);
}

void spool_free(spool *of) {
  mend__buffer_free(&of->text);
  if (of->file != NULL) fclose(of->file);
}

mend_status spool_settle(spool *of) {
  if (of->text.failed) return MEND_ENOMEM;
  if (of->text.len < SPOOL_MAX) return MEND_OK;
  if (of->file == NULL) of->file = tmpfile();
  if (of->file == NULL || fwrite(of->text.data, 1, of->text.len, of->file) != of->text.len) return MEND_EIO;
  mend__buffer_clear(&of->text);
  return MEND_OK;
}

static mend_status write_file(FILE *file, outlet *to) {
  char piece[16 * 1024];
  mend_status status = MEND_OK;
  if (fflush(file) != 0 || fseek(file, 0, SEEK_SET) != 0) return MEND_EIO;
  size_t got;
  while (status == MEND_OK && (got = fread(piece, 1, sizeof piece, file)) > 0)
    status = outlet_write(to, (mend_str){piece, got});
  return status == MEND_OK && ferror(file) != 0 ? MEND_EIO : status;
}

mend_status spool_write(spool *of, outlet *to) {
  mend_status status = of->file != NULL ? write_file(of->file, to) : MEND_OK;
  if (status == MEND_OK) status = outlet_put(to, &of->text);
  return status;
}
