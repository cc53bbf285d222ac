#include "support/mend_test.h"

#include "mend.h"

#include <stdio.h>
#include <string.h>

/* Every public function that returns a status refuses NULL for its handle and for the inputs it needs. */

static size_t some_struct[8192] = {
    sizeof(size_t)}; /* of the oldest version there can be, and all its options default */
static void some_function(void) {}

#include "null_calls.h"

static bool may_be_null(const char *name) {
  static const char *const names[] = {"mend_journal_close", "mend_classification_new"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (strcmp(name, names[i]) == 0) return true;
  }
  return false;
}

Test(nulls, handles) {
  const size_t count = sizeof null_calls / sizeof null_calls[0];
  cr_assert(count > 100);
  for (size_t i = 0; i < count; i++) {
    if (may_be_null(null_calls[i].name)) continue;
    mend_error error = MEND_ERROR_INIT;
    cr_assert_eq(null_calls[i].call(false, NULL), MEND_EINVAL, "%s, all NULL", null_calls[i].name);
    cr_assert_eq(null_calls[i].call(true, &error), MEND_EINVAL, "%s, no handle", null_calls[i].name);
    if (!null_calls[i].tells) continue;
    cr_assert_eq(error.status, MEND_EINVAL, "%s has no sentence", null_calls[i].name);
    cr_assert(error.message[0] != '\0', "%s has an empty sentence", null_calls[i].name);
  }
}

/* What a handle that is there is given. */
Test(nulls, inputs) {
  mend_bus *bus;
  mend_run *run;
  mend_tools *tools;
  mend_hooks *hooks;
  mend_loop *loop;
  mend_error error = MEND_ERROR_INIT;
  mend_journal_reader *reader;
  mend_watchdog *watchdog;
  mend_messages *messages;
  mend_watchdog_vtable vtable = {.size = sizeof vtable, .name = "own"};
  cr_assert_eq(mend_bus_new(NULL, &bus, NULL), MEND_OK);
  cr_assert_eq(mend_run_new(bus, NULL, &run, NULL), MEND_OK);
  cr_assert_eq(mend_tools_new(NULL, &tools), MEND_OK);
  cr_assert_eq(mend_hooks_new(NULL, &hooks), MEND_OK);
  cr_assert_eq(mend_loop_new(NULL, &loop, NULL), MEND_OK);
  cr_assert_eq(mend_watchdog_new(&vtable, NULL, NULL, &watchdog, NULL), MEND_OK);
  cr_assert_eq(mend_messages_new(NULL, &messages), MEND_OK);
  const struct {
    const char *what;
    mend_status status;
  } calls[] = {
      {"a bus's event", mend_bus_publish(bus, NULL)},
      {"a run's event", mend_run_publish(run, NULL)},
      {"a topic", mend_run_emit(run, NULL, "{}", NULL)},
      {"a pattern", mend_bus_subscribe(bus, NULL, NULL, NULL, NULL, NULL, NULL)},
      {"a handler", mend_bus_subscribe(bus, "*", NULL, NULL, NULL, NULL, NULL)},
      {"a tool", mend_tools_add(tools, NULL, NULL, &error)},
      {"a hook", mend_hooks_add(hooks, NULL, NULL, NULL, &error)},
      {"a posted function", mend_loop_post(loop, NULL, NULL)},
      {"a timer's function", mend_loop_after(loop, 1, NULL, NULL, NULL)},
      {"a driver", mend_loop_add_driver(loop, NULL, NULL)},
      {"a reader's path", mend_journal_reader_open(NULL, NULL, &reader, &error)},
      {"a watched run", mend_watchdog_watch_run(watchdog, NULL)},
      {"a watched bus", mend_watchdog_watch_bus(watchdog, NULL)},
      {"a reply", mend_messages_add_reply(messages, NULL)},
      {"a watchdog's name", mend_bus_watchdog(bus, NULL, &watchdog)},
      {"a policy's detection", mend_default_policy(NULL, NULL, NULL)},
  };
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
    cr_assert_eq(calls[i].status, MEND_EINVAL, "%s: %s", calls[i].what, mend_status_name(calls[i].status));
  mend_messages_free(messages);
  mend_watchdog_release(watchdog);
  mend_loop_release(loop);
  mend_hooks_release(hooks);
  mend_tools_release(tools);
  mend_run_release(run);
  mend_bus_release(bus);
}
