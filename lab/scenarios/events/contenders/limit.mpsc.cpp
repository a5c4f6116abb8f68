// SPDX-License-Identifier: MIT
// The least that many producers need: one atomic addition for an event, a slot of its own, a call
// by index. The slots are as many as there will ever be events, so nothing is checked.
#include <atomic>
#include <bit>
#include <vector>

#include "scenarios/events/function_table.hpp"
#include "scenarios/events/measure.hpp"

namespace handoff::lab::events {
namespace {

struct Slot {
  std::atomic<std::uint32_t> ready{0};  // the round that filled it
  int key = 0;
  Payload payload;
};

class Ring : public CallsByIndex {
 public:
  explicit Ring(const Task& task) : slots_(std::bit_ceil(task.count)) {}

  void enqueue(int key, const Payload& payload) {
    const std::size_t ticket = tail_.fetch_add(1, std::memory_order_relaxed);
    Slot& slot = slots_[ticket & (slots_.size() - 1)];
    slot.key = key;
    slot.payload = payload;
    slot.ready.store(round(ticket), std::memory_order_release);
  }

  template <class Visitor>
  void visit(Visitor&& visitor) {
    for (;; ++head_) {
      const Slot& slot = slots_[head_ & (slots_.size() - 1)];
      if (slot.ready.load(std::memory_order_acquire) != round(head_)) return;
      visitor(slot.key, slot.payload);
    }
  }
  void process() { visit(functions_); }

 private:
  std::uint32_t round(std::size_t ticket) const {
    return static_cast<std::uint32_t>(ticket / slots_.size() + 1);
  }

  std::vector<Slot> slots_;
  alignas(128) std::atomic<std::size_t> tail_{0};
  alignas(128) std::size_t head_ = 0;
};

}  // namespace

Operation contender(const Task& task) { return measure<Ring>(task); }

}  // namespace handoff::lab::events
