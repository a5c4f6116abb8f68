// SPDX-License-Identifier: MIT
// Flame graphs of a recording: where time went, by what lay in what. Threads are taken together.
#pragma once

#include "tracing/recording.hpp"

namespace handoff::lab::tracing {

struct FlameBox {
  std::string name;
  std::string kind;  // category of a slice; "all", "thread", or "sleep": then the name is the cause
  std::size_t depth = 0;
  std::uint64_t ns = 0;  // with all that lies in it
  std::uint64_t own_ns = 0;
  std::uint64_t count = 0;  // slices
};

struct FlameGraph {
  std::string title;
  std::string what;  // is "on CPU" or "asleep"
  // Each one is followed by those that lie in it, the longest first. The first box is all of it.
  std::vector<FlameBox> boxes;
  std::uint64_t merged = 0;  // slices that were counted in the box around them: too many stacks
};

// Time in slices, without the sleeps in them: by name and nesting.
FlameGraph on_cpu_flames(const Recording& recording);
// Time asleep: by thread, the slices that it slept in, and the cause.
FlameGraph off_cpu_flames(const Recording& recording);

// A flame graph as a picture that stands alone: SVG without a script. What lies in a box hangs
// below it. Each box says its name, time, share and count when it is pointed at.
// `source` is the trace's file name.
std::string flame_svg(const FlameGraph& graph, const std::string& source);

}  // namespace handoff::lab::tracing
