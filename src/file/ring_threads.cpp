// SPDX-License-Identifier: MIT
//
// Threads for what the ring cannot do.
#include "ring_threads.hpp"

#if defined(HANDOFF_HAS_URING)

#include <exception>
#include <utility>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

RingThreads::RingThreads(std::string name, RingBell& bell) : name_(std::move(name)), bell_(bell) {
  threads_.reserve(kMost);
}

RingThreads::~RingThreads() {
  {
    const sync::Lock lock(mutex_);
    closed_ = true;
  }
  given_.notify_all();
  threads_.clear();  // joins
}

bool RingThreads::start_one() noexcept {
  try {
    threads_.emplace_back(sync::ThreadOptions{.name = name_}, [this]() noexcept { work(); });
  } catch (const std::exception&) {
    return false;
  }
  return true;
}

bool RingThreads::give(RingSlot& slot) noexcept {
  const std::size_t threads = threads_.size();
  if (out_ == threads && threads < kMost && !start_one() && threads == 0) return false;
  ++out_;
  slot.next = nullptr;
  {
    const sync::Lock lock(mutex_);
    (last_ == nullptr ? first_ : last_->next) = &slot;
    last_ = &slot;
  }
  given_.notify_one();
  return true;
}

RingSlot* RingThreads::take_done() noexcept {
  if (out_ == 0) return nullptr;
  const sync::Lock lock(mutex_);
  RingSlot* const done = std::exchange(done_, nullptr);
  for (const RingSlot* slot = done; slot != nullptr; slot = slot->next) --out_;
  return done;
}

RingSlot* RingThreads::take() noexcept {
  RingSlot* slot = nullptr;
  const auto there = [&]() noexcept {
    const sync::Lock lock(mutex_);
    slot = first_;
    if (slot == nullptr) return closed_;
    first_ = slot->next;
    if (first_ == nullptr) last_ = nullptr;
    return true;
  };
  (void)given_.await(there, sync::no_deadline, {}, sync::spin_policy(), "idle");
  return slot;
}

void RingThreads::work() noexcept {
  while (RingSlot* const slot = take()) {
    slot->result = perform(slot->handed.call, nullptr);
    {
      const sync::Lock lock(mutex_);
      slot->next = done_;
      done_ = slot;
    }
    bell_.ring();
  }
}

}}}  // namespace handoff::HANDOFF_ABI::detail

#endif
