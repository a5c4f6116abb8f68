// SPDX-License-Identifier: MIT
//
// Thread: joining it, and what that orders.
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/internal/thread.hpp>

#include "explore/scenario.hpp"

namespace thread_scenarios { namespace {

using namespace handoff;
using sync::Thread;
using test::Scenario;

const Scenario joined("thread/joined_by_its_end", [] {
  sync::cell<int> data(0);
  {
    Thread first({.name = "first"}, [&] { data.write() = 1; });
    const Thread second(std::move(first));
  }
  explore::check(data.read() == 1, "the function came before the join");
});

// Plain data of the one before: an assignment that did not wait for it would race.
const Scenario assigned("thread/assigned", [] {
  sync::cell<int> data(0);
  sync::cell<int> others(0);
  Thread thread({}, [&] { data.write() = 1; });
  thread = Thread({}, [&] { others.write() = 1; });
  explore::check(data.read() == 1, "the one before is done");
  thread.join();
  explore::check(others.read() == 1, "and the new one after its join");
});

}}  // namespace thread_scenarios
