// SPDX-License-Identifier: MIT
// What schemes of messages have in common: a message names a row. In the article's, the thread that
// gets it computes that row and counts it; the caller hands over all of them, then yields until all
// are counted.
#pragma once

#include "scenarios/matmul/contender.hpp"

namespace handoff::lab::matmul {

// With `tile`, the first of several rows.
struct RowMessage {
  std::uint32_t row = 0;
};

class RowMessages {
 public:
  explicit RowMessages(const Task& task) : task_(task), rows_(task.rows()) {}

  void compute(const RowMessage& message) {
    const std::size_t first = message.row;
    rows_(first, std::min(first + claim_, task_.m));
    done_.fetch_add(1, std::memory_order_release);
  }

  // `publish(message)` is repeated until it says true.
  template <class Publish>
  void hand_over(Publish&& publish) {
    done_.store(0, std::memory_order_relaxed);
    std::size_t count = 0;
    for (std::size_t first = 0; first < task_.m; first += claim_, ++count) {
      while (!publish(RowMessage{static_cast<std::uint32_t>(first)})) std::this_thread::yield();
    }
    while (done_.load(std::memory_order_acquire) != count) std::this_thread::yield();
  }

 private:
  const Task& task_;
  const RowKernel rows_;
  const std::size_t claim_ = task_.claim_rows();
  std::atomic<std::size_t> done_{0};
};

}  // namespace handoff::lab::matmul
