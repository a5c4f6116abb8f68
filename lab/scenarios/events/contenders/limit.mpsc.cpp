// SPDX-License-Identifier: MIT
// The least that many producers need: one atomic addition for an event, a slot of its own, a call
// by index. The slots are as many as there will ever be events, so nothing is checked.
#include <atomic>
#include <bit>
#include <functional>
#include <memory>
#include <vector>

#include "scenarios/events/contender.hpp"

namespace handoff::lab::events {
namespace {

struct Slot {
  std::atomic<std::uint32_t> ready{0};  // the round that filled it
  int key = 0;
  Payload payload;
};

class Ring {
 public:
  explicit Ring(std::size_t capacity) : slots_(std::bit_ceil(capacity)) {}

  void push(int key, const Payload& payload) {
    const std::size_t ticket = tail_.fetch_add(1, std::memory_order_relaxed);
    Slot& slot = slots_[ticket & (slots_.size() - 1)];
    slot.key = key;
    slot.payload = payload;
    slot.ready.store(round(ticket), std::memory_order_release);
  }

  template <class Visitor>
  void drain(Visitor&& visitor) {
    for (;; ++head_) {
      const Slot& slot = slots_[head_ & (slots_.size() - 1)];
      if (slot.ready.load(std::memory_order_acquire) != round(head_)) return;
      visitor(slot.key, slot.payload);
    }
  }

 private:
  std::uint32_t round(std::size_t ticket) const {
    return static_cast<std::uint32_t>(ticket / slots_.size() + 1);
  }

  std::vector<Slot> slots_;
  alignas(128) std::atomic<std::size_t> tail_{0};
  alignas(128) std::size_t head_ = 0;
};

}  // namespace

Operation contender(const Task& task) {
  if (task.metric == "invoke") throw Unavailable("a ring has no list of listeners");
  const auto ring = std::make_shared<Ring>(task.count);
  const auto enqueue = [ring](int key, const Payload& payload) { ring->push(key, payload); };
  if (task.metric == "enqueue_visit") {
    return [&task, ring, enqueue] {
      enqueue_all(task, enqueue);
      ring->drain([sum = task.sum](int key, const Payload& payload) {
        *sum += heard(static_cast<std::uint64_t>(key), payload);
      });
    };
  }
  std::vector<std::function<void(const Payload&)>> functions;
  for (std::size_t i = 0; i < task.ids; ++i) {
    functions.emplace_back([i, sum = task.sum](const Payload& p) { *sum += heard(i, p); });
  }
  return [&task, ring, enqueue, functions] {
    enqueue_all(task, enqueue);
    ring->drain([&](int key, const Payload& payload) {
      functions[static_cast<std::size_t>(key)](payload);
    });
  };
}

}  // namespace handoff::lab::events
