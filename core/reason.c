#include "core/reason.h"

#include <stddef.h>
#include <string.h>

const char *mend__reason(int number) {
#ifdef __GLIBC__
  const char *text = strerrordesc_np(number);
  return text != NULL ? text : "unknown error";
#else
  return strerror(number);
#endif
}
