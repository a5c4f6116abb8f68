// SPDX-License-Identifier: MIT
//
// What the suites make in one way, whether it has a size or none.
#pragma once

#include "support/test.hpp"

namespace handoff::test {

// Of this capacity or width, if it has one.
template <class T>
T made(std::size_t size) {
  if constexpr (std::is_constructible_v<T, std::size_t>) {
    return T(size);
  } else {
    return T();
  }
}

}  // namespace handoff::test
