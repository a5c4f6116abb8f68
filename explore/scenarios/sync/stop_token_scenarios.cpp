// SPDX-License-Identifier: MIT
//
// StopSource and StopCallback: a callback runs once or was withdrawn, and never after its
// destructor.
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/stop_token.hpp>
#include <stop_token>

#include "explore/scenario.hpp"

namespace stop_token_scenarios { namespace {

using namespace handoff;
using sync::StopCallback;
using sync::StopSource;
using test::Scenario;

void count(void* calls) noexcept { static_cast<sync::cell<int>*>(calls)->write() += 1; }

const Scenario withdraw("stop_token/withdraw", [] {
  StopSource source;
  explore::Thread stopper([&] { source.request_stop(); });
  sync::cell<int> calls(0);
  {
    const StopCallback callback(source.token(), count, &calls);
  }
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
    {
      const StopCallback callback(source.token(), count, &calls);
    }
    calls.write() = 7;
  }
});

// Two are withdrawn while one may have been run and the other be running.
const Scenario two_withdrawn("stop_token/two_withdrawn", [] {
  StopSource source;
  explore::Thread stopper([&] { source.request_stop(); });
  sync::cell<int> first(0);
  sync::cell<int> second(0);
  {
    const StopCallback one(source.token(), count, &first);
    const StopCallback two(source.token(), count, &second);
  }
  explore::check(first.read() <= 1 && second.read() <= 1, "at most once each");
  explore::outcome(static_cast<std::uint64_t>(first.read() + 2 * second.read()));
});

// All that are linked are run, in whatever order; one withdraws itself, and one all the others.
struct Ending {
  std::optional<StopCallback> callback;
  sync::cell<int> calls{0};
  std::optional<StopCallback>* also = nullptr;

  explicit Ending(const StopSource& source) { callback.emplace(source.token(), &run, this); }
  static void run(void* self) noexcept {
    Ending& ending = *static_cast<Ending*>(self);
    ending.calls.write() += 1;
    if (ending.also != nullptr) ending.also->reset();
  }
};

const Scenario in_callbacks("stop_token/withdrawn_in_callbacks", [] {
  StopSource source;
  Ending withdrawn(source);
  Ending last(source);
  Ending other(source);
  last.also = &last.callback;
  other.also = &withdrawn.callback;
  explore::Thread stopper([&] { explore::check(source.request_stop(), "once"); });
  stopper.join();
  explore::check(!source.request_stop(), "it has been");
  explore::check(other.calls.read() == 1 && last.calls.read() == 1, "both, once");
  explore::check(withdrawn.calls.read() == 0 && !withdrawn.callback, "withdrawn before its turn");
  explore::check(!last.callback, "gone in its own call");
});

// The standard's token is followed, before and after; without one nothing is ever stopped.
const Scenario followed("stop_token/follows", [] {
  std::stop_source standard;
  const sync::StopToken token(standard.get_token());
  sync::cell<int> calls(0);
  const StopCallback callback(token, count, &calls);
  explore::check(!token.stop_requested() && calls.read() == 0, "not yet");
  explore::Thread stopper([&] { standard.request_stop(); });
  stopper.join();
  explore::check(token.stop_requested() && calls.read() == 1, "like the standard's");
  sync::cell<int> late_calls(0);
  const StopCallback late(token, count, &late_calls);
  explore::check(late_calls.read() == 1, "at once");
  explore::check(!sync::StopToken(std::stop_token()).stop_requested(), "nobody could");
  StopSource moved_from;
  const StopSource kept = std::move(moved_from);
  explore::check(!moved_from.request_stop(), "nothing to stop");
  explore::check(!kept.stop_requested(), "and the other is not");
});

// A callback that comes too late is run by its own thread, after all that came before the stop.
const Scenario late_callback("stop_token/late_callback", [] {
  StopSource source;
  sync::cell<int> calls(0);
  explore::Thread stopper([&] {
    calls.write() = 7;
    source.request_stop();
  });
  {
    const StopCallback callback(source.token(), count, &calls);
  }
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

}}  // namespace stop_token_scenarios
