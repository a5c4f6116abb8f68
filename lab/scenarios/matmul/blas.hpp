// SPDX-License-Identifier: MIT
// The library product behind the kernel `tile` and behind peer.openblas. Which flavour of OpenBLAS
// it is, serial or with threads of its own, is decided by what a contender links.
#pragma once

#include <cstddef>

#include "scenarios/matmul/kernels.hpp"

namespace handoff::lab::matmul {

enum class BlasFlavour { serial, threads };

// Throws Unavailable unless this process runs that flavour, with the kernels that its environment
// asks for: both flavours have one soname, and an unknown core type runs silently as another.
void require_blas(BlasFlavour flavour);

// Throws Unavailable where the library does not take so many threads.
void set_blas_threads(std::size_t width);

// Rows [first, last) of the product, in one call.
void multiply_rows(const AnyOperands& operands, std::size_t first, std::size_t last);

}  // namespace handoff::lab::matmul
