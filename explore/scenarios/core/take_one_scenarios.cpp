// SPDX-License-Identifier: MIT
//
// Several threads take from one count.
#include <handoff/core/internal/take_one.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>

#include "explore/scenario.hpp"

namespace take_one_scenarios { namespace {

using namespace handoff;
using detail::take_one;
using test::Scenario;

const Scenario last_one("take_one/last_one", [] {
  sync::atomic<std::int64_t> count(1);
  bool other_took = false;
  explore::Thread other([&] { other_took = take_one(count) != 0; });
  const bool took = take_one(count) != 0;
  other.join();
  explore::check(took != other_took, "one of the two");
  explore::check(take_one(count) == 0, "nothing is left, and not less");
});

const Scenario brings_the_gift("take_one/brings_what_came_before", [] {
  sync::atomic<std::uint32_t> count(0);
  sync::cell<int> data(0);
  explore::Thread giver([&] {
    data.write() = 1;
    // order: release pairs with the acquire in take_one().
    count.fetch_add(1, sync::order::release);
  });
  if (take_one(count) != 0) explore::check(data.read() == 1, "what came before the gift");
});

}}  // namespace take_one_scenarios
