// SPDX-License-Identifier: MIT
//
// The books of event/.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <handoff/event/callback_list.hpp>
#include <handoff/event/detail/arrivals.hpp>
#include <handoff/event/detail/event_chunks.hpp>
#include <handoff/event/detail/event_store.hpp>
#include <handoff/event/event_queue.hpp>
#include <handoff/event/internal/listeners.hpp>
#include <handoff/memory/internal/epochs.hpp>
#include <handoff/memory/internal/thread_id.hpp>

#include "books/books.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// The current array and its leaves hold the attached listeners, in order, each where it knows.
// Nobody is in a pass.
template <>
struct Books<ListenerList> {
  using Array = ListenerList::Array;

  static std::string fault(const ListenerList& list) {
    Array* const array = list.current();
    const std::size_t alive = list.size();
    if (test::now(list.references_) < 1 + alive) return "ListenerList: too few references";
    if (array == nullptr) return alive == 0 ? "" : "ListenerList: listeners and no array";
    std::size_t in_leaves = 0;
    std::size_t found = 0;
    const Listener* previous = nullptr;
    for (std::size_t i = 0; i < array->leaf_count_; ++i) {
      Array& leaf = *test::now(array->leaves()[i]);
      if (leaf.leaf_count_ != 0) return "ListenerList: a leaf that has leaves";
      if (leaf.size() == 0) return "ListenerList: a leaf without entries";
      in_leaves += leaf.size();
      if (const char* wrong = fault_in(list, leaf, previous, found)) return wrong;
    }
    if (in_leaves != array->in_leaves_) return "ListenerList: the count of the leaves' entries";
    if (const char* wrong = fault_in(list, *array, previous, found)) return wrong;
    return found == alive ? "" : "ListenerList: the count of those that are attached";
  }

 private:
  // `previous` and `found`: in the parts before.
  static const char* fault_in(const ListenerList& list, Array& part, const Listener*& previous,
                              std::size_t& found) {
    if (part.size() > part.capacity_) return "ListenerList: more entries than there is room";
    for (std::size_t i = 0; i < part.size(); ++i) {
      const Listener* const listener = test::now(part.begin()[i]);
      if (listener == nullptr) continue;
      if (!listener->attached()) return "ListenerList: a listener that was removed has an entry";
      if (listener->list_ != &list) return "ListenerList: a listener of another list";
      if (listener->place_.read() != &part.begin()[i]) {
        return "ListenerList: a listener does not know its place";
      }
      if (previous != nullptr && previous->priority_ < listener->priority_) {
        return "ListenerList: a lower priority comes first";
      }
      if (listener->priority_ < list.lowest_) return "ListenerList: the lowest priority";
      if (listener->priority_ > list.highest_) return "ListenerList: the highest priority";
      previous = listener;
      ++found;
    }
    return nullptr;
  }
};
template <class Signature, class Policies>
struct Books<CallbackList<Signature, Policies>> {
  static std::string fault(const CallbackList<Signature, Policies>& list) {
    return Books<ListenerList>::fault(*list.list_);
  }
};

// Of all threads: none is in a pass or waits for one, and nothing hangs on one.
template <>
struct Books<PassRecord> {
  static std::string fault() {
    const PassRecord* record = &PassRecord::mine();
    while (record->previous_ != nullptr) record = record->previous_;
    for (; record != nullptr; record = record->next_) {
      if (record->depth_ != 0) return "PassRecord: a pass has not ended";
      if (record->awaited_ != nullptr) return "PassRecord: a thread waits for passes";
      for (const PassSlot& slot : record->slots_) {
        if (test::now(slot.epoch) != 0) return "PassRecord: a pass has not ended";
        if (slot.own != nullptr || slot.pending != nullptr) {
          return "PassRecord: something waits to be freed";
        }
      }
      if (record->next_ != nullptr && record->next_->previous_ != record) {
        return "PassRecord: the records are not linked both ways";
      }
    }
    return {};
  }
};

// How many threads have a number; each has its own place.
template <>
struct Books<LoneThread> {
  static std::size_t living() {
    return static_cast<std::size_t>(
        std::count_if(LoneThread::living_.begin(), LoneThread::living_.end(),
                      [](const auto& each) { return test::now(each.number) != 0; }));
  }
  static std::string fault() {
    for (std::size_t i = 0; i < LoneThread::kMost; ++i) {
      const std::uint64_t number = test::now(LoneThread::living_[i].number);
      if (number != 0 && number % LoneThread::kMost != i) {
        return "LoneThread: a thread is not in its number's place";
      }
    }
    return {};
  }
};

// The chunks lead from the head to the tail. All that was claimed is ready. `held` are the places
// that were taken and not given back.
template <class Slot>
struct Books<EventChunks<Slot>> {
  using Chunks = EventChunks<Slot>;
  using Chunk = typename Chunks::Chunk;
  using ChunkPlace = typename Chunks::ChunkPlace;

  static ChunkPlace head(const Chunks& chunks) { return chunks.head_; }

