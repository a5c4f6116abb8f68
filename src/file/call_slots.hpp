// SPDX-License-Identifier: MIT
//
// The calls of a ring driver that are out, one slot each.
#pragma once

#if defined(HANDOFF_HAS_URING)

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <handoff/config.hpp>
#include <memory>
#include <vector>

#include "file_run.hpp"
#include "ring.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// One call that is out.
struct RingSlot {
  FileRun* run = nullptr;
  FileCall call;            // as the run wants it
  RingCall handed;          // as it is made: shorter, if the tap says so
  long result = 0;          // of one that a thread made
  RingSlot* next = nullptr;
  std::vector<iovec> shorter;
};

// Those that are free, those that are not.
class CallSlots {
 public:
  explicit CallSlots(std::size_t count) : slots_(std::make_unique<RingSlot[]>(count)) {
    for (std::size_t i = 0; i < count; ++i) give_back(slots_[i]);
    out_ = 0;
  }

  [[nodiscard]] bool any_free() const noexcept { return free_ != nullptr; }
  [[nodiscard]] bool any_out() const noexcept { return out_ != 0; }
  RingSlot& take() noexcept {
    RingSlot& slot = *free_;
    free_ = slot.next;
    ++out_;
    return slot;
  }
  void give_back(RingSlot& slot) noexcept {
    slot.next = free_;
    free_ = &slot;
    --out_;
  }
  // What goes through the ring as the label of a call, and comes back.
  [[nodiscard]] std::uint64_t label(const RingSlot& slot) const noexcept {
    return static_cast<std::uint64_t>(&slot - slots_.get()) + 1;
  }
  [[nodiscard]] RingSlot& with_label(std::uint64_t label) noexcept { return slots_[label - 1]; }

 private:
  std::unique_ptr<RingSlot[]> slots_;
  RingSlot* free_ = nullptr;
  std::size_t out_ = 0;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

#endif
