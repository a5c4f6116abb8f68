// SPDX-License-Identifier: MIT
//
// What became of the items that were handed over. At rest, always
// accepted == done + failed + cancelled + expired + pending.
//
// Nothing accepted is ever unaccounted for. What was refused is not part of it: a refused item
// stayed the caller's.
#pragma once

#include <cstdint>
#include <exception>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

struct Tally {
  std::uint64_t accepted = 0;   // taken on, ever
  std::uint64_t done = 0;       // ran to its end
  std::uint64_t failed = 0;     // threw; in a team, with all its block
  std::uint64_t cancelled = 0;  // never begun: a stop, a clear(), a newer event of its key
  std::uint64_t expired = 0;    // never begun: a deadline, or OnFull::overwrite_oldest
  std::uint64_t pending = 0;    // not yet begun or still running

  std::exception_ptr first_failure = nullptr;  // what the first of the failed ones threw

  // Whether each accepted item has exactly one outcome.
  [[nodiscard]] constexpr bool balanced() const noexcept {
    return accepted == done + failed + cancelled + expired + pending;
  }
};

}}  // namespace handoff::HANDOFF_ABI
