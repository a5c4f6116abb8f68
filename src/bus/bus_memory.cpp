// SPDX-License-Identifier: MIT
//
// Memory, capacity and admission of a bus.
#include <bit>
#include <handoff/bus/detail/bus_memory.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/queue/internal/ring_slots.hpp>
#include <handoff/sync/internal/allocate.hpp>
#include <limits>
#include <memory>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

BusMemory::BusMemory(std::size_t bytes, std::size_t alignment)
    : begin_(static_cast<std::byte*>(sync::allocate(bytes, alignment))),
      owned_(bytes),
      alignment_(alignment) {}

BusMemory::BusMemory(std::size_t bytes, std::size_t alignment, std::span<std::byte> lent)
    : begin_(nullptr), owned_(0), alignment_(alignment) {
  void* begin = lent.data();
  std::size_t room = lent.size();
  if (std::align(alignment, bytes, begin, room) == nullptr) {
    misuse("a message bus was lent too little memory; bytes_needed() says how much it takes");
  }
  begin_ = static_cast<std::byte*>(begin);
}

BusMemory::~BusMemory() {
  if (owned_ != 0) sync::deallocate(begin_, owned_, alignment_);
}

std::size_t places_for(std::size_t capacity, std::size_t rings, std::size_t bytes_each) {
  constexpr std::size_t memory{std::numeric_limits<std::ptrdiff_t>::max()};
  const std::size_t most = rings == 0 ? 0 : std::bit_floor(memory / bytes_each / rings);
  if (capacity == 0 || capacity > most) refuse_capacity(capacity, most);
  return std::bit_ceil(capacity);
}

AdmissionLimits limits_for(std::size_t capacity, const Reserve& reserve) {
  if (reserve.urgent > 100 || reserve.normal > 100 - reserve.urgent) {
    misuse("a message bus keeps 100 percent of its places at most: see its option reserve");
  }
  AdmissionLimits limits{};
  const auto limit = [&](handoff::Admission admission, unsigned percent) {
    const std::size_t places = capacity / 100 * percent + capacity % 100 * percent / 100;
    limits.most[index_of(admission)] = places == 0 ? 1 : static_cast<std::int64_t>(places);
  };
  const unsigned normal = 100 - reserve.urgent;
  limit(handoff::Admission::urgent, 100);  // equivalent(swap) all: members of one answer
  limit(handoff::Admission::normal, normal);
  limit(handoff::Admission::low, normal - reserve.normal);
  return limits;
}

bool waits_when_full(OnFull on_full) {
  if (on_full != OnFull::reject && on_full != OnFull::wait) {
    misuse("a full message bus rejects, or its producers wait: see its option on_full");
  }
  return on_full == OnFull::wait;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
