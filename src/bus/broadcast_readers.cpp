// SPDX-License-Identifier: MIT
//
// Joining, leaving, and the walk over all consumers. The orders are explained in
// docs/design/broadcast.md.
#include <handoff/bus/detail/broadcast_readers.hpp>
#include <handoff/core/internal/raw_box.hpp>
#include <handoff/core/misuse.hpp>
#include <stdexcept>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

BroadcastReaders::~BroadcastReaders() {
  // order: relaxed, nobody else is left.
  BroadcastReader* reader = first_.load(sync::order::relaxed);
  while (reader != nullptr) {
    BroadcastReader* const following = reader->following;
    RawBox<BroadcastReader>::destroy(reader);
    reader = following;
  }
}

// One that nobody uses, else a new one, which is not in the list yet. With the mutex held.
BroadcastReader& BroadcastReaders::record() {
  // order: relaxed, written under the same mutex.
  BroadcastReader* const first = first_.load(sync::order::relaxed);
  for (BroadcastReader* reader = first; reader != nullptr; reader = reader->following) {
    if (reader->uses.read() == 0) return *reader;
  }
  BroadcastReader* const made = RawBox<BroadcastReader>().make();
  made->following = first;
  // order: release pairs with the acquires of first_ in the walks: a thread that sees the record
  // sees it whole, with the mark of one that left.
  first_.store(made, sync::order::release);
  return *made;
}

BroadcastReader& BroadcastReaders::join(BroadcastReader* const* before, std::size_t before_count,
                                        const sync::atomic<BroadcastTicket>& tail) {
  const sync::Lock lock(mutex_);
  BroadcastReader& reader = record();
  reader.uses.write() = 1;
  reader.lost = 0;
  reader.before_count = static_cast<std::uint8_t>(before_count);
  for (std::size_t i = 0; i < before_count; ++i) {
    reader.before[i] = before[i];  // equivalent(swap): under the mutex
    ++before[i]->uses.write();  // equivalent(swap): uses are asked under the mutex alone
    // order: relaxed, ordered by the heavy fence of a follower that is about to sleep.
    before[i]->followers.fetch_add(1, sync::order::relaxed);
  }
  // From here on no producer takes a place beyond this one's ring. The tail goes on meanwhile; what
  // a producer found out before it could see this consumer holds for positions up to the tail that
  // it saw, so the tail behind the fence is a place to begin with.
  // order: relaxed, a position that is too old only takes room away.
  BroadcastTicket here = tail.load(sync::order::relaxed) & ~BroadcastReader::kMarks;
  // order: release pairs with the acquires in the walks: what the record's consumer before this one
  // read, it read before.
  reader.position.store(here, sync::order::release);
  sync::asymmetric_fence_heavy();  // partner is the light half in slowest()
  // order: relaxed, ordered by the fence; it is only a number here.
  const BroadcastTicket begin = tail.load(sync::order::relaxed) & ~BroadcastReader::kMarks;
  // A producer that overwrites may have moved it up as well.
  while (messages_between(here, begin) > 0) {
    // order: relaxed, it goes on the release sequence of the store above.
    if (reader.position.compare_exchange_weak(here, begin, sync::order::relaxed,
                                              sync::order::relaxed)) {
      here = begin;
    }
  }
  reader.next = reader.seen = here;
  return reader;
}

void BroadcastReaders::leave(BroadcastReader& reader) noexcept {
  // order: relaxed, it goes on the release sequence of the position: what was read, was read
  // before.
  reader.position.fetch_or(BroadcastReader::kLeft, sync::order::relaxed);
  const sync::Lock lock(mutex_);
  for (std::size_t i = 0; i < reader.before_count; ++i) {
    // order: relaxed, as in join().
    // equivalent(swap) all: uses are asked under the mutex alone; under the mutex
    reader.before[i]->followers.fetch_sub(1, sync::order::relaxed);
    drop(*reader.before[i]);
  }
  reader.before_count = 0;
  drop(reader);
}

void BroadcastReaders::drop(BroadcastReader& reader) noexcept { --reader.uses.write(); }

BroadcastTicket BroadcastReaders::slowest(BroadcastTicket tail) const noexcept {
  sync::asymmetric_fence_light();  // partner is the heavy half in join()
  BroadcastTicket least = tail;
  // order: acquire pairs with the release in record().
  const BroadcastReader* reader = first_.load(sync::order::acquire);
  for (; reader != nullptr; reader = reader->following) {
    // order: acquire pairs with the releases of positions: what lies before it has been read.
    const BroadcastTicket position = reader->position.load(sync::order::acquire);
    if ((position & BroadcastReader::kLeft) != 0) continue;
    // equivalent(bound): the same position once more
    if (messages_between(least, position) < 0) least = position;
  }
  return least;
}

BroadcastTicket BroadcastReaders::slowest_moved_up(BroadcastTicket tail,
                                                   BroadcastTicket keep) noexcept {
  sync::asymmetric_fence_light();  // partner is the heavy half in join()
  BroadcastTicket least = tail;
  // order: acquire pairs with the release in record().
  BroadcastReader* reader = first_.load(sync::order::acquire);
  for (; reader != nullptr; reader = reader->following) {
    // order: acquire pairs with the releases of positions: what lies before it has been read.
    BroadcastTicket position = reader->position.load(sync::order::acquire);
    while ((position & BroadcastReader::kMarks) == 0 && messages_between(position, keep) > 0) {
      // order: relaxed where it is what was loaded, which only grows; acquire as above where it is
      // another. The consumer that finds itself moved up reads nothing of ours.
      if (reader->position.compare_exchange_weak(position, keep, sync::order::relaxed,
                                                 sync::order::acquire)) {
        position = keep;
      }
    }
    if ((position & BroadcastReader::kLeft) != 0) continue;
    position &= ~BroadcastReader::kMarks;
    // equivalent(bound): the same position once more
    if (messages_between(least, position) < 0) least = position;
  }
  return least;
}

bool BroadcastReaders::bound(const BroadcastReader& reader, BroadcastTicket& limit) noexcept {
  bool bounded = false;
  for (std::size_t i = 0; i < reader.before_count; ++i) {
    // order: acquire pairs with the releases of positions: what those before did with the messages
    // up to there is seen, and what they saw of the producers.
    const BroadcastTicket position = reader.before[i]->position.load(sync::order::acquire);
    if ((position & BroadcastReader::kLeft) != 0) continue;
    // equivalent(bound): the same position once more
    if (!bounded || messages_between(limit, position) < 0) limit = position;
    bounded = true;
  }
  return bounded;
}

BroadcastAfter::BroadcastAfter(std::initializer_list<Ref> members) {
  if (members.size() > BroadcastReader::kBeforeMost) {
    raise(
        std::length_error("a consumer comes after eight others at most: let one of those come "
                          "after the rest"));
  }
  for (const Ref& member : members) {
    owner_[count_] = member.member_->readers_;
    reader_[count_++] = member.member_->reader_;
  }
}

BroadcastReader* const* BroadcastAfter::of(const BroadcastReaders& readers) const {
  for (std::size_t i = 0; i < count_; ++i) {
    if (reader_[i] == nullptr || owner_[i] != &readers) {
      misuse(
          "a consumer comes after one that has left or is another broadcast's: name consumers "
          "of this broadcast");
    }
  }
  return reader_;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
