// SPDX-License-Identifier: MIT
//
// For scenarios that look at how long what a closure holds lives.
#pragma once

#include <handoff/sync/internal/atomic.hpp>

namespace handoff::test {

// Counts how many of it there are.
class Counted {
 public:
  explicit Counted(sync::atomic<int>& count) : count_(&count) { add(1); }
  Counted(const Counted& other) noexcept : count_(other.count_) { add(1); }
  Counted(Counted&& other) noexcept : count_(other.count_) { add(1); }
  Counted& operator=(const Counted&) = delete;
  ~Counted() { add(-1); }

 private:
  void add(int number) noexcept { count_->fetch_add(number, sync::order::relaxed); }

  sync::atomic<int>* count_;
};

}  // namespace handoff::test
