// SPDX-License-Identifier: MIT
#include "tracing/usage.hpp"
#include "harness/histogram.hpp"
#include "tracing/nesting.hpp"

namespace handoff::lab::tracing {
namespace {

constexpr auto opens_nothing = [](const OpenSlice&, const OpenSlice*) {};

struct Sum {
  std::uint64_t count = 0;
  std::uint64_t own_ns = 0;
};

// The rest of each subtraction goes to the next part: the kernel counts in waits too.
void divide(LaneUsage& lane, std::uint64_t wall_ns, const std::optional<ThreadTimes>& times) {
  std::uint64_t left = wall_ns;
  const auto take = [&left](std::uint64_t ns) {
    const std::uint64_t taken = std::min(ns, left);
    left -= taken;
    return taken;
  };
  constexpr std::size_t full = cause_of(SliceKind::full);
  lane.for_room_ns = take(lane.asleep_ns[full] + lane.spun_ns[full]);
  lane.slept_ns = take(lane.all_asleep_ns() - lane.asleep_ns[full]);
  lane.is_counted = times.has_value();
  if (times) {
    lane.on_cpu_ns = take(times->cpu_ns);
    lane.ready_ns = take(times->ready_ns);
  }
  lane.other_ns = left;
}

std::vector<Sum> add_lanes(const Recording& recording, Usage& usage) {
  std::vector<Sum> sums(recording.names.size());
  const std::vector<std::string> names = recording.lane_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    LaneUsage lane;
    lane.name = names[i];
    nest(recording.lanes[i], opens_nothing, [&](const OpenSlice& slice) {
      const SliceKind kind = recording.names.kind(slice.name);
      const bool spins = recording.names.spins(slice.name);
      if (!spins) ++(is_wait(kind) ? lane.sleeps : lane.slices);
      (!is_wait(kind) ? lane.busy_ns
       : spins        ? lane.spun_ns[cause_of(kind)]
                      : lane.asleep_ns[cause_of(kind)]) += slice.own_ns;
      ++sums[slice.name].count;
      sums[slice.name].own_ns += slice.own_ns;
    });
    divide(lane, recording.wall_ns(), recording.lanes[i].times);
    usage.lanes.push_back(std::move(lane));
  }
  return sums;
}

// Those of work that took the most time.
std::vector<std::uint32_t> most_used(const Recording& recording, const std::vector<Sum>& sums,
                                     Usage& usage) {
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t number = 0; number < sums.size(); ++number) {
    if (!is_wait(recording.names.kind(number)) && sums[number].count > 0) {
      numbers.push_back(number);
    }
  }
  const std::size_t kept = std::min(numbers.size(), Usage::most_names);
  const auto end = numbers.begin() + static_cast<std::ptrdiff_t>(kept);
  std::partial_sort(numbers.begin(), end, numbers.end(), [&](std::uint32_t a, std::uint32_t b) {
    return sums[a].own_ns != sums[b].own_ns ? sums[a].own_ns > sums[b].own_ns : a < b;
  });
  usage.names_left_out = numbers.size() - kept;
  numbers.resize(kept);
  return numbers;
}

}  // namespace

std::uint64_t LaneUsage::all_asleep_ns() const {
  return std::accumulate(asleep_ns.begin(), asleep_ns.end(), std::uint64_t{0});
}

double LaneUsage::at_work() const {
  const std::uint64_t outside = on_cpu_ns + ready_ns + other_ns;
  if (outside == 0) return 1;
  return static_cast<double>(outside - ready_ns) / static_cast<double>(outside);
}

std::vector<double> Usage::at_work() const {
  std::vector<double> shares;
  for (const LaneUsage& lane : lanes) shares.push_back(lane.at_work());
  return shares;
}

Usage usage_of(const Recording& recording) {
  Usage usage;
  const std::vector<Sum> sums = add_lanes(recording, usage);
  const std::vector<std::uint32_t> numbers = most_used(recording, sums, usage);
  constexpr std::size_t none = Usage::most_names;
  std::vector<std::size_t> places(sums.size(), none);
  for (std::size_t i = 0; i < numbers.size(); ++i) places[numbers[i]] = i;
  std::vector<Histogram> times(numbers.size());
  for (const Lane& lane : recording.lanes) {
    nest(lane, opens_nothing, [&](const OpenSlice& slice) {
      if (places[slice.name] != none) times[places[slice.name]].record(slice.own_ns);
    });
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const Names::Name& name = recording.names.at(numbers[i]);
    const Sum& sum = sums[numbers[i]];
    usage.names.push_back({name.category, name.text, sum.count, sum.own_ns, times[i].percentile(50),
                           times[i].percentile(99)});
  }
  return usage;
}

}  // namespace handoff::lab::tracing
