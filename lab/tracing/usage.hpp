// SPDX-License-Identifier: MIT
// Where the time of a recording went: by thread, by cause of sleep, by name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tracing/recording.hpp"

namespace handoff::lab::tracing {

inline constexpr std::array<const char*, 7> sleep_causes{"idle", "full", "wait", "io",
                                                         "lock", "join", "other"};
constexpr std::size_t cause_of(SliceKind kind) { return static_cast<std::size_t>(kind) - 1; }

struct LaneUsage {
  std::string name;
  std::uint64_t slices = 0;  // of work
  std::uint64_t sleeps = 0;
  std::uint64_t busy_ns = 0;  // in a slice, and not asleep
  std::array<std::uint64_t, sleep_causes.size()> asleep_ns{};

  [[nodiscard]] std::uint64_t all_asleep_ns() const;
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
};

Usage usage_of(const Recording& recording);

}  // namespace handoff::lab::tracing
