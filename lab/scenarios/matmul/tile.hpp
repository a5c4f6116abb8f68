// SPDX-License-Identifier: MIT
// The kernel `tile`: rows of the product by a library, on the caller's thread alone.
#pragma once

#include <cstddef>

#include "scenarios/matmul/kernels.hpp"

namespace handoff::lab::matmul {

using Rows = void (*)(const AnyOperands& operands, std::size_t first, std::size_t last);

// The library that the environment names: HANDOFF_TILE=openblas, which is the default, or onednn,
// for floats; doubles are OpenBLAS's always. Throws Unavailable where it cannot run here.
Rows tile_rows();

}  // namespace handoff::lab::matmul
