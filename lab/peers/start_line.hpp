// SPDX-License-Identifier: MIT
// Threads that begin together: one gives the word once all others are there, so that starting them
// is in no figure.
#pragma once

#include <atomic>
#include <cstddef>

#include "peers/apart.hpp"
#include "peers/polling.hpp"

namespace handoff::lab::peers {

class StartLine {
 public:
  // For another operation. No thread may wait here.
  void draw() {
    there_.store(0, std::memory_order_relaxed);
    began_.store(false, std::memory_order_relaxed);
  }

  // A thread that is to begin.
  void await_word() {
    there_.fetch_add(1, std::memory_order_release);
    retry([this] { return began_.load(std::memory_order_acquire); });
  }

  // The one that gives the word, to so many.
  void await(std::size_t threads) const {
    retry([&] { return there_.load(std::memory_order_acquire) == threads; });
  }
  void give_word() { began_.store(true, std::memory_order_release); }

 private:
  std::atomic<bool> began_{false};
  alignas(kApart) std::atomic<std::size_t> there_{0};
};

}  // namespace handoff::lab::peers
