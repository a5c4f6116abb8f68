// SPDX-License-Identifier: MIT
//
// The memory of a program that is counted: at the same addresses in each run, and each block on
// cache lines of its own, so that no count hangs on what happens to lie beside it.
#pragma once

#include <cstddef>

namespace handoff::counts {

[[nodiscard]] void* get_block(std::size_t bytes, std::size_t alignment) noexcept;
void give_block_back(void* block) noexcept;

}  // namespace handoff::counts
