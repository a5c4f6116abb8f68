// SPDX-License-Identifier: MIT
//
// Fields that options do not have. They take no room, and a program that sets one does not compile:
// the compiler then prints the right name. Not for users.
#pragma once

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

struct CalledWidth {
  constexpr CalledWidth() noexcept = default;
  template <class Given>
  constexpr CalledWidth(const Given& /*unused*/) {  // NOLINT(google-explicit-constructor)
    static_assert(sizeof(Given) == 0, "the number of threads is called .width");
  }
};

// Two of one type would take room.
template <int kWhich>
struct CalledUntil {
  constexpr CalledUntil() noexcept = default;
  template <class Given>
  constexpr CalledUntil(const Given& /*unused*/) {  // NOLINT(google-explicit-constructor)
    static_assert(sizeof(Given) == 0,
                  "it is called .until, and takes a time, a stop token, or both: {10ms, token}");
  }
};

struct CalledAfter {
  constexpr CalledAfter() noexcept = default;
  template <class First, class... Rest>
  constexpr CalledAfter(const First& /*unused*/, const Rest&...) {  // NOLINT(google-explicit-*)
    static_assert(sizeof(First) == 0,
                  "a consumer of a broadcast that overwrites the oldest comes after no other: what "
                  "that one lost, this one may see");
  }
};

}}}  // namespace handoff::HANDOFF_ABI::detail
