// SPDX-License-Identifier: MIT
//
// How much memory the program has from the allocator, with a sanitizer's or without.
#pragma once

#include <malloc.h>

#include <cstddef>

extern "C" [[gnu::weak]] std::size_t __sanitizer_get_current_allocated_bytes();

namespace handoff::test {

inline std::size_t allocated_bytes() {
  if (&__sanitizer_get_current_allocated_bytes != nullptr) {
    return __sanitizer_get_current_allocated_bytes();
  }
  const auto now = ::mallinfo2();
  return now.uordblks + now.hblkhd;
}

}  // namespace handoff::test
