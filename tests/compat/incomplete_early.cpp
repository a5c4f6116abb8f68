// SPDX-License-Identifier: MIT
//
// The half of incomplete.hpp that looks too early.
#define HANDOFF_TEST_LOOKS_EARLY
#include "incomplete.hpp"

namespace handoff::test {

std::unique_ptr<LateLists> make_late_lists() { return std::make_unique<LateLists>(); }
std::size_t early_size() noexcept { return sizeof(LateLists); }

}  // namespace handoff::test