  // Places that can be claimed before the next chunk is begun.
  static std::size_t places_left(const Chunks& chunks) {
    return Chunks::kPlaces -
           std::min<std::size_t>(Chunks::offset_of(chunks.newest()), Chunks::kPlaces);
  }

  static std::string fault(const Chunks& chunks, const std::vector<ChunkPlace>& held) {
    const Chunk* const last = Chunks::chunk_of(chunks.newest());
    const std::uint64_t end = chunks.end_index();
    const ChunkPlace head = chunks.head_;
    if (head.offset > Chunks::kPlaces) return "EventChunks: the head is behind its chunk";
    if (head.index() > end) return "EventChunks: the head is behind the tail";
    std::uint64_t index = head.chunk->first_index.read();
    for (Chunk* chunk = head.chunk;; chunk = test::now(chunk->next)) {
      if (chunk == nullptr) return "EventChunks: the head does not lead to the tail";
      if (chunk->first_index.read() != index) return "EventChunks: a chunk's number";
      const std::uint32_t life = chunk->life.read();
      if (life == 0 || life % Chunks::kLife != 0) return "EventChunks: a chunk's life";
      const std::uint32_t taken = chunk == head.chunk ? head.offset : 0;
      if (chunk->done + count_in(*chunk, held) != taken) {
        return "EventChunks: places that were taken and neither held nor given back";
      }
      for (std::uint32_t i = taken; i < Chunks::kPlaces && index + i < end; ++i) {
        if (!Chunks::ready({chunk, i})) return "EventChunks: a place that is never filled";
      }
      if (chunk == last) break;
      index += Chunks::kPlaces;
    }
    for (const ChunkPlace& place : held) {
      if (place.chunk->first_index.read() >= head.chunk->first_index.read()) continue;
      if (place.chunk->done + count_in(*place.chunk, held) != Chunks::kPlaces + 1) {
        return "EventChunks: places of an older chunk that are neither held nor given back";
      }
    }
    return lone_fault(chunks);
  }

 private:
  static std::uint32_t count_in(const Chunk& chunk, const std::vector<ChunkPlace>& held) {
    return static_cast<std::uint32_t>(std::count_if(
        held.begin(), held.end(), [&](const ChunkPlace& place) { return place.chunk == &chunk; }));
  }
  static std::string lone_fault(const Chunks& chunks) {
    if (chunks.needed_.read() < Chunks::kNeeded || chunks.needed_.read() > Chunks::kMostNeeded) {
      return "EventChunks: how long a lone producer has to wait";
    }
    const LoneProducer* const lone = test::now(chunks.lone_);
    const std::uintptr_t tail = test::now(chunks.tail_);
    if (Chunks::is_end(tail)) {
      return lone == nullptr ? "" : "EventChunks: a lone producer of a row that is closed";
    }
    const bool says_lone = tail < chunks.lones_.size() * kChunkBytes;
    if (says_lone != (lone != nullptr)) return "EventChunks: the tail of a lone producer";
    if (lone == nullptr) return {};
    if (lone != &chunks.lones_[tail / kChunkBytes]) return "EventChunks: another lone producer";
    return {};
  }
};

// What is counted as pending lies there, each place once; sessions have given back all they had.
template <class Key, class Policies, class... Args>
struct Books<EventStore<Key, Policies, Args...>> {
  using Store = EventStore<Key, Policies, Args...>;
  using Chunks = typename Store::Chunks;
  using ChunkPlace = typename Store::ChunkPlace;
  using Waiting = typename Store::Waiting;

  // `capacity`: 0 where it is not known, or there is none.
  static std::string fault(Store& store, std::size_t capacity = 0) {
    if (store.claimed_ != 0) return "EventStore: a session has not given back its places";
    struct Heap : Store::Backlog {  // whose container is protected
      explicit Heap(const typename Store::Backlog& backlog) : Store::Backlog(backlog) {}
      const std::vector<Waiting>& entries() const { return this->c; }
    };
    const Heap heap(store.backlog_);
    const std::vector<Waiting>& entries = heap.entries();
    if (!std::is_heap(entries.begin(), entries.end())) return "EventStore: the heap's order";
    std::vector<ChunkPlace> held;
    std::size_t gone = 0;
    std::uint64_t pending = 0;
    for (const Waiting& waiting : entries) {
      const std::uint32_t state = Store::state_of(waiting.place);
      const bool ready = state == waiting.place.stamp(Chunks::kReady);
      if (!ready && state != waiting.place.stamp(Chunks::kGone)) {
        return "EventStore: a place's state";
      }
      if (ready && waiting.priority != waiting.place.slot().priority()) {
        return "EventStore: a place's priority";
      }
      pending += ready ? 1 : 0;
      gone += ready ? 0 : 1;
      held.push_back(waiting.place);
    }
    if (store.gone_ != gone) return "EventStore: the count of what was replaced";
    if (has_twice(held)) return "EventStore: a place waits twice";
    if (!knows_its_keys(store, entries)) return "EventStore: what it knows of a key";
    if (std::string fault = Books<Chunks>::fault(store.chunks_, held); !fault.empty()) return fault;
    std::uint64_t in_row = 0;
    const std::uint64_t events_in_row = waiting_in_row(store.chunks_, in_row);
    pending += events_in_row;
    if (store.tally().pending != pending) {
      return "EventStore: pending is not what lies there";
    }
    if (capacity != 0 && Store::kBounded &&
        test::now(store.room_.left_) + static_cast<std::int64_t>(held.size() - gone + in_row) !=
            static_cast<std::int64_t>(capacity)) {
      return "EventStore: a place's room is lost";
    }
    if (store.room_.given_.was_waiting() != 0) return "EventStore: somebody waits for room";
    return {};
  }

