// SPDX-License-Identifier: MIT
//
// Claims of places in shared memory, and what becomes of a dead producer's.
#include <bit>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/process/detail/shared_tickets.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

// A claim that was overtaken so often is kept busy by something else than producers.
constexpr unsigned kMostTries = 1 << 14;

}  // namespace

SharedTickets::SharedTickets(SharedTicketWords& words, std::byte* places, std::size_t stride,
                             std::size_t capacity) noexcept
    : words_(&words),
      places_(places),
      stride_(stride),
      mask_(capacity - 1),
      shift_(static_cast<unsigned>(std::countr_zero(capacity))) {}

void SharedTickets::close() noexcept {
  words_->items.close();
  words_->room.disturb();
}

std::size_t SharedTickets::size() const noexcept {
  // order: relaxed, two numbers of about the same moment; clamped, since either may be older.
  const std::uint64_t head = words_->head.load(sync::order::relaxed);
  // order: relaxed, the same.
  const auto size = static_cast<std::int64_t>(words_->tail.load(sync::order::relaxed) - head);
  return size < 0 ? 0 : detail::min(static_cast<std::size_t>(size), capacity());
}

// --- A producer. ---

// Others may have claimed the places, or the consumer even have given them back.
void SharedTickets::pass(std::uint64_t position, std::uint64_t count) noexcept {
  // order: release pairs with the acquire in claim(): that the places were claimed is known to all
  // that come behind them. The failure needs none, `position` is not used.
  words_->tail.compare_exchange_strong(position, position + count, sync::order::release,
                                       sync::order::relaxed);
}

// How many places are free from one that is free on, as far as they can be in one claim.
std::uint64_t SharedTickets::free_from(std::uint64_t position, std::uint64_t most) const noexcept {
  const std::uint64_t limit = min(min(most, kMostInClaim), static_cast<std::uint64_t>(capacity()));
  std::uint64_t count = 1;
  while (count < limit && look(position + count) == word_of(position + count, kFree)) ++count;
  return count;
}

Status SharedTickets::claim(std::uint32_t producer, std::uint64_t most, SharedClaim& claim,
                            bool& damaged) noexcept {
  for (unsigned tries = 0; tries < kMostTries && !damaged; ++tries) {
    if (words_->items.closed()) return Status::closed;
    // order: acquire pairs with the release in pass(): all places before were claimed, so the word
    // below is never older than the claim of one lap before.
    const std::uint64_t position = words_->tail.load(sync::order::acquire);
    const std::uint64_t free = word_of(position, kFree);
    std::uint64_t seen = look(position);
    if (seen == free) {
      claim = {.position = position, .count = free_from(position, most)};
      const std::uint64_t mine = free | kClaimed | (std::uint64_t{producer} << kStateBits) |
                                 ((claim.count - 1) << kCountShift);
      // order: relaxed, the looks above have acquired this same word and those behind it.
      if (word(position).compare_exchange_strong(seen, mine, sync::order::relaxed,
                                                 sync::order::relaxed)) {
        pass(position, claim.count);
        return Status::ok;
      }
      continue;
    }
    const auto ahead = static_cast<std::int64_t>(lap_of(seen) - lap_of(free));
    if (ahead == 0 && state_of(seen) == kSealed) return Status::closed;
    if (ahead >= 0) {
      pass(position, state_of(seen) == kClaimed ? count_of(seen) : 1);
    } else if (ahead == -static_cast<std::int64_t>(kLapOne)) {
      return Status::full;  // one lap behind: not given back yet
    } else {
      break;
    }
  }
  damaged = true;
  return Status::closed;
}

// The words behind the first one of a claim: nobody looks at them before that one is handed on.
void SharedTickets::set_behind(const SharedClaim& claim, State state) noexcept {
  for (std::uint64_t i = claim.count; --i != 0;) {
    // order: relaxed, the first one's release makes it known.
    word(claim.position + i).store(word_of(claim.position + i, state), sync::order::relaxed);
  }
}

void SharedTickets::finish(const SharedClaim& claim, State state) noexcept {
  set_behind(claim, state);
  hand_on(claim.position, word_of(claim.position, state));
  words_->items.ring();
}

// --- The consumer. ---

std::uint64_t SharedTickets::first() const noexcept {
  // order: relaxed. A predecessor's death, or its end, is known by other means.
  std::uint64_t position = words_->head.load(sync::order::relaxed);
  // It may have given places back and not have said so here.
  for (std::size_t i = 0; i < capacity(); ++i, ++position) {
    if (lap_of(look(position)) != lap_of(word_of(position, kFree) + kLapOne)) break;
  }
  return position;
}

Status SharedTickets::find(std::uint64_t& position, bool& damaged) noexcept {
  for (unsigned tries = 0; tries < kMostTries && !damaged; ++tries) {
    const std::uint64_t free = word_of(position, kFree);
    std::uint64_t seen = look(position);
    if (lap_of(seen) != lap_of(free)) break;
    switch (state_of(seen)) {
      case kFull: return Status::ok;
      case kClaimed: return Status::empty;
      case kSealed: return Status::closed;
      case kDropped:
        give_back(position);
        tell_given_back(++position);
        continue;
      default: break;
    }
    if (seen != free) break;
    if (!words_->items.closed()) return Status::empty;
    // order: relaxed, the exchange decides which comes first, this end or a claim.
    if (word(position).compare_exchange_strong(seen, free | kSealed, sync::order::relaxed,
                                               sync::order::relaxed)) {
      return Status::closed;
    }
  }
  damaged = true;
  return Status::closed;
}

RingWatch SharedTickets::watch(std::uint64_t position) const noexcept {
  const Word& place = word(position);
  const std::uint64_t seen = look(position);
  const bool is_empty = lap_of(seen) == lap_of(word_of(position, kFree)) &&
                        (state_of(seen) == kFree || state_of(seen) == kClaimed);
  return {.doorbell = &words_->items, .word = &place, .seen = is_empty ? seen : ~seen};
}

void SharedTickets::give_back(std::uint64_t position) noexcept {
  hand_on(position, word_of(position, kFree) + kLapOne);
}

void SharedTickets::tell_given_back(std::uint64_t position) noexcept {
  // order: relaxed, for looks and for a successor, which knows by other means that this one ended.
  words_->head.store(position, sync::order::relaxed);
  words_->room.ring();
}

// --- The one that knows of deaths. ---

std::size_t SharedTickets::bury(std::uint32_t producer) noexcept {
  std::size_t dropped = 0;
  const std::uint64_t claimed = kClaimed | (std::uint64_t{producer} << kStateBits);
  for (std::size_t i = 0; i < capacity(); ++i) {
    // A claim of the dead one comes before its death, and that before this.
    std::uint64_t seen = look(i);
    if ((seen & kClaimMask) != claimed) continue;
    const std::uint64_t first = (seen >> kLapShift << shift_) + i;
    const std::uint64_t count = min(count_of(seen), static_cast<std::uint64_t>(capacity()));
    set_behind({.position = first, .count = count}, kDropped);  // over what it has done of finish()
    // order: release pairs with the acquire in look(): what the dead one wrote there is over.
    const bool mine = word(i).compare_exchange_strong(seen, lap_of(seen) | kDropped,
                                                      sync::order::release, sync::order::relaxed);
    dropped += mine ? static_cast<std::size_t>(count) : 0;
  }
  // It may have died before it woke anybody.
  words_->items.disturb();
  return dropped;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
