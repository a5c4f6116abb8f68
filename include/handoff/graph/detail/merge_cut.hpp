// SPDX-License-Identifier: MIT
//
// Where a merge is cut into pieces. Not for users.
#pragma once

#include <cstddef>

#include <handoff/config.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/graph/detail/serial_start.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// How many of the first `place` merged items come from the first stretch, if that is at least
// `first_least`, and of the second at least `second_least`. Both stretches are iterators and sizes;
// second_is_less(b, a) compares one of the second with one of the first.
template <class I1, class I2, class Less>
std::size_t merge_cut(I1 first, std::size_t first_count, std::size_t first_least, I2 second,
                      std::size_t second_count, std::size_t second_least, std::size_t place,
                      Less& second_is_less) {
  std::size_t low = max(first_least, place > second_count ? place - second_count : 0);
  std::size_t high = min(first_count, place - second_least);
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (second_is_less(*detail::after(second, place - middle - 1), *detail::after(first, middle))) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
