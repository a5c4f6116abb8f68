// SPDX-License-Identifier: MIT
//
// What happens to an event that a drain has shown to a visitor or a chooser.
//
//   queue.drain([](int key, const Reading& reading) {
//     if (key == kAlarm) return handoff::Next::leave;
//     log(reading);
//     return handoff::Next::take;
//   });
#pragma once

#include <cstdint>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

enum class Next : std::uint8_t {
  take,  // it leaves the queue, and the next one comes
  leave,  // it stays in its place in the queue, and the next one comes
  stop,  // it stays, as do those behind it: the call ends
};

}}  // namespace handoff::HANDOFF_ABI
