// SPDX-License-Identifier: MIT
//
// MemoryCredit: what was granted is taken once, whichever thread takes it.
#include "process/memory_left.hpp"

#include "explore/scenario.hpp"

namespace memory_left_scenarios { namespace {

using namespace handoff;
using test::Scenario;

const Scenario is_taken_once("memory_credit/is_taken_once", [] {
  detail::MemoryCredit credit;
  explore::check(!credit.take(1), "nothing was granted");
  credit.grant(10);
  bool first = false;
  bool second = false;
  {
    explore::Thread one([&] { first = credit.take(6); });
    explore::Thread other([&] { second = credit.take(5); });
  }
  explore::check(first != second, "10 are enough for one of them");
  explore::check(credit.take(first ? 4 : 5), "and the rest is there");
  explore::check(!credit.take(1), "which was all");
});

}}  // namespace memory_left_scenarios
