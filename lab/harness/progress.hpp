// SPDX-License-Identifier: MIT
// A line on stderr for a person who waits: what runs now and how long it will still take.
#pragma once

#include "harness/interrupt.hpp"

namespace handoff::lab {

class Progress : Pinned {
 public:
  // Draws only if stderr is a terminal. `steps` launch rounds are expected.
  explicit Progress(int steps);
  explicit Progress(Clock::time_point end);  // the same, until that time
  Progress() : drawn_(false), steps_(0) {}   // never draws
  ~Progress();  // clears the line

  void show(std::string_view what);
  void step() { ++done_; }

 private:
  bool drawn_;
  int steps_;
  int done_ = 0;
  Clock::time_point start_ = Clock::now();
  std::optional<Clock::time_point> end_;
};

// Of a terminal; 80 of anything else.
int columns_of(int descriptor);

// Of a terminal; 0 of anything else.
int rows_of(int descriptor);

// Whether escape sequences may be written to this descriptor: a terminal, and no NO_COLOR.
bool may_style(int descriptor);

}  // namespace handoff::lab
