#include "program/replay/paths.h"

#include "core/buffer.h"
#include "core/memory.h"
#include "core/reason.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <sys/stat.h>

/* ---- The list ---------------------------------------------------------------------------------------------- */

static mend_status make_room(replay_paths *paths) {
  if (paths->count < paths->capacity) return MEND_OK;
  const size_t capacity = paths->capacity > 0 ? paths->capacity * 2 : 16;
  replay_path *each = mend__realloc(NULL, paths->each, capacity * sizeof *each);
  if (each == NULL) return MEND_ENOMEM;
  paths->each = each;
  paths->capacity = capacity;
  return MEND_OK;
}

static mend_status append(replay_paths *paths, const char *text, bool named) {
  if (make_room(paths) != MEND_OK) return MEND_ENOMEM;
  char *copy = mend__str_copy(NULL, mend_str_from(text));
  if (copy == NULL) return MEND_ENOMEM;
  paths->each[paths->count++] = (replay_path){.text = copy, .named = named};
  return MEND_OK;
}

static mend_status append_problem(replay_paths *paths, const char *text, const char *problem) {
  const mend_status status = append(paths, text, true);
  if (status != MEND_OK) return status;
  replay_path *last = &paths->each[paths->count - 1];
  last->problem = mend__str_copy(NULL, mend_str_from(problem));
  return last->problem != NULL ? MEND_OK : MEND_ENOMEM;
}

void replay_paths_free(replay_paths *paths) {
  for (size_t i = 0; i < paths->count; i++) {
    mend__free(NULL, paths->each[i].text);
    mend__free(NULL, paths->each[i].problem);
  }
  mend__free(NULL, paths->each);
}

/* ---- Folders ----------------------------------------------------------------------------------------------- */

static bool may_be_transcript(const char *name) {
  static const char *const endings[] = {REPLAY_PATH_ENDINGS};
  const size_t len = strlen(name);
  for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
    const size_t end = strlen(endings[i]);
    if (len > end && strcmp(name + len - end, endings[i]) == 0) return true;
  }
  return false;
}

static char *join(const char *folder, const char *name) {
  mend__buffer path;
  mend__buffer_init(&path, NULL);
  mend__buffer_str(&path, mend_str_from(folder));
  if (path.len > 0 && path.data[path.len - 1] != '/') mend__buffer_char(&path, '/');
  mend__buffer_str(&path, mend_str_from(name));
  char *text = NULL;
  return mend__buffer_take(&path, &text, NULL) == MEND_OK ? text : NULL;
}

static mend_status add_folder(replay_paths *paths, const char *folder);

static mend_status add_entry(replay_paths *paths, const char *folder, const char *name) {
  char *path = join(folder, name);
  struct stat about;
  mend_status status = MEND_OK;
  if (path == NULL) {
    status = MEND_ENOMEM;
  } else if (lstat(path, &about) == 0 && S_ISDIR(about.st_mode)) {
    status = add_folder(paths, path);
  } else if (may_be_transcript(name)) {
    if (stat(path, &about) != 0) {
      status = append_problem(paths, path, mend__reason(errno));
    } else if (S_ISREG(about.st_mode)) {
      status = append(paths, path, false);
    } else if (!S_ISDIR(about.st_mode)) {
      status = append_problem(paths, path, "it is no file that could be read to its end");
    }
  }
  mend__free(NULL, path);
  return status;
}

/* The names in a folder but hidden ones. */
static mend_status list_names(const char *folder, replay_paths *names, int *ret_error) {
  DIR *open = opendir(folder);
  *ret_error = open == NULL ? errno : 0;
  if (open == NULL) return MEND_EIO;
  mend_status status = MEND_OK;
  const struct dirent *entry;
  while (status == MEND_OK && (errno = 0, entry = readdir(open)) != NULL) {
    if (entry->d_name[0] != '.') status = append(names, entry->d_name, false);
  }
  if (status == MEND_OK) *ret_error = errno;
  closedir(open);
  return status != MEND_OK ? status : *ret_error != 0 ? MEND_EIO : MEND_OK;
}

static int compare_paths(const void *a, const void *b) {
  const replay_path *left = a, *right = b;
  return strcmp(left->text, right->text);
}

static mend_status add_folder(replay_paths *paths, const char *folder) {
  replay_paths names = {0};
  int reason;
  mend_status status = list_names(folder, &names, &reason);
  if (status == MEND_EIO) status = append_problem(paths, folder, mend__reason(reason));
  if (names.count > 0) qsort(names.each, names.count, sizeof *names.each, compare_paths);
  for (size_t i = 0; i < names.count && status == MEND_OK; i++)
    status = add_entry(paths, folder, names.each[i].text);
  replay_paths_free(&names);
  return status;
}

/* ---- Arguments --------------------------------------------------------------------------------------------- */

static mend_status add_existing(replay_paths *paths, const char *argument, const struct stat *about) {
  if (!S_ISDIR(about->st_mode)) return append(paths, argument, true);
  const size_t before = paths->count;
  const mend_status status = add_folder(paths, argument);
  if (status != MEND_OK || paths->count > before) return status;
  return append_problem(paths, argument, "there are no files in it that could be transcripts");
}

static mend_status add_matches(replay_paths *paths, const char *pattern) {
  glob_t found = {0};
  const int result = glob(pattern, GLOB_TILDE, NULL, &found);
  mend_status status = MEND_OK;
  struct stat about;
  if (result == GLOB_NOSPACE) {
    status = MEND_ENOMEM;
  } else if (result != 0) {
    status = append_problem(paths, pattern, "no file matches");
  }
  for (size_t i = 0; result == 0 && i < found.gl_pathc && status == MEND_OK; i++) {
    const char *path = found.gl_pathv[i];
    status = stat(path, &about) == 0 ? add_existing(paths, path, &about) : append(paths, path, true);
  }
  globfree(&found);
  return status;
}

mend_status replay_paths_add(replay_paths *paths, const char *argument) {
  struct stat about;
  if (strcmp(argument, "-") == 0) return append(paths, argument, true);
  if (stat(argument, &about) == 0) return add_existing(paths, argument, &about);
  const bool is_pattern = strpbrk(argument, "*?[") != NULL;
  return is_pattern ? add_matches(paths, argument) : append(paths, argument, true);
}
