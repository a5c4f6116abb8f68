// SPDX-License-Identifier: MIT
//
// What becomes of the work that was accepted before a close.
//
//   pool.close(Closing::finish);            // all of it is done
//   pool.close(Closing::finish_until(2s));  // what can begin in 2 s is done; the rest expires
//   pool.close(Closing::abandon);           // what has begun is done; the rest is cancelled
#pragma once

#include <handoff/config.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/core/until.hpp>
#include <handoff/sync/clock.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

struct Closing {
  bool begins_more = true;  // whether work that has not begun may still begin
  sync::Deadline deadline = sync::no_deadline;  // ... up to this moment; the rest expires

  // All that was accepted is done.
  [[gnu::visibility("hidden")]] static const Closing finish;

  // Nothing more begins; it counts as cancelled.
  [[gnu::visibility("hidden")]] static const Closing abandon;

  // What can begin by then is done; the rest counts as expired. A stop token is misuse: a close
  // ends when what has begun has ended, whatever is requested meanwhile.
  [[nodiscard]] static Closing finish_until(const Until& until) {
    if (until.stop_possible()) misuse("Closing: finish_until() takes a time, not a stop token");
    return {.deadline = until.deadline()};
  }

  // Whether that moment has come.
  [[nodiscard]] bool is_late() const noexcept {
    return deadline != sync::no_deadline && sync::clock::now() >= deadline;
  }
};

inline constexpr Closing Closing::finish{};
inline constexpr Closing Closing::abandon{.begins_more = false};

}}  // namespace handoff::HANDOFF_ABI
