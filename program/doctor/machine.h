/* What the doctor looks at on this machine. */
#ifndef MEND_PROGRAM_DOCTOR_MACHINE_H
#define MEND_PROGRAM_DOCTOR_MACHINE_H

#include "program/doctor/sheet.h"

/* Versions of the libraries, and what they can do. */
void doctor_check_libraries(doctor_sheet *sheet);
/* Whether the clocks can be right: certificates and retries depend on them. */
void doctor_check_clock(doctor_sheet *sheet);
/* Whether journals can be written in the folder, and who else may read them. */
void doctor_check_journals(doctor_sheet *sheet, const char *folder);
/* Variables of the environment that other programs heed and mend does not. */
void doctor_check_environment(doctor_sheet *sheet);

#endif
