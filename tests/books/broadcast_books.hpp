// SPDX-License-Identifier: MIT
//
// The books of Broadcast, Latest and LatestByKey.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <handoff/bus/broadcast.hpp>
#include <handoff/bus/detail/broadcast_readers.hpp>
#include <handoff/bus/detail/parked.hpp>
#include <handoff/bus/latest.hpp>
#include <handoff/bus/latest_by_key.hpp>

#include "books/books.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// Nobody sleeps.
template <>
struct Books<Parked> {
  static std::string fault(const Parked& parked) {
    if (parked.sleepers_.anybody()) return "Parked: somebody is counted as asleep";
    if (parked.events_.was_waiting() != 0) return "Parked: somebody is counted as waiting";
    return {};
  }
};

// Records that nobody uses say so; nobody is in a copy; followers are those whose `before` names
// the record.
template <>
struct Books<BroadcastReaders> {
  static std::string fault(const BroadcastReaders& readers) {
    for (const BroadcastReader* reader = test::now(readers.first_); reader != nullptr;
         reader = reader->following) {
      const BroadcastTicket position = test::now(reader->position);
      const bool left = (position & BroadcastReader::kLeft) != 0;
      const std::uint32_t followers = followers_of(readers, *reader);
      if ((position & BroadcastReader::kBusy) != 0) return "BroadcastReaders: a mark was forgotten";
      if (test::now(reader->followers) != followers) {
        return "BroadcastReaders: followers that are not there";
      }
      if (reader->uses.read() != followers + (left ? 0 : 1)) {
        return "BroadcastReaders: uses that are not there";
      }
    }
    return {};
  }

  static std::uint32_t followers_of(const BroadcastReaders& readers, const BroadcastReader& whose) {
    std::uint32_t count = 0;
    for (const BroadcastReader* reader = test::now(readers.first_); reader != nullptr;
         reader = reader->following) {
      for (std::size_t i = 0; i < reader->before_count; ++i) count += reader->before[i] == &whose;
    }
    return count;
  }
};

// All positions lie within a lap of the tail, and each claim is published or was given up.
template <class T, class Policies>
struct Books<Broadcast<T, Policies>> {
  using TheBroadcast = Broadcast<T, Policies>;

  static std::string fault(const TheBroadcast& broadcast) {
    const BroadcastTicket tail = TheBroadcast::ticket_of(broadcast.tail());
    const std::uint64_t capacity = broadcast.capacity();
    const auto behind = [&](BroadcastTicket ticket) {
      return static_cast<std::uint64_t>(messages_between(ticket, tail));
    };
    // Of many producers, one that slept may have put an older gate over another's: any one behind.
    const std::uint64_t most = TheBroadcast::kMany ? std::uint64_t{1} << 60 : capacity;
    if (behind(broadcast.gate()) > most) return "Broadcast: the gate is not behind the tail";
    for (const BroadcastReader* reader = test::now(broadcast.readers_.first_); reader != nullptr;
         reader = reader->following) {
      const BroadcastTicket position = test::now(reader->position);
      if ((position & BroadcastReader::kLeft) == 0 && behind(position) > capacity) {
        return "Broadcast: a consumer is not behind the tail";
      }
    }
    if constexpr (TheBroadcast::kMany) {
      for (std::uint64_t i = 1; i <= capacity; ++i) {
        if (broadcast.places_.distance(tail - kBroadcastStep * i) != 0) {
          return "Broadcast: a claim was forgotten";
        }
      }
    }
    if (auto fault = Books<BroadcastReaders>::fault(broadcast.readers_); !fault.empty()) {
      return fault;
    }
    if (auto fault = Books<Parked>::fault(broadcast.consumers_); !fault.empty()) return fault;
    return Books<Parked>::fault(broadcast.producers_);
  }
};

// All slots but the current one are free, and ready to be used.
template <class T>
struct Books<Latest<T>> {
  using TheLatest = Latest<T>;

  static std::string fault(const TheLatest& latest) {
    const std::size_t current = TheLatest::index_of(test::now(latest.current_));
    std::uint64_t free = ~std::uint64_t{0} >> (64 - latest.slots_.capacity());
    std::uint64_t newest = latest.start_;
    if (current != TheLatest::kNone) {
      free &= ~(std::uint64_t{1} << current);
      newest = latest.slots_[current].kept.read().version;
    }
    if (test::now(latest.free_) != free) return "Latest: a slot was forgotten, or is free twice";
    if (test::now(latest.newest_) != newest) return "Latest: another version is told";
    for (std::size_t i = 0; i < latest.slots_.capacity(); ++i) {
      if (i == current) continue;
      if (test::now(latest.slots_[i].left) != 0) return "Latest: somebody is in a free slot";
      if (test::now(latest.slots_[i].was_read)) return "Latest: a free slot was read";
    }
    return Books<Parked>::fault(latest.readers_);
  }
};

// The table leads to each entry that waits, and to nothing else.
template <class Key, class T, class Hash>
struct Books<LatestByKey<Key, T, Hash>> {
  static std::string fault(const LatestByKey<Key, T, Hash>& queue) {
    const std::uint64_t size = queue.tail_ - queue.head_;
    if (size > queue.capacity()) return "LatestByKey: more entries than places";
    std::uint64_t links = 0;
    for (std::size_t i = 0; i < queue.table_.capacity(); ++i) {
      links += queue.table_[i].entry != 0;
    }
    if (links != size) return "LatestByKey: not as many links as entries";
    for (std::uint64_t position = queue.head_; position != queue.tail_; ++position) {
      const auto& entry = queue.entries_[position];
      const std::size_t place = queue.find(entry.key.read(), entry.hash);
      if (queue.table_[place].entry != queue.number_of(position)) {
        return "LatestByKey: the table does not lead to an entry";
      }
    }
    if (auto fault = Books<Parked>::fault(queue.consumers_); !fault.empty()) return fault;
    return Books<Parked>::fault(queue.producers_);
  }
};

}}}  // namespace handoff::HANDOFF_ABI::detail
