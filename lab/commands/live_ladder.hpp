// SPDX-License-Identifier: MIT
// The ladder while it is measured, for a person who waits: each rung has its line from the start,
// and figures as soon as there are some.
#pragma once

#include "harness/coordinator.hpp"

namespace handoff::lab {

class LiveLadder : Pinned {
 public:
  // Draws them on stderr, above the line of the progress; only on a terminal that has room.
  explicit LiveLadder(std::vector<std::string> lines);
  ~LiveLadder();  // takes them away

  [[nodiscard]] bool is_drawn() const { return drawn_; }
  void set(std::size_t line, const std::string& text);

  [[nodiscard]] static int columns();  // of that terminal

 private:
  std::size_t lines_;
  bool drawn_;
};

}  // namespace handoff::lab
