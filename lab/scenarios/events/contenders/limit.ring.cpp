// SPDX-License-Identifier: MIT
// The least that an event needs on its way to another thread: a bare ring for one producer and one
// consumer, which never sleeps, whatever it is asked for.
#include <atomic>
#include <vector>

#include "scenarios/events/function_table.hpp"
#include "scenarios/events/measure.hpp"

namespace handoff::lab::events {
namespace {

class Ring : public CallsByIndex {
 public:
  explicit Ring(const Task& /*task*/) : slots_(1024) {}

  void enqueue(int key, const Payload& payload) {
    const std::size_t tail = tail_.load(std::memory_order_relaxed);
    while (tail - head_.load(std::memory_order_acquire) == slots_.size()) {
    }
    slots_[tail % slots_.size()] = {key, payload};
    tail_.store(tail + 1, std::memory_order_release);
  }

  void process() {
    std::size_t head = head_.load(std::memory_order_relaxed);
    for (; head != tail_.load(std::memory_order_acquire); ++head) {
      const Slot& slot = slots_[head % slots_.size()];
      functions_(slot.key, slot.payload);
      head_.store(head + 1, std::memory_order_release);
    }
  }

 private:
  struct Slot {
    int key = 0;
    Payload payload;
  };

  std::vector<Slot> slots_;
  alignas(128) std::atomic<std::size_t> tail_{0};
  alignas(128) std::atomic<std::size_t> head_{0};
};

}  // namespace

Operation contender(const Task& task) { return measure<Ring>(task); }

}  // namespace handoff::lab::events
