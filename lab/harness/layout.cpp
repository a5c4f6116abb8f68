// SPDX-License-Identifier: MIT
#include "harness/layout.hpp"

namespace handoff::lab {

Layout LayoutDeck::deal(std::size_t links, std::mt19937_64& random) {
  constexpr std::size_t page = 4096;
  if (left_.empty()) {
    left_.resize(links);
    std::iota(left_.begin(), left_.end(), std::size_t{0});
    std::ranges::shuffle(left_, random);
  }
  const std::size_t link = left_.back();
  left_.pop_back();
  return {link, std::uniform_int_distribution<std::size_t>(0, page - 1)(random)};
}

}  // namespace handoff::lab
