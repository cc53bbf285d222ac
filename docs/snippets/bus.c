/* What docs/api/bus.md quotes. */
#include "mend/queue.h"

#include <stdio.h>
#include <unistd.h>

mend_status on_tool(void *ctx, const mend_event *event);
mend_status first_steps(mend_error *error);
mend_status publish_a_call(mend_run *run);
mend_status start_child(mend_run *parent, uint64_t call, mend_run **ret_child);
mend_status continue_trace(mend_bus *bus, const char *header, mend_run **ret_run);
void *consume(void *ctx);
mend_status watch_on_a_loop(mend_bus *bus, int *wake_fd, mend_queue **ret_queue, mend_error *error);
void wake_loop(void *ctx);
void on_readable(int wake_fd, mend_queue *queue);
mend_status keep(const mend_event *event, mend_event **ret_kept);
mend_status print_line(const mend_event *event);
mend_status print_bus(mend_bus *bus);

/* ---- First steps ---- */

mend_status on_tool(void *ctx, const mend_event *event) {
  if (event->kind == MEND_EVENT_TOOL_BEFORE) {
    const mend_tool_before_event *before = (const mend_tool_before_event *)event;
    printf("%s: %.*s\n", (const char *)ctx, MEND_STR_ARG(before->tool_name));
  }
  return MEND_OK;
}

mend_status first_steps(mend_error *error) {
  mend_bus *bus = NULL;
  mend_run *run = NULL;
  mend_subscription *subscription = NULL;
  mend_status status = mend_bus_new(NULL, &bus, error);
  if (status != MEND_OK) return status;

  status = mend_bus_subscribe(bus, "tool.*", on_tool, "a tool", NULL, &subscription, NULL);
  if (status == MEND_OK) status = mend_run_new(bus, NULL, &run, NULL);
  if (status == MEND_OK) status = mend_run_emit(run, "tool.before", "{\"tool_name\": \"search\"}", error);

  mend_subscription_close(&subscription);
  mend_run_release(run);
  mend_bus_release(bus);
  return status;
}

/* ---- Publishing ---- */

mend_status publish_a_call(mend_run *run) {
  mend_tool_before_event before = MEND_TOOL_BEFORE_EVENT_INIT;
  before.event.call = mend_run_next_call(run);
  before.tool_name = MEND_STR("search");
  before.args = MEND_STR("{\"q\": \"weather\"}");
  return mend_run_publish(run, &before.event);
}

/* ---- Runs and traces ---- */

mend_status start_child(mend_run *parent, uint64_t call, mend_run **ret_child) {
  char parent_call[24];
  snprintf(parent_call, sizeof parent_call, "%llu", (unsigned long long)call);
  mend_run_options options = MEND_RUN_OPTIONS_INIT;
  options.parent = parent;
  options.parent_call = mend_str_from(parent_call);
  options.agent = MEND_STR("researcher");
  return mend_run_new(mend_run_bus(parent), &options, ret_child, NULL);
}

mend_status continue_trace(mend_bus *bus, const char *header, mend_run **ret_run) {
  mend_run_options options = MEND_RUN_OPTIONS_INIT;
  mend_traceparent_parse(mend_str_from(header), options.trace_id, options.parent_span_id); /* else a trace begins */
  mend_status status = mend_run_new(bus, &options, ret_run, NULL);
  if (status != MEND_OK) return status;

  char outgoing[MEND_TRACEPARENT_SIZE];
  mend_traceparent_format(*ret_run, 0, outgoing);
  printf("traceparent: %s\n", outgoing);
  return MEND_OK;
}

/* ---- Queues ---- */

void *consume(void *ctx) {
  mend_queue *queue = ctx;
  mend_event *event;
  while (mend_queue_wait(queue, MEND_NEVER, &event) == MEND_OK) { /* until mend_queue_stop(queue) */
    print_line(event);
    mend_event_free(event);
  }
  return NULL;
}

void wake_loop(void *ctx) {
  const uint64_t one = 1;
  const ssize_t written = write(*(const int *)ctx, &one, sizeof one); /* an eventfd that does not block */
  (void)written;
}

mend_status watch_on_a_loop(mend_bus *bus, int *wake_fd, mend_queue **ret_queue, mend_error *error) {
  mend_queue_options options = MEND_QUEUE_OPTIONS_INIT;
  options.drop_oldest = true;
  options.waker = (mend_waker){wake_loop, wake_fd};
  return mend_bus_queue(bus, "healing.*", &options, ret_queue, error);
}

/* The loop calls this when wake_fd is readable. */
void on_readable(int wake_fd, mend_queue *queue) {
  uint64_t wakes;
  if (read(wake_fd, &wakes, sizeof wakes) < 0) return;
  for (mend_event *event; mend_queue_next(queue, &event) == MEND_OK; mend_event_free(event))
    print_line(event);
}

/* ---- Keeping and showing events ---- */

mend_status keep(const mend_event *event, mend_event **ret_kept) {
  return mend_event_clone(event, NULL, ret_kept); /* mend_event_free(kept) */
}

mend_status print_line(const mend_event *event) {
  mend_json_view_options view = MEND_JSON_VIEW_OPTIONS_INIT;
  view.content = false; /* hashes and previews */
  char *line;
  mend_status status = mend_event_to_json(event, &view, NULL, &line, NULL);
  if (status != MEND_OK) return status;
  puts(line);
  mend_free(NULL, line);
  return MEND_OK;
}

mend_status print_bus(mend_bus *bus) {
  char *text;
  mend_status status = mend_bus_dump(bus, NULL, &text);
  if (status != MEND_OK) return status;
  fputs(text, stderr);
  mend_free(NULL, text);
  return MEND_OK;
}
