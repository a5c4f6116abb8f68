// SPDX-License-Identifier: MIT
//
// A half-open range of indices [first, last): what a team hands to a member.
//
//   for (std::size_t i : range) c[i] = a[i] + b[i];
#pragma once

#include <cstddef>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

struct IndexRange {
  std::size_t first = 0;  // the first index
  std::size_t last = 0;  // one past the end, never below first

  // How many indices, and whether there are none.
  constexpr std::size_t size() const noexcept { return last - first; }
  constexpr bool empty() const noexcept { return first == last; }

  // For range-for: each index in turn.
  struct Iterator {
    std::size_t index;  // that it stands at
    constexpr std::size_t operator*() const noexcept { return index; }
    constexpr Iterator& operator++() noexcept {
      ++index;
      return *this;
    }
    friend constexpr bool operator==(Iterator, Iterator) noexcept = default;
  };
  constexpr Iterator begin() const noexcept { return {first}; }
  constexpr Iterator end() const noexcept { return {last}; }

  friend constexpr bool operator==(const IndexRange&, const IndexRange&) noexcept = default;
};

}}  // namespace handoff::HANDOFF_ABI
