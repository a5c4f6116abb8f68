// SPDX-License-Identifier: MIT
//
// How many items a bounded type holds, said by one rule everywhere:
//
// - A capacity holds at least what was asked for. Rings round up to a power of two; all else holds
//   exactly that many. capacity() tells.
// - 0 is misuse. No bound is `unbounded`, for the types that have one to leave out.
#pragma once

#include <cstddef>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// No bound.
inline constexpr std::size_t unbounded = ~std::size_t{0};

}}  // namespace handoff::HANDOFF_ABI
