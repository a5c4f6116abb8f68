// SPDX-License-Identifier: MIT
//
// Policies that are those of a base, but for one.
#pragma once

#include <handoff/core/on_full.hpp>
#include <handoff/event/event_policies.hpp>

namespace handoff::test {

template <OnFull kOnFull, class Base = EventPolicies>
struct Bounded : Base {
  static constexpr OnFull on_full = kOnFull;
};
template <class Base = EventPolicies>
struct Coalesces : Base {
  static constexpr bool coalesce = true;
};

}  // namespace handoff::test
