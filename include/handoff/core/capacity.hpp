// SPDX-License-Identifier: MIT
//
// What a capacity may be, wherever there is one.
//
// A capacity is how many things may wait: at least 1. 0 is misuse. A type holds at least as many as
// were asked for, and capacity() tells how many.
#pragma once

#include <cstddef>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// The capacity without a bound, of types that can be without one.
inline constexpr std::size_t unbounded = ~std::size_t{0};

}}  // namespace handoff::HANDOFF_ABI
