#include "mend/core.h"

const char *mend_version(void) { return MEND_VERSION; }

const char *mend_status_name(mend_status status) {
  switch (status) {
#define MEND_STATUS(name, number, sentence)                                                                            \
  case MEND_##name:                                                                                                    \
    return "MEND_" #name;
#include "mend/status.def"
#undef MEND_STATUS
  }
  return "MEND_UNKNOWN";
}

const char *mend_status_message(mend_status status) {
  switch (status) {
#define MEND_STATUS(name, number, sentence)                                                                            \
  case MEND_##name:                                                                                                    \
    return sentence;
#include "mend/status.def"
#undef MEND_STATUS
  }
  return "a status this version does not know";
}
