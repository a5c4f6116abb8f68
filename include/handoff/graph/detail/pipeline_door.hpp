// SPDX-License-Identifier: MIT
//
// The door of a serial stage: lets items in one at a time, by their numbers. Not for users.
//
// Each number has a slot, its number modulo the ring. Two come there: the item with that number,
// and the turn. The thread that leaves the stage with the number before brings the turn. The second
// to come goes on with both: an item that finds its turn enters, a turn that finds its item takes
// it along.
//
//   PL-1  The turn is in one place: in one slot, or with the thread that is in the stage.
//   PL-2  The ring has at least as many slots as there are tokens, so in a slot only one item and
//         its turn ever meet.
//
// Proof: docs/design/pipeline.md.
// Concurrency: any thread. Blocks: never. Allocates: the ring, when it is made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <handoff/config.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/internal/atomic.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// One of the places for an item. All that lies in it belongs to the thread that has the token.
struct PipelineToken {
  PipelineToken* next = nullptr;  // in the list of free ones, or of those that are ready
  std::uint64_t item = 0;  // the item's number
  std::uint64_t ticket = 0;  // at the stage where it is, if that is serial in any order
  std::uint32_t stage = 0;  // where it goes on
  bool is_inside = false;  // it has the turn of that stage
  bool is_there = false;  // whether there is still an item
};

class PipelineDoor {
 public:
  PipelineDoor() noexcept = default;
  // `ring`: a power of two. Before any other thread knows of it.
  void open(std::size_t ring) {
    slots_ = std::make_unique<Slot[]>(ring);
    mask_ = ring - 1;
    slots_[0].token.store(&turn_, sync::order::relaxed);  // order: relaxed, as said above
  }

  // The number of one that comes to a stage which takes them in any order.
  std::uint64_t draw() noexcept {
    // order: acq_rel, each pairs with the next: what was done before a number was drawn happens
    // before the slot is used again.
    return tickets_.fetch_add(1, sync::order::acq_rel);
  }

  // True: the turn is the caller's. False: the token is no longer.
  bool arrive(PipelineToken& token, std::uint64_t number) noexcept {
    using sync::order;
    Place& slot = place(number);
    // order: acquire pairs with the release in leave(): what was done in the stage before. Nobody
    // but this item takes the turn from here, so a load is enough.
    if (slot.load(order::acquire) != &turn_) {
      // order: release pairs with the acquire in leave(), the token; acquire as above.
      if (slot.exchange(&token, order::acq_rel) != &turn_) return false;
    }
    slot.store(nullptr, order::relaxed);  // order: relaxed, before the release in leave()
    return true;
  }

  // The turn goes on: to the token that is returned, whose turn is the caller's; null: to its slot.
  PipelineToken* leave(std::uint64_t number) noexcept {
    using sync::order;
    Place& slot = place(number + 1);
    // order: acquire pairs with the release in arrive(): the token.
    PipelineToken* next = slot.load(order::acquire);
    // order: release pairs with the acquire in arrive(), what was done in the stage; acquire as
    // above.
    if (next == nullptr) next = slot.exchange(&turn_, order::acq_rel);
    if (next != nullptr) slot.store(nullptr, order::relaxed);  // order: relaxed, as in arrive()
    return next;
  }

 private:
  using Place = sync::atomic<PipelineToken*>;
  struct Slot {
    Place token{nullptr};
  };

  Place& place(std::uint64_t number) noexcept {
    return slots_[static_cast<std::size_t>(number) & mask_].token;
  }

  std::unique_ptr<Slot[]> slots_;
  std::size_t mask_ = 0;
  PipelineToken turn_;  // its address stands for the turn
  alignas(sync::destructive_span) sync::atomic<std::uint64_t> tickets_{0};
};

}}}  // namespace handoff::HANDOFF_ABI::detail
