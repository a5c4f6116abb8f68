// SPDX-License-Identifier: MIT
//
// Deferred: an inbox that any thread hands work to, and that its owner drains when it likes. Code
// that serves an inbox takes a Deferred and need not know what lies in it.
//
//   void serve(handoff::Deferred auto& inbox, const std::stop_token& stop) {
//     while (inbox.wait(stop) == handoff::Status::ok) inbox.drain();
//     (void)inbox.close();  // what is left is handled
//   }
//
// What a model promises:
// - drain() handles what is there, drain(most) `most` items at most, on the calling thread, and
//   returns how many. It ends, however much comes meanwhile.
// - wait(until): `ok`, there is something to drain; `closed`, there never will be; `timed_out` and
//   `stopped` as `until` says.
// - shut(), by any thread: nothing that is handed over after it is accepted. What was accepted can
//   be drained.
// - close(how), by the owner: shuts, gives what was accepted its outcome as `how` says, and returns
//   the exact Tally. close() finishes.
// - Its end destroys what is left and calls no handler.
// What it does not promise: the name of the call that hands over, an order, and a bound.
// Its models: EventQueue, MessageBus, LanedMessageBus, PriorityMessageBus. docs/guide/contract.md
// has them side by side.
#pragma once

#include <concepts>
#include <cstddef>

#include <handoff/config.hpp>
#include <handoff/core/closing.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/core/until.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

template <class D>
concept Deferred =
    requires(D& inbox, const D& same, std::size_t most, const Until& until, const Closing& how) {
      { inbox.drain() } -> std::same_as<std::size_t>;
      { inbox.drain(most) } -> std::same_as<std::size_t>;
      { inbox.wait(until) } -> std::same_as<Status>;
      inbox.shut();
      { same.closed() } -> std::same_as<bool>;
      { inbox.close() } -> std::same_as<Tally>;
      { inbox.close(how) } -> std::same_as<Tally>;
      { same.tally() } -> std::same_as<Tally>;
    };

}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")
