#include "program/doctor/machine.h"

#include "core/reason.h"
#include "mend/clock.h"

#include <curl/curl.h>
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* ---- Libraries ---- */

static void check_curl(doctor_sheet *sheet) {
  const curl_version_info_data *curl = curl_version_info(CURLVERSION_NOW);
  if (curl->ssl_version == NULL || (curl->features & CURL_VERSION_SSL) == 0) {
    doctor_say(sheet, DOCTOR_PROBLEM, "libcurl", "Install a libcurl that was built with OpenSSL or GnuTLS.",
               "%s, without TLS: no provider can be reached", curl->version);
    return;
  }
  const bool has_http2 = (curl->features & CURL_VERSION_HTTP2) != 0;
  const bool resolves_apart = (curl->features & CURL_VERSION_ASYNCHDNS) != 0;
  doctor_say(sheet, DOCTOR_OK, "libcurl", NULL, "%s, TLS by %s%s", curl->version, curl->ssl_version,
             has_http2 ? ", HTTP/2" : "");
  if (!has_http2) {
    doctor_say(sheet, DOCTOR_WARNING, "libcurl", "A libcurl with nghttp2 shares connections among requests.",
               "it has no HTTP/2: each request that is under way has a connection of its own");
  }
  if (!resolves_apart) {
    doctor_say(sheet, DOCTOR_WARNING, "libcurl", "Install a libcurl with its threaded resolver or c-ares.",
               "looking up a name blocks all other requests meanwhile");
  }
}

void doctor_check_libraries(doctor_sheet *sheet) {
  doctor_say(sheet, DOCTOR_OK, "mend", NULL, "%s", mend_version());
  check_curl(sheet);
  doctor_say(sheet, DOCTOR_OK, "libevent", NULL, "%s", event_get_version());
}

/* ---- Clocks ---- */

void doctor_check_clock(doctor_sheet *sheet) {
  static const uint64_t year_2025_s = 1735689600, year_2100_s = 4102444800;
  const mend_time now = mend_clock_now(mend_clock_real());
  const uint64_t now_s = now.wall_ns / MEND_SECOND_NS;
  const time_t seconds = (time_t)now_s;
  char text[32] = "?";
  struct tm date;
  if (gmtime_r(&seconds, &date) != NULL) strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &date);
  if (now_s < year_2025_s || now_s > year_2100_s) {
    doctor_say(sheet, DOCTOR_PROBLEM, "clock", "Set this machine's clock: certificates are not valid at that time.",
               "it says %s", text);
  } else {
    doctor_say(sheet, DOCTOR_OK, "clock", NULL, "%s", text);
  }
}

/* ---- Journals ---- */

static void check_space(doctor_sheet *sheet, const char *folder) {
  enum { LITTLE_MIB = 256 };
  struct statvfs space;
  if (statvfs(folder, &space) != 0) return;
  const double free_mib = (double)space.f_bavail * (double)space.f_frsize / (1024.0 * 1024.0);
  if (free_mib >= LITTLE_MIB) return;
  doctor_say(sheet, DOCTOR_WARNING, "journals", "Make room, or write journals elsewhere.", "%s: only %.0f MiB are free",
             folder, free_mib);
}

/* Permissions alone do not tell: the file system may be read-only, or full. */
static bool can_write(const char *folder) {
  char path[4096];
  if ((size_t)snprintf(path, sizeof path, "%s/.mend-doctor-XXXXXX", folder) >= sizeof path) {
    errno = ENAMETOOLONG;
    return false;
  }
  const int fd = mkostemp(path, O_CLOEXEC);
  if (fd < 0) return false;
  const bool written = write(fd, "\n", 1) == 1;
  const int reason = errno;
  close(fd);
  unlink(path);
  errno = reason;
  return written;
}

/* errno of a write. */
static const char *advice_for(int reason) {
  switch (reason) {
  case ENOSPC:
  case EDQUOT: return "Make room there, or name another one with --journals.";
  case EFBIG: return "Raise the limit of a file's size (ulimit -f), or name another one with --journals.";
  case EROFS: return "Name another one with --journals.";
  case EMFILE:
  case ENFILE: return "Close files, or raise their limit: ulimit -n.";
  default: return "Change its permissions, or name another one with --journals.";
  }
}

void doctor_check_journals(doctor_sheet *sheet, const char *folder) {
  static const char elsewhere[] = "Make the folder, or name another one with --journals.";
  struct stat found;
  if (stat(folder, &found) != 0) {
    doctor_say(sheet, DOCTOR_PROBLEM, "journals", elsewhere, "%s: %s", folder, mend__reason(errno));
  } else if (!S_ISDIR(found.st_mode)) {
    doctor_say(sheet, DOCTOR_PROBLEM, "journals", elsewhere, "%s: it is no folder", folder);
  } else if (!can_write(folder)) {
    const int reason = errno;
    doctor_say(sheet, DOCTOR_PROBLEM, "journals", advice_for(reason), "%s: nothing can be written there: %s", folder,
               mend__reason(reason));
  } else if ((found.st_mode & S_IWOTH) != 0 && (found.st_mode & S_ISVTX) == 0) {
    doctor_say(sheet, DOCTOR_WARNING, "journals", "chmod o-w, for a journal has all that an agent and its tools said.",
               "%s: everybody may replace what is in there", folder);
    check_space(sheet, folder);
  } else {
    doctor_say(sheet, DOCTOR_OK, "journals", NULL, "%s can be written to", folder);
    check_space(sheet, folder);
  }
}

/* ---- The environment ---- */

void doctor_check_environment(doctor_sheet *sheet) {
  static const char *const proxies[] = {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"};
  for (size_t i = 0; i < sizeof proxies / sizeof proxies[0]; i++) {
    const char *value = getenv(proxies[i]);
    if (value == NULL || value[0] == '\0') continue;
    doctor_say(sheet, DOCTOR_WARNING, "environment", "Give the proxy by --proxy here, and to the library as an option.",
               "%s is set, and mend does not look at it", proxies[i]);
    return;
  }
}
