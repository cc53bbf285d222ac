// The same library from C++17: every options struct and event starts from its macro, and a lambda is a handler.
#include <mend.h>

#include <cstdio>
#include <cstring>

int main() {
  mend_bus_options bus_options = MEND_BUS_OPTIONS_INIT;
  mend_run_options run_options = MEND_RUN_OPTIONS_INIT;
  mend_stall_watchdog_options stall_options = MEND_STALL_WATCHDOG_OPTIONS_INIT;
  mend_options options = MEND_OPTIONS_INIT;
  mend_detection detection = MEND_DETECTION_INIT;
  mend_tool_before_event event = MEND_TOOL_BEFORE_EVENT_INIT;
  mend_error error{};
  mend_bus *bus = nullptr;
  mend_run *run = nullptr;
  int calls = 0;

  run_options.id = MEND_STR("from-cpp");
  event.tool_name = MEND_STR("search");
  auto count = [](void *ctx, const mend_event *) -> mend_status {
    ++*static_cast<int *>(ctx);
    return MEND_OK;
  };
  bool ok = mend_bus_new(&bus_options, &bus, &error) == MEND_OK &&
            mend_bus_subscribe(bus, "tool.before", count, &calls, nullptr, nullptr) == MEND_OK &&
            mend_run_new(bus, &run_options, &run) == MEND_OK && mend_run_publish(run, &event.event) == MEND_OK &&
            mend_options_check(&options, &error) == MEND_OK;
  ok = ok && calls == 1 && mend_str_equal(mend_run_id(run), run_options.id) && detection.size == sizeof detection &&
       stall_options.size == sizeof stall_options;
  mend_run_release(run);
  mend_bus_release(bus);
  std::printf("mend %s from C++: %s\n", mend_version(), ok ? "ok" : error.message);
  return ok ? 0 : 1;
}
