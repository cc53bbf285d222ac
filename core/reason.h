/* House header: why a system call failed. */
#ifndef MEND_CORE_REASON_H
#define MEND_CORE_REASON_H

/* The text of an errno, without the locale's translation: "No such file or directory". Static. */
const char *mend__reason(int number);

#endif
