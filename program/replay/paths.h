/* The files of a replay: those that were named, those that match a pattern, those in folders. */
#ifndef MEND_PROGRAM_REPLAY_PATHS_H
#define MEND_PROGRAM_REPLAY_PATHS_H

#include "mend/core.h"

/* Files in folders whose names end so are looked at. */
#define REPLAY_PATH_ENDINGS ".json", ".jsonl", ".ndjson", ".traj", ".log"

typedef struct replay_path {
  char *text;
  bool named;    /* else found in a folder: it may well be something else */
  char *problem; /* why there is nothing to be read, a sentence; NULL: it is to be tried */
} replay_path;

typedef struct replay_paths {
  replay_path *each;
  size_t count, capacity;
} replay_paths;

/* Appends what an argument stands for: "-" is itself; a folder is all files in it and in its folders, in the order of
 * their names, without what is hidden and without following links to folders; a pattern that is no file's name is what
 * it matches. What is wrong with it becomes a path with a problem. `paths` begins as zeros. MEND_ENOMEM. */
mend_status replay_paths_add(replay_paths *paths, const char *argument);
void replay_paths_free(replay_paths *paths);

#endif
