// SPDX-License-Identifier: MIT
//
// How a listener is added: its priority, and after how many calls it is removed.
//
//   list.append(f, {.priority = 5});
//   queue.append_listener(key, f, {.calls = 1});   // the first time only
#pragma once

#include <cstdint>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

struct ListenerOptions {
  // Higher ones are called first; among equals the order of adding holds.
  int priority = 0;
  // The listener is removed after this many calls, before the last one; 0: never. Passes on several
  // threads share the count: there are never more calls. For listeners without a result.
  std::uint32_t calls = 0;
};

}}  // namespace handoff::HANDOFF_ABI
