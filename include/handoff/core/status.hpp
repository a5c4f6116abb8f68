// SPDX-License-Identifier: MIT
//
// How a call on a queue, an executor or a wait ended, when it did not throw.
//
// The whole library shares these words. A failing system call is not a Status: it throws
// std::system_error. Wrong use is not one either: it goes to the misuse handler (misuse.hpp).
#pragma once

#include <cstdint>

#include <handoff/config.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

enum class [[nodiscard("it says whether the call did what it should")]] Status : std::uint8_t {
  ok,         // done
  full,       // no room now; the item is still the caller's
  empty,      // nothing there now; more may come
  closed,     // never again: no more is accepted, or all that was accepted has been taken
  stopped,    // the caller's stop token was asked to stop
  timed_out,  // the deadline passed
};

// The enumerator's name.
const char* to_string(Status status) noexcept;

}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")
