/* What a watchdog must not do, debug builds notice: they end with a sentence instead of waiting for themselves. */
#include "world.h"

#include <sys/wait.h>
#include <unistd.h>

static mend_status publish_once_more(void *ctx, const mend_event *event, mend_emitter *emitter) {
  (void)ctx, (void)emitter;
  return usage(event->run, 1);
}

static const mend_watchdog_vtable publishing = {
    .size = sizeof publishing,
    .name = "publishing",
    .topics = "model.usage",
    .event = publish_once_more,
};

/* In a process of its own; 0 when the publish came back. */
static void publish_to_it(void) {
  test_world world;
  world_open(&world);
  mend_watchdog *watchdog;
  if (mend_watchdog_new(&publishing, NULL, &world.memory.base, &watchdog, NULL) != MEND_OK) _exit(0);
  mend_run *run = world_run(&world, "r");
  if (mend_watchdog_watch_run(watchdog, run) == MEND_OK) usage(run, 1);
  _exit(0);
}

Test(contract, a_watchdog_that_publishes) {
#ifndef NDEBUG
  int status = 0;
  const pid_t child = fork();
  cr_assert(child >= 0);
  if (child == 0) {
    fclose(stderr);
    alarm(30);
    publish_to_it();
  }
  cr_assert_eq(waitpid(child, &status, 0), child);
  cr_assert(WIFSIGNALED(status) ? WTERMSIG(status) == SIGABRT : WEXITSTATUS(status) != 0, "status %d", status);
#endif
}
