// SPDX-License-Identifier: MIT
// What a way of `try` is given: the user's loop, which it hands out. One file a way.
#pragma once

#include "harness/contender.hpp"

namespace handoff::lab::trial {

struct Task {
  std::size_t items;
  std::size_t width;  // threads or processes that run items
  std::size_t block;  // of items, as the user asked; 0: the way chooses
  bool in_given_memory;  // the whole result lies in memory that processes share

  // The items that go over at once where each costs a task or a message.
  [[nodiscard]] std::size_t handed() const {
    constexpr std::size_t pieces = 16;  // a member: enough to even out, few enough to be cheap
    if (block > 0) return block;
    return items / (width * pieces) > 1 ? items / (width * pieces) : 1;
  }
  // The items of a member where each gets one piece.
  [[nodiscard]] std::size_t share() const { return (items + width - 1) / width; }
};

// Does these items; any thread, and any process that was forked since. An exception of the kernel
// is kept and thrown after the pass: few ways could let it through. `throwing` lets it through.
void run_items(std::size_t first, std::size_t last) noexcept;
void run_items_throwing(std::size_t first, std::size_t last);

// All items once, each time it is called.
using Operation = std::function<void()>;

// Written by the way. The task outlives what it returns.
Operation contender(const Task& task);

}  // namespace handoff::lab::trial
