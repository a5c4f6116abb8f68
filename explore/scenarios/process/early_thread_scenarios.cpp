// SPDX-License-Identifier: MIT
//
// The thread that is there before its work: it does it once, sees what came before begin(), and
// ends without it if there is none.
#include "process/early_thread.hpp"

#include <handoff/sync/internal/cell.hpp>

#include "explore/scenario.hpp"

namespace early_thread_scenarios { namespace {

namespace explore = handoff::explore;
using handoff::detail::EarlyThread;
using handoff::test::Scenario;

struct Work {
  static void call(void* self) noexcept {
    Work& work = *static_cast<Work*>(self);
    explore::check(work.prepared.read() == 1, "what came before begin() is seen");
    ++work.calls.write();
  }
  handoff::sync::cell<int> prepared{0};
  handoff::sync::cell<int> calls{0};
};

const Scenario works("early_thread/works", [] {
  Work work;
  EarlyThread thread("early");
  work.prepared.write() = 1;
  thread.begin(&Work::call, &work);
  thread.join();
  explore::check(work.calls.read() == 1, "once");
});

const Scenario ends_by_itself("early_thread/ends_by_itself", [] {
  Work work;
  {
    EarlyThread thread("early");
    work.prepared.write() = 1;
    thread.begin(&Work::call, &work);
  }
  explore::check(work.calls.read() == 1, "the destructor waits");
});

const Scenario never_begun("early_thread/never_begun", [] { const EarlyThread thread("early"); });

const Scenario no_thread(
    "early_thread/no_thread",
    [] {
      try {
        const EarlyThread thread("early");
      } catch (const std::system_error&) {  // then nothing is left behind
      }
    },
    handoff::test::Size::small, 0, 1);

}}  // namespace early_thread_scenarios
