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
  mend_tool tool = MEND_TOOL_INIT;
  mend_call_options call_options = MEND_CALL_OPTIONS_INIT;
  mend_boundary_options boundary_options = MEND_BOUNDARY_OPTIONS_INIT;
  mend_result result = MEND_RESULT_INIT;
  mend_boundary *boundary = nullptr;
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
            mend_bus_subscribe(bus, "tool.before", count, &calls, nullptr, nullptr, NULL) == MEND_OK &&
            mend_run_new(bus, &run_options, &run, NULL) == MEND_OK && mend_run_publish(run, &event.event) == MEND_OK &&
            mend_options_check(&options, &error) == MEND_OK;
  ok = ok && calls == 1 && mend_str_equal(mend_run_id(run), run_options.id) && detection.size == sizeof detection &&
       stall_options.size == sizeof stall_options;
  tool.name = "greet";
  tool.execute = [](void *, mend_call *call) -> mend_status { return mend_call_succeed_text(call, MEND_STR("hello")); };
  call_options.tool = &tool;
  boundary_options.run = run;
  ok = ok && mend_boundary_new(&boundary_options, &boundary, &error) == MEND_OK &&
       mend_boundary_call(boundary, MEND_ABSENT, MEND_ABSENT, &call_options, &result) == MEND_OK &&
       mend_str_equal(result.value, MEND_STR("\"hello\""));
  mend_result_clear(&result);
  mend_boundary_release(boundary);
  mend_run_release(run);
  mend_bus_release(bus);
  std::printf("mend %s from C++: %s\n", mend_version(), ok ? "ok" : error.message);
  return ok ? 0 : 1;
}
