// SPDX-License-Identifier: MIT
// This library's event queue: an event names a block. The caller enqueues all of them, then drains
// with the threads that serve the queue.
#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include <handoff/event/event_queue.hpp>

#include "scenarios/try/contender.hpp"

namespace handoff::lab::trial {
namespace {

class Served {
 public:
  explicit Served(const Task& task) : task_(task), block_(task.handed()) {
    handle_ = queue_.append_listener(kBlock, [this](std::size_t first) {
      const std::size_t last = std::min(first + block_, task_.items);
      run_items(first, last);
      // order: release: what the items wrote is there for run(), which acquires the last of them
      if (left_.fetch_sub(last - first, std::memory_order_release) == last - first) {
        left_.notify_one();
      }
    });
    for (std::size_t i = 1; i < task.width; ++i) threads_.emplace_back([this] { serve(); });
  }
  ~Served() { queue_.shut(); }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;

  void run() {
    // order: relaxed: enqueue() hands it on
    left_.store(task_.items, std::memory_order_relaxed);
    for (std::size_t first = 0; first < task_.items; first += block_) {
      static_cast<void>(queue_.enqueue(kBlock, first));
    }
    while (queue_.drain(1) > 0) continue;
    // order: acquire: with the release of the last block
    for (std::size_t left = 0; (left = left_.load(std::memory_order_acquire)) != 0;) {
      left_.wait(left, std::memory_order_acquire);  // order: as above
    }
  }

 private:
  static constexpr int kBlock = 1;

  // One at a time: a drain takes what is there, and others would have nothing.
  void serve() {
    while (queue_.wait() == Status::ok) static_cast<void>(queue_.drain(1));
  }

  const Task& task_;
  const std::size_t block_;
  std::atomic<std::size_t> left_{0};
  EventQueue<int, void(std::size_t)> queue_;
  ListenerHandle handle_;
  std::vector<std::jthread> threads_;
};

}  // namespace

Operation contender(const Task& task) {
  return [served = std::make_shared<Served>(task)] { served->run(); };
}

}  // namespace handoff::lab::trial
