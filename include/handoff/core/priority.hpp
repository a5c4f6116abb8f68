// SPDX-License-Identifier: MIT
//
// Which of the things that wait comes first: it is the next one when what runs now has ended.
//
//   pool.post(redraw, {.priority = handoff::Priority::high});             // ThreadPool
//   handoff::Status s = bus.publish(Alarm{7}, handoff::Priority::urgent);  // PriorityMessageBus
//
// Nothing that runs is interrupted. As long as there is always something more urgent, the rest may
// wait for ever, unless the option starvation_limit says otherwise.
#pragma once

#include <cstdint>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

enum class Priority : std::uint8_t {
  urgent,  // before all others
  high,    // before all but urgent ones
  normal,  // the default
  low,     // where nothing else is left to do
};

}}  // namespace handoff::HANDOFF_ABI
