// SPDX-License-Identifier: MIT
// Where the code and the stack of a launch lie. The same program is faster or slower by some
// percent with either, and by the same in every launch: no interval shows it. So contenders are
// linked in several layouts, and which one a launch gets is drawn (docs/adr/0011).
#pragma once

#include "harness/coordinator.hpp"

namespace handoff::lab {

struct Layout {
  std::size_t link = 0;         // which of the contender's executables
  std::size_t stack_shift = 0;  // bytes by which a longer environment moves the stack
};

// The layouts of one row's launches, dealt like cards: each link once in random order before one
// comes again, so that a few launches have as many different ones as there are.
class LayoutDeck {
 public:
  [[nodiscard]] Layout deal(std::size_t links, std::mt19937_64& random);

 private:
  std::vector<std::size_t> left_;
};

}  // namespace handoff::lab
