// SPDX-License-Identifier: MIT
// Traces that tests write by hand, in the form that the library's tracer has.
#pragma once

#include <fmt/format.h>

#include "texts.hpp"
#include "tracing/recording.hpp"

namespace handoff::lab::tracing {

inline Recording recording_in(const std::string& text) {
  return read_recording(TextFile(text).path());
}

// Lines of a trace. Times are in us.
inline std::string named(int thread, const std::string& name) {
  return fmt::format(
      "{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":{},\"args\":{{\"name\":\"{}\"}}}},"
      "\n",
      thread, name);
}
inline std::string slice(int thread, const std::string& name, int from, int to,
                         const std::string& category = "task") {
  return fmt::format(
      "{{\"ph\":\"X\",\"cat\":\"{}\",\"name\":\"{}\",\"pid\":1,\"tid\":{},\"ts\":{}.000,\"dur\":{}."
      "000"
      "}},\n",
      category, name, thread, from, to - from);
}
inline std::string asleep(int thread, const std::string& cause, int from, int to) {
  return slice(thread, cause, from, to, "sleep");
}
inline std::string spun(int thread, const std::string& cause, int from, int to) {
  return slice(thread, cause, from, to, "spin");
}
// What the kernel counts of a thread, in us too.
inline std::string counted(int thread, int cpu, int ready) {
  return fmt::format(
      "{{\"ph\":\"M\",\"name\":\"handoff_times\",\"pid\":1,\"tid\":{},\"args\":{{\"cpu_ns\":{},"
      "\"ready_ns\":{}}}}},\n",
      thread, 1000 * cpu, 1000 * ready);
}
inline std::string cpus(int count) {
  return fmt::format(
      "{{\"ph\":\"M\",\"name\":\"handoff_cpus\",\"pid\":1,\"tid\":0,\"args\":{{\"cpus\":{}}}}},\n",
      count);
}
inline std::string hand_over(int id, int from_thread, int from, int to_thread, int to) {
  return fmt::format(
      "{{\"ph\":\"s\",\"cat\":\"hand\",\"name\":\"hand "
      "over\",\"id\":{0},\"pid\":1,\"tid\":{1},\"ts\":{2}.000}},\n"
      "{{\"ph\":\"f\",\"bp\":\"e\",\"cat\":\"hand\",\"name\":\"hand "
      "over\",\"id\":{0},\"pid\":1,\"tid\":{3},\"ts\":{4}.000}},\n",
      id, from_thread, from, to_thread, to);
}
inline std::string tally(int recorded, int dropped, int open) {
  return fmt::format(
      "{{\"ph\":\"M\",\"name\":\"handoff_tally\",\"pid\":1,\"tid\":0,\"args\":{{\"recorded\":{0},"
      "\"dropped\":{1},\"written\":{0},\"open\":{2}}}}}\n",
      recorded, dropped, open);
}
inline std::string whole(const std::string& lines) {
  return "[\n" + lines + tally(9, 0, 0) + "]\n";
}

// A number from 0 on, below `most`.
inline int below(int most, std::mt19937& random) {
  return std::uniform_int_distribution<int>(0, most - 1)(random);
}
// Slices and sleeps of three threads, some inside others, and arrows between any of them.
inline std::string random_lines(std::mt19937& random) {
  const auto upto = [&](int most) { return below(most, random); };
  const auto sleeps = [&](int thread, int from, int to) {
    const char* const causes[] = {"wait", "idle", "io", "full", "join", "lock"};
    return asleep(thread, causes[upto(6)], from, to);
  };
  std::string lines;
  for (int thread = 1; thread <= 3; ++thread) {
    for (int from = 1; from < 200;) {
      const int to = from + 1 + upto(20);
      lines += upto(3) == 0 ? sleeps(thread, from, to)
                            : slice(thread, fmt::format("s{}", upto(4)), from, to);
      if (to - from > 4) {
        lines += upto(2) == 0 ? sleeps(thread, from + 1, to - 2)
                              : slice(thread, "inner", from + 1, to - 2);
      }
      from = to + upto(5);
    }
  }
  for (int id = 1; id < 40; ++id) {
    const int at = 1 + upto(200);
    lines += hand_over(id, 1 + upto(3), at, 1 + upto(3), at + upto(30));
  }
  return lines;
}

}  // namespace handoff::lab::tracing
