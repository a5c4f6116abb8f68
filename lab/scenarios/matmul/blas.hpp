// SPDX-License-Identifier: MIT
// OpenBLAS behind the kernel `tile`, on the caller's thread alone (one of its libraries, tile.hpp),
// and behind peer.openblas, on threads of its own.
//
// Both are the flavour with threads, set to one for `tile`: Debian builds the serial flavour
// without locks, and two members that call it at once now and then get each other's buffer and with
// it a wrong product (docs/adr/0006).
#pragma once

#include <cstddef>

#include "scenarios/matmul/kernels.hpp"

namespace handoff::lab::matmul {

// Throws Unavailable unless this process runs the flavour with threads, takes so many of them, and
// has the kernels that its environment asks for: the flavours have one soname, and an unknown core
// type runs silently as another.
void require_blas(std::size_t threads);

// Rows [first, last) of the product, in one call.
void multiply_rows(const AnyOperands& operands, std::size_t first, std::size_t last);

}  // namespace handoff::lab::matmul
