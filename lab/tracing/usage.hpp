// SPDX-License-Identifier: MIT
// Where the time of a recording went: by thread, by cause of a wait, by name.
#pragma once

#include "tracing/recording.hpp"

namespace handoff::lab::tracing {

inline constexpr std::array<const char*, 7> sleep_causes{"idle", "full", "wait", "io",
                                                         "lock", "join", "other"};
constexpr std::size_t cause_of(SliceKind kind) { return static_cast<std::size_t>(kind) - 1; }

struct LaneUsage {
  std::string name;
  std::uint64_t slices = 0;  // of work
  std::uint64_t sleeps = 0;
  std::uint64_t busy_ns = 0;  // in a slice, and in no wait
  std::array<std::uint64_t, sleep_causes.size()> asleep_ns{};
  std::array<std::uint64_t, sleep_causes.size()> spun_ns{};  // the same, awake

  // The time of the recording in five parts. A wait for room is one whether the thread slept in it
  // or not; of what is neither that nor a sleep, the kernel says how long the thread had a CPU, and
  // how long it was ready for one.
  bool is_counted = false;  // by the kernel; if not, these two are 0
  std::uint64_t on_cpu_ns = 0;
  std::uint64_t ready_ns = 0;
  std::uint64_t for_room_ns = 0;
  std::uint64_t slept_ns = 0;  // for any other cause
  std::uint64_t other_ns = 0;  // asleep outside of the library, not started yet, or over

  [[nodiscard]] std::uint64_t all_asleep_ns() const;
  // Of its time outside of waits, the share in which it was not just ready for a CPU.
  [[nodiscard]] double at_work() const;
};

struct NameUsage {
  std::string category;
  std::string name;
  std::uint64_t count = 0;
  std::uint64_t own_ns = 0;  // without what lies in it
  std::uint64_t median_ns = 0;  // of own times; these two within 1/256
  std::uint64_t p99_ns = 0;
};

struct Usage {
  std::vector<LaneUsage> lanes;  // of the recording, in its order
  std::vector<NameUsage> names;  // the most time first; not more than most_names
  std::size_t names_left_out = 0;

  static constexpr std::size_t most_names = 100;

  [[nodiscard]] std::vector<double> at_work() const;  // of the lanes
};

Usage usage_of(const Recording& recording);

}  // namespace handoff::lab::tracing
