/* What the doctor has found, a line each: for people, or JSON. */
#ifndef MEND_PROGRAM_DOCTOR_SHEET_H
#define MEND_PROGRAM_DOCTOR_SHEET_H

#include "core/buffer.h"

#include <stdio.h>

typedef enum doctor_state { DOCTOR_OK, DOCTOR_WARNING, DOCTOR_PROBLEM, DOCTOR_NOT_CHECKED } doctor_state;

typedef struct doctor_sheet {
  FILE *out;
  bool json, colour;
  size_t width;       /* columns */
  bool has_told_skew; /* of this machine's clock, which all providers see */
  unsigned counts[DOCTOR_NOT_CHECKED + 1];
} doctor_sheet;

/* check: what was looked at. advice: what to do about it, NULL: nothing. */
void doctor_say(doctor_sheet *sheet, doctor_state state, const char *check, const char *advice, const char *format, ...)
    MEND_PRINTF(5, 6);
/* How many problems and warnings there were; of JSON that is for the reader to count. */
void doctor_sum_up(const doctor_sheet *sheet);

#endif
