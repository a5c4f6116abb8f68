// SPDX-License-Identifier: MIT
// A thread that sleeps, so that a program has more than one.
#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

namespace handoff::lab::events {

class SecondThread {
  std::jthread thread_{[](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any asleep;
    std::unique_lock lock(mutex);
    asleep.wait(lock, stop, [] { return false; });
  }};
};

}  // namespace handoff::lab::events
