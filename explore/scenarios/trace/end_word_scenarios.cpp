// SPDX-License-Identifier: MIT
//
// The end of a trace: the thread that sleeps is woken by it, and sees all that was noted before.
#include "trace/end_word.hpp"

#include <handoff/sync/internal/cell.hpp>

#include "explore/scenario.hpp"

namespace end_word_scenarios { namespace {

namespace explore = handoff::explore;
namespace sync = handoff::sync;
using handoff::test::Scenario;
using handoff::trace::EndWord;

// For ever: if the wake-up were lost, nothing else would end the sleep.
constexpr auto kForEver = std::chrono::nanoseconds::max();

const Scenario is_told("trace_end/is_told", [] {
  EndWord end;
  sync::cell<int> noted{0};
  explore::Thread writer([&] {
    while (!end.is_told()) end.sleep(kForEver);
    explore::check(noted.read() == 1, "what was noted before the end is seen");
  });
  noted.write() = 1;
  end.tell();
});

const Scenario in_pauses("trace_end/between_looks", [] {
  EndWord end;
  explore::Thread writer([&] {
    for (int looks = 0; looks < 2 && !end.is_told(); ++looks) {
      end.sleep(std::chrono::milliseconds(1));
    }
  });
  end.tell();
  writer.join();
  explore::check(end.is_told(), "and stays so");
});

}}  // namespace end_word_scenarios