  // That are claimed and not given back.
  static std::size_t places(const Store& store) {
    std::uint64_t in_row = 0;
    (void)waiting_in_row(store.chunks_, in_row);
    return static_cast<std::size_t>(store.backlog_.size() + in_row);
  }

 private:
  static bool has_twice(const std::vector<ChunkPlace>& held) {
    std::vector<std::uint64_t> indices;
    for (const ChunkPlace& place : held) indices.push_back(place.index());
    std::sort(indices.begin(), indices.end());
    return std::adjacent_find(indices.begin(), indices.end()) != indices.end();
  }

  // Where events are coalesced: a key is known as long as an event of it is in the heap, and by as
  // many as there are; the newest of those that wait for the first time is named.
  static bool knows_its_keys(const Store& store, const std::vector<Waiting>& entries) {
    if constexpr (Store::kCoalesces) {
      std::size_t users = 0;
      for (const auto& known : store.latest_) {
        const auto is_of_it = [&known](const Waiting& waiting) {
          return Store::state_of(waiting.place) == waiting.place.stamp(Chunks::kReady) &&
                 waiting.entry == &known;
        };
        users += known.second.users;
        if (known.second.users == 0) return false;
        if (std::count_if(entries.begin(), entries.end(), is_of_it) != known.second.users) {
          return false;
        }
        if (known.second.waits &&
            std::none_of(entries.begin(), entries.end(), [&](const Waiting& waiting) {
              return is_of_it(waiting) && waiting.place.index() == known.second.place.index();
            })) {
          return false;
        }
      }
      return static_cast<std::size_t>(
                 std::count_if(entries.begin(), entries.end(), [](const Waiting& waiting) {
                   return Store::state_of(waiting.place) == waiting.place.stamp(Chunks::kReady);
                 })) == users;
    }
    return true;
  }

  // Events that nobody has taken. `places`: with those that could not be made.
  static std::uint64_t waiting_in_row(const Chunks& chunks, std::uint64_t& places) {
    std::uint64_t events = 0;
    ChunkPlace at = Books<Chunks>::head(chunks);
    for (std::uint64_t left = chunks.end_index() - at.index(); left != 0; --left, ++at.offset) {
      if (at.offset == Chunks::kPlaces) at = {test::now(at.chunk->next), 0};
      ++places;
      if (Store::state_of(at) == at.stamp(Chunks::kReady)) ++events;
    }
    return events;
  }
};

// Nobody waits or holds back notifications.
template <>
struct Books<Arrivals> {
  static std::string fault(const Arrivals& arrivals) {
    if (test::now(arrivals.sleepers_.count_) != 0) return "Arrivals: somebody is counted as asleep";
    const std::uint64_t holds = test::now(arrivals.holds_);
    if (holds % Arrivals::kOneWaits != 0) return "Arrivals: notifications are held back";
    if (holds != 0) return "Arrivals: somebody is counted for room";
    if (arrivals.events_.was_waiting() != 0) return "Arrivals: somebody waits";
    return {};
  }
};

template <class Key, class Signature, class Policies>
struct Books<EventQueue<Key, Signature, Policies>> {
  using Queue = EventQueue<Key, Signature, Policies>;

  static std::size_t places(const Queue& queue) {
    return Books<typename Queue::Store>::places(*queue.store_);
  }

  static std::size_t places_left(const Queue& queue) {
    return Books<typename Queue::Store::Chunks>::places_left(queue.store_->chunks_);
  }

  // Whether one producer goes on without atomic operations.
  static bool has_lone_producer(const Queue& queue) {
    return test::now(queue.store_->chunks_.lone_) != nullptr;
  }

  static std::string fault(const Queue& queue, std::size_t capacity = 0) {
    std::string fault = Books<Arrivals>::fault(queue.arrivals());
    if (!fault.empty()) return fault;
    queue.hub_->for_each([&fault](const Key&, const ListenerList& list) {
      if (fault.empty()) fault = Books<ListenerList>::fault(list);
    });
    if (!fault.empty()) return fault;
    return Books<typename Queue::Store>::fault(*queue.store_, capacity);
  }
};

}}}  // namespace handoff::HANDOFF_ABI::detail
