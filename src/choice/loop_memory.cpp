// SPDX-License-Identifier: MIT
//
// The part of a loop's memory that is behind its lock.
#include <handoff/choice/detail/loop_memory.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

// The lock, if it is free.
class MemoryLock {
 public:
  explicit MemoryLock(sync::Mutex& mutex) noexcept : mutex_(mutex), holds_(mutex.try_lock()) {}
  ~MemoryLock() {
    if (holds_) mutex_.unlock();
  }
  MemoryLock(const MemoryLock&) = delete;
  MemoryLock& operator=(const MemoryLock&) = delete;
  bool holds() const noexcept { return holds_; }

 private:
  sync::Mutex& mutex_;
  const bool holds_;
};

}  // namespace

std::uint32_t LoopMemory::word_of(const ChoicePolicy::Next& next) noexcept {
  return static_cast<std::uint32_t>(next.way) | (next.in_pieces ? kInPieces : 0) |
         next.unmeasured * kOneLeft | next.unmeasured << kCallsShift;
}

bool LoopMemory::read_plan(std::size_t slot, const WaySpeeds& speeds, SerialPlan& plan) noexcept {
  const MemoryLock lock(mutex_);
  if (!lock.holds()) return false;
  const Known& known = known_.read();
  plan = known.policies[slot].serial_plan(speeds, known.costs);
  return true;
}

bool LoopMemory::note(std::size_t slot, const WaySpeeds& speeds,
                      const MeasuredLoop& loop) noexcept {
  const MemoryLock lock(mutex_);
  if (!lock.holds()) return false;
  Known& known = known_.write();
  ChoicePolicy& policy = known.policies[slot];
  policy.note(loop, speeds, known.costs);
  // order: relaxed, here and below: what is known is read under the lock only.
  next_[slot].word.store(word_of(policy.next()), sync::order::relaxed);
  last_slot_.store(slot, sync::order::relaxed);  // order: relaxed, as above
  return true;
}

LoopChoice LoopMemory::choice(std::size_t slot, const WaySpeeds& speeds) noexcept {
  const sync::Lock lock(mutex_);
  const Known& known = known_.read();
  return known.policies[slot].choice(speeds, known.costs);
}

}}}  // namespace handoff::HANDOFF_ABI::detail
