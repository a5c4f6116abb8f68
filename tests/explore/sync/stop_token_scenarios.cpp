// SPDX-License-Identifier: MIT
//
// StopSource and StopCallback: a callback runs once or was withdrawn, and never after its
// destructor.
#include <handoff/sync/cell.hpp>
#include <handoff/sync/stop_token.hpp>
#include <optional>
#include <utility>

#include "explore/scenario.hpp"

namespace {

using namespace handoff;
using sync::StopCallback;
using sync::StopSource;
using test::Scenario;

void count(void* calls) noexcept { static_cast<sync::cell<int>*>(calls)->write() += 1; }

const Scenario withdraw("stop_token/withdraw", [] {
  StopSource source;
  explore::Thread stopper([&] { source.request_stop(); });
  sync::cell<int> calls(0);
  { const StopCallback callback(source.token(), count, &calls); }
  // Plain data: a call that is still on would race with this read.
  explore::check(calls.read() <= 1, "at most once");
  explore::outcome(static_cast<std::uint64_t>(calls.read()));
});

const Scenario two_stoppers("stop_token/two_stoppers", [] {
  StopSource source;
  sync::cell<int> calls(0);
  const StopCallback callback(source.token(), count, &calls);
  bool first = false;
  explore::Thread stopper([&] { first = source.request_stop(); });
  const bool second = source.request_stop();
  stopper.join();
  explore::check(first != second, "one of them stopped it");
  explore::check(calls.read() == 1, "exactly once");
});

const Scenario publishes("stop_token/publishes", [] {
  StopSource source;
  sync::cell<int> data(0);
  explore::Thread stopper([&] {
    data.write() = 1;
    source.request_stop();
  });
  const bool seen = source.stop_requested();
  if (seen) explore::check(data.read() == 1, "what came before the stop is there");
  explore::outcome(seen);
});

// A callback is withdrawn while it may be running: plain data that it wrote is its owner's again.
const Scenario withdrawn_running("stop_token/withdrawn_running", [] {
  StopSource source;
  explore::Thread stopper([&] { source.request_stop(); });
  {
    sync::cell<int> calls(0);
    { const StopCallback callback(source.token(), count, &calls); }
    calls.write() = 7;
  }
  stopper.join();
});

// A callback that comes too late is run by its own thread, after all that came before the stop.
const Scenario late_callback("stop_token/late_callback", [] {
  StopSource source;
  sync::cell<int> calls(0);
  explore::Thread stopper([&] {
    calls.write() = 7;
    source.request_stop();
  });
  { const StopCallback callback(source.token(), count, &calls); }
  stopper.join();
  explore::check(calls.read() == 7 || calls.read() == 8, "not before the stop");
  explore::outcome(static_cast<std::uint64_t>(calls.read()));
});

// The last handle may go on any thread, and all that others did with theirs comes before the end.
const Scenario last_handle("stop_token/last_handle", [] {
  std::optional<StopSource> source(std::in_place);
  explore::Thread other([token = source->token()]() mutable {
    const sync::StopToken mine = std::move(token);
    explore::outcome(mine.stop_requested());
  });
  source->request_stop();
  source.reset();
});

}  // namespace
