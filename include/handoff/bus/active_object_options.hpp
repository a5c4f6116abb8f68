// SPDX-License-Identifier: MIT
//
// What may be said of an active object when it is made.
#pragma once

#include <chrono>
#include <cstddef>
#include <exception>
#include <string>

#include <handoff/bus/admission.hpp>
#include <handoff/config.hpp>
#include <handoff/core/copyable_function.hpp>
#include <handoff/core/on_full.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// What the constructor is told.
struct ActiveObjectOptions {
  // What debuggers and `top` show for the thread.
  std::string name = "handoff-active";

  // Messages that were accepted and whose handlers are not at their end: at least 1; rounded up to
  // a power of two.
  std::size_t capacity = 1024;

  // What publish() does with one message too many: wait or reject.
  OnFull on_full = OnFull::wait;

  // Places that are kept for some classes of messages.
  Reserve reserve = {};

  // The only CPU the thread may run on; -1: anywhere.
  int cpu = -1;

  // How long the thread looks for a message before it sleeps: as that of a MessageBus.
  std::chrono::nanoseconds spin_for{-1};

  // Gets what the state threw, on the object's thread. It must not throw. Without one it is unheard
  // (core/on_unheard.hpp).
  CopyableFunction<void(const std::exception_ptr&)> on_error = {};
};

}}  // namespace handoff::HANDOFF_ABI
