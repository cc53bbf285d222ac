/* Whether what a journal wrote is on the disk: forced there, and in a file that still has a name. */
#include "scene.h"

#include <errno.h>
#include <fcntl.h>

/* ---- Instead of the C library's, so that tests see when a file is forced to the disk, and can make that fail ---- */

static unsigned syncs;
static int sync_errno;

int fdatasync(int fd) {
  (void)fd;
  syncs++;
  errno = sync_errno;
  return sync_errno == 0 ? 0 : -1;
}

/* ---- Deleted while it is written ---- */

Test(writer_disk, tells_that_its_file_was_deleted) {
  static const struct {
    mend_fsync fsync;
    const char *other_name; /* the file is moved there, or, with "", unnamed before the journal opens it */
    unsigned failures;      /* told on the bus */
    mend_status at_close;
  } cases[] = {
      {MEND_FSYNC_NONE, NULL, 0, MEND_EIO},     {MEND_FSYNC_EVERY, NULL, 2, MEND_EIO},
      {MEND_FSYNC_INTERVAL, NULL, 0, MEND_EIO}, {MEND_FSYNC_EVERY, ".1", 0, MEND_OK},
      {MEND_FSYNC_EVERY, "", 0, MEND_OK},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    scene s;
    open_scene(&s, NULL);
    const char *other_name = cases[i].other_name;
    char moved[sizeof s.path + 2], unnamed[32];
    int fd = open(s.path, O_RDWR);
    if (other_name != NULL && *other_name == '\0') {
      unlink(s.path);
      snprintf(unnamed, sizeof unnamed, "/proc/self/fd/%d", fd);
      s.options.path = unnamed;
    }
    s.options.fsync = cases[i].fsync;
    open_journal(&s);
    emit(&s, "a");
    if (other_name == NULL) unlink(s.path);
    if (other_name != NULL && *other_name != '\0') {
      snprintf(moved, sizeof moved, "%s%s", s.path, other_name);
      cr_assert_eq(rename(s.path, moved), 0);
    }
    emit(&s, "b");
    mend_bus_stats of_bus = {.size = sizeof of_bus};
    mend_bus_get_stats(s.bus, &of_bus);
    cr_assert_eq(of_bus.handler_failures, cases[i].failures, "case %zu: %u", i, (unsigned)of_bus.handler_failures);
    mend_error error;
    cr_assert_eq(close_journal(&s, &error), cases[i].at_close, "case %zu", i);
    if (cases[i].at_close != MEND_OK) cr_assert_not_null(strstr(error.message, ": was deleted while it was written"));
    if (other_name != NULL && *other_name != '\0') unlink(moved);
    close(fd);
    close_scene(&s);
  }
}

/* ---- Forcing to the disk ---- */

Test(writer_disk, syncs_as_the_policy_says) {
  static const struct {
    mend_fsync fsync;
    const char *steps; /* e: an event, s: a second passes */
    unsigned syncs, at_close;
  } cases[] = {
      {MEND_FSYNC_NONE, "eesse", 0, 0},           {MEND_FSYNC_EVERY, "", 0, 0},
      {MEND_FSYNC_EVERY, "eese", 3, 3},           {MEND_FSYNC_INTERVAL, "", 0, 0},
      {MEND_FSYNC_INTERVAL, "ee", 0, 1},          {MEND_FSYNC_INTERVAL, "ese", 0, 1},
      {MEND_FSYNC_INTERVAL, "esse", 1, 1},        {MEND_FSYNC_INTERVAL, "sseee", 1, 2},
      {MEND_FSYNC_INTERVAL, "essssesesse", 2, 2},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    scene s;
    open_scene(&s, NULL);
    s.options.fsync = cases[i].fsync;
    s.options.interval_s = 2;
    open_journal(&s);
    syncs = 0;
    for (const char *step = cases[i].steps; *step != '\0'; step++) {
      if (*step == 'e') emit(&s, "a");
      if (*step == 's') mend_clock_advance(s.clock, MEND_SECOND_NS);
    }
    cr_assert_eq(syncs, cases[i].syncs, "case %zu: %u", i, syncs);
    cr_assert_eq(close_journal(&s, NULL), MEND_OK);
    cr_assert_eq(syncs, cases[i].at_close, "case %zu: %u", i, syncs);
    close_scene(&s);
  }

  static const struct {
    int number;
    mend_status status;
  } failures[] = {{EIO, MEND_EIO}, {ENOSPC, MEND_EIO}, {EINVAL, MEND_OK}, {EROFS, MEND_OK}};
  for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
    scene s;
    open_scene(&s, NULL);
    s.options.fsync = MEND_FSYNC_EVERY;
    open_journal(&s);
    sync_errno = failures[i].number;
    emit(&s, "a");
    mend_error error;
    cr_assert_eq(close_journal(&s, &error), failures[i].status);
    if (failures[i].status != MEND_OK) cr_assert_not_null(strstr(error.message, "cannot be synced"));
    sync_errno = 0;
    close_scene(&s);
  }
}
