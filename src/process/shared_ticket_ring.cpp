// SPDX-License-Identifier: MIT
//
// A queue from many producers to one consumer: made, attached to, told of deaths; waits of its
// ends.
#include <handoff/core/misuse.hpp>
#include <handoff/process/detail/shared_ticket_ring.hpp>
#include <new>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

SharedTicketRing SharedTicketRing::create(std::span<std::byte> bytes,
                                          const SharedRingShape& shape) {
  SharedRingHead::begin(bytes, shape);
  auto* const fixed = ::new (static_cast<void*>(bytes.data() + kSharedRingStart)) Fixed(shape);
  for (std::size_t i = 0; i < shape.producers; ++i) ::new (fixed->first_slot() + i) Slot(kAbsent);
  std::byte* const places = bytes.data() + shape.offset();
  for (std::size_t i = 0; i < shape.capacity; ++i) {
    ::new (static_cast<void*>(places + i * shape.place_bytes)) SharedTickets::Word(0);
  }
  SharedRingHead::publish(bytes);
  return SharedTicketRing(*fixed, places, shape);
}

SharedTicketRing SharedTicketRing::attach(std::span<std::byte> bytes,
                                          const SharedRingShape& wanted) {
  const SharedRingShape shape = SharedRingHead::attached(bytes, wanted);
  auto& fixed = *std::launder(reinterpret_cast<Fixed*>(bytes.data() + kSharedRingStart));
  return SharedTicketRing(fixed, bytes.data() + shape.offset(), shape);
}

std::size_t SharedTicketRing::producer_died(std::size_t slot) noexcept {
  if (slot >= producers_) return 0;
  const std::size_t dropped = tickets_.bury(static_cast<std::uint32_t>(slot));
  // order: release pairs with the acquire in take_slot(): see there.
  slots_[slot].store(kAbsent, sync::order::release);
  return dropped;
}

void SharedTicketRing::consumer_died() noexcept {
  tickets_.close();
  recovered();
}

void SharedTicketRing::recovered() noexcept {
  tickets_.words().items.disturb();
  tickets_.words().room.disturb();
}

bool SharedTicketRing::take_slot(std::size_t slot) noexcept {
  std::uint32_t before = kAbsent;
  // order: acquire pairs with the release in producer_died(): the search for the dead one's claims
  // does not come upon this one's.
  return slot < producers_ && slots_[slot].compare_exchange_strong(
                                  before, kPresent, sync::order::acquire, sync::order::relaxed);
}

void SharedTicketRing::free_slot(std::size_t slot) noexcept {
  // order: relaxed, it has no claims any more.
  slots_[slot].store(kAbsent, sync::order::relaxed);
}

SharedTicketProducer::SharedTicketProducer(const SharedTicketRing& ring, std::size_t slot)
    : ring_(ring), slot_(static_cast<std::uint32_t>(slot)) {
  if (!ring_.take_slot(slot)) {
    refuse_ring("the producer's slot is taken or does not exist");
  }
}

SharedTicketProducer::~SharedTicketProducer() {
  drop();
  ring_.free_slot(slot_);
}

void SharedTicketProducer::drop() noexcept {
  if (claim_.count == 0) return;
  ring_.tickets().drop(claim_);
  claim_.count = 0;
}

Status SharedTicketProducer::wait_for_room(const Until& until) {
  Status status = Status::full;
  const Status waited = ring_.tickets().words().room.await(
      [&] { return (status = try_claim()) != Status::full; }, until, BellSleepers::many, patience_);
  return waited == Status::ok ? status : waited;
}

Status SharedTicketConsumer::wait_for_items(const Until& until) {
  Status status = Status::empty;
  const Status waited = tickets_.words().items.await(
      [&] { return (status = try_find()) != Status::empty; }, until, BellSleepers::one, patience_);
  return waited == Status::ok ? status : waited;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
