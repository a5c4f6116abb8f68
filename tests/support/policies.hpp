// SPDX-License-Identifier: MIT
//
// Policies that are those of a base, but for one.
#pragma once

#include <handoff/core/on_full.hpp>
#include <handoff/event/event_policies.hpp>

namespace handoff::test {

// Of a type with a bound, and what its option on_full is to say: see full_of().
template <OnFull kOnFull, class Base = EventPolicies>
struct Bounded : Base {
  static constexpr bool bounded = true;
  static constexpr OnFull kFull = kOnFull;
};
template <class Base = EventPolicies>
struct Coalesces : Base {
  static constexpr bool coalesce = true;
};
// Of a broadcast.
template <class Base>
struct Overwrites : Base {
  static constexpr OnFull on_full = OnFull::overwrite_oldest;
};

template <class Policies>
consteval OnFull full_of(OnFull otherwise = OnFull::reject) {
  if constexpr (requires { Policies::kFull; }) return Policies::kFull;
  return otherwise;
}

}  // namespace handoff::test
