// SPDX-License-Identifier: MIT
// This library's event queue: each piece is an event, and the threads drain.
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

#include <handoff/event/event_queue.hpp>

#include "scenarios/replay/measure.hpp"

namespace handoff::lab::replay {
namespace {

using Call = std::function<void()>;  // a job fits into it

class Events {
 public:
  explicit Events(std::size_t threads) {
    for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { serve(); });
  }
  ~Events() { queue_.shut(); }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  template <class F>
  void execute(F job) {
    static_cast<void>(queue_.enqueue(0, job));
  }

 private:
  // One kind of event and one handler: a visitor needs no listener. One at a time: a drain takes
  // many events for itself, and the other threads would have nothing to do while it runs them.
  void serve() {
    const auto run = [](int /*kind*/, const Call& job) { job(); };
    while (queue_.wait() == Status::ok) static_cast<void>(queue_.drain(run, 1));
  }

  EventQueue<int, void(const Call&)> queue_;
  std::vector<std::jthread> threads_;  // joined first
};

}  // namespace

Operation contender(const Task& task) { return measure<Events>(task); }

}  // namespace handoff::lab::replay
