// SPDX-License-Identifier: MIT
//
// For scenarios about what is seen while some worker of a pool sleeps.
#pragma once

#include <cstdint>
#include <handoff/pool/detail/sleepers.hpp>

namespace handoff::test {

// For Sleepers::sleep(), where nobody makes work behind the light fence only.
inline constexpr auto by_seq_cst = [](std::uint64_t /*asleep*/) noexcept { return true; };

// Runs program() between the moment at which somebody is known to sleep and its last look.
template <class F>
void beside_a_sleeper(handoff::detail::Sleepers& sleepers, F program) {
  handoff::detail::Sleepers::Place bed;
  sleepers.begin_search();
  (void)sleepers.sleep(bed, by_seq_cst, [&program] {
    program();
    return true;
  });
  (void)sleepers.end_search();
}

}  // namespace handoff::test
