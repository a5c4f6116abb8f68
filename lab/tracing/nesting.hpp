// SPDX-License-Identifier: MIT
// The slices of a thread as they lie in each other.
#pragma once

#include "tracing/recording.hpp"

namespace handoff::lab::tracing {

struct OpenSlice {
  std::uint64_t start_ns;
  std::uint64_t end_ns;  // where it reaches out of the outer one, that one's
  std::uint64_t own_ns;  // without what lies in it
  std::uint32_t name;
  std::uint32_t mark = 0;  // of the caller
};

// open(slice, outer or null) for each in the order of its start, with the outer one still open;
// close(slice) once all that lies in it was closed.
template <class Open, class Close>
void nest(const Lane& lane, Open open, Close close) {
  std::vector<OpenSlice> stack;
  const auto close_until = [&](std::uint64_t ns) {
    while (!stack.empty() && stack.back().end_ns <= ns) {
      close(stack.back());
      stack.pop_back();
    }
  };
  for (std::size_t i = 0; i < lane.size(); ++i) {
    Slice slice = lane.at(i);
    close_until(slice.start_ns);
    if (!stack.empty()) {
      slice.end_ns = std::min(slice.end_ns, stack.back().end_ns);
      stack.back().own_ns -= slice.end_ns - slice.start_ns;
    }
    OpenSlice opened{slice.start_ns, slice.end_ns, slice.end_ns - slice.start_ns, slice.name};
    open(opened, stack.empty() ? nullptr : &stack.back());
    stack.push_back(opened);
  }
  close_until(UINT64_MAX);
}

}  // namespace handoff::lab::tracing
