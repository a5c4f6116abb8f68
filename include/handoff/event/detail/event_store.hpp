// SPDX-License-Identifier: MIT
//
// The events of a queue and what consumers do with them: take some, give back what they refuse, and
// keep the books. What a queue is apart from its listeners.
//
// Events stay where they were made; consumers hand places around. Those that were given back, and
// all of a queue that has an order of its own, wait in a heap of places.
// Not for: users. Concurrency: push() by any thread; consumers meet under a lock that they hold for
// the taking only. docs/design/event_queue.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <queue>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <handoff/config.hpp>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/internal/raw_box.hpp>
#include <handoff/core/internal/take_one.hpp>
#include <handoff/core/on_full.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/core/until.hpp>
#include <handoff/event/detail/arrivals.hpp>
#include <handoff/event/detail/event_chunks.hpp>
#include <handoff/event/event_policies.hpp>
#include <handoff/event/queued_event.hpp>
#include <handoff/memory/internal/epochs.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/mutex.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// What takes no room. Two members of one type would have two addresses: each has a type of its own.
template <int Member>
struct Nothing {};

// A place for an event, and for what a queue's policies add to it. The key stands beside the state,
// apart from the rest: a small one shares eight bytes with it, and a million events through memory
// take the less time. EventChunks hands a place from one thread to the next.
template <class Key, class Policies, class... Args>
class EventSlot {
 public:
  using Event = QueuedEvent<Key, Args...>;
  using Arguments = std::tuple<std::decay_t<Args>...>;
  static constexpr bool kOrdered = requires(const Key& key, const std::decay_t<Args>&... args) {
    Policies::priority(key, args...);
  };
  static constexpr bool kExpires = expires<Policies>();

  sync::atomic<std::uint32_t> state{0};  // EventChunks'

  template <class K, class... A>
  void construct(sync::Deadline deadline, K&& key, A&&... args) {
    key_.construct(std::forward<K>(key));
    call_or([&] { rest_.construct(deadline, key_.read(), std::forward<A>(args)...); },
            [this] { key_.destroy(); });
  }
  void destroy() noexcept {
    rest_.destroy();
    key_.destroy();
  }

  // The event must be there for these.
  const Key& key() const noexcept { return key_.read(); }
  Arguments& arguments() noexcept { return rest_.write().arguments; }
  const Arguments& arguments() const noexcept { return rest_.read().arguments; }
  int priority() const noexcept {
    if constexpr (kOrdered) return rest_.read().priority;
    return 0;
  }
  bool is_late() const noexcept {
    if constexpr (kExpires) {
      const sync::Deadline deadline = rest_.read().deadline;
      return deadline != sync::no_deadline && deadline <= sync::clock::now();
    }
    return false;
  }
  void copy_to(std::optional<Event>& event) const {
    std::apply([&](const auto&... args) { event.emplace(std::in_place, key(), args...); },
               arguments());
  }
  void move_to(std::optional<Event>& event) {
    std::apply(
        [&](auto&... args) {
          event.emplace(std::in_place, std::move(key_.write()), std::move(args)...);
        },
        arguments());
  }

 private:
  struct Rest {
    template <class... A>
    explicit Rest([[maybe_unused]] sync::Deadline until, [[maybe_unused]] const Key& key,
                  A&&... args)
        : arguments(std::forward<A>(args)...) {
      if constexpr (kExpires) deadline = until;
      if constexpr (kOrdered) {
        priority = std::apply([&](const auto&... each) { return Policies::priority(key, each...); },
                              arguments);
      }
    }

    Arguments arguments;
    [[no_unique_address]] std::conditional_t<kExpires, sync::Deadline, Nothing<0>> deadline{};
    [[no_unique_address]] std::conditional_t<kOrdered, int, Nothing<1>> priority{};
  };

  sync::raw_cell<Key> key_;
  sync::raw_cell<Rest> rest_;
};

// How many events a bounded queue may still take, and what it does beyond. By any thread: what was
// done before a place was given comes before its taking.
class Room {
 public:
  Room(std::size_t capacity, OnFull on_full) noexcept
      : capacity_(capacity),
        on_full_(on_full),
        left_(static_cast<std::int64_t>(detail::min(capacity, std::size_t{PTRDIFF_MAX}))) {}

  std::size_t capacity() const noexcept { return capacity_; }
  OnFull on_full() const noexcept { return on_full_; }

  bool take() noexcept { return take_one(left_) != 0; }
  void give(std::uint32_t count) noexcept {
    left_.fetch_add(count, sync::order::release);  // order: release pairs with take_one()
    given_.notify_some(count);
  }
  // One more than there are, by a thread that is about to give it back.
  void overdraw() noexcept {
    left_.fetch_sub(1, sync::order::relaxed);  // order: relaxed, a number; nothing was freed
  }
  // Until `found()` is true, which may have taken; or why not.
  template <class Found>
  sync::Wakeup wait(const Found& found, const Until& until) {
    return given_.await(found, until.deadline(), until.stop_token(), sync::spin_policy(), "full");
  }
  // All waiting threads look again.
  void tell() noexcept { given_.notify_all(); }

 private:
  template <class>
  friend struct Books;

  const std::size_t capacity_;
  const OnFull on_full_;
  sync::atomic<std::int64_t> left_;
  sync::EventCount given_;
};

template <class Key, class Policies, class... Args>
class EventStore {
 public:
  using Slot = EventSlot<Key, Policies, Args...>;
  using Chunks = EventChunks<Slot>;
  using ChunkPlace = typename Chunks::ChunkPlace;
  class Session;

  static EventStore* make(std::size_t capacity, OnFull on_full) {
    return RawBox<EventStore>().make(capacity, on_full);
  }

  // The end for its user: sessions under way take no more, and the last of them destroys the rest.
  void end() noexcept {
    // order: relaxed: this thread's sessions see it, and there may be no others.
    phase_.store(Phase::ended, sync::order::relaxed);
    Garbage garbage;
    garbage.add(*this, retired_, {this, nullptr}, &free);
  }
  bool ended() const noexcept { return phase() == Phase::ended; }

  // No push() that begins after this is accepted; all waiting threads hear of it.
  void shut() noexcept {
    Phase open = Phase::open;
    // order: release pairs with the acquire in closed(): what came before the close. acquire, for a
    // thread that closes it once more.
    if (!phase_.compare_exchange_strong(open, Phase::closed, sync::order::acq_rel,
                                        sync::order::acquire)) {
      return;
    }
    chunks_.close();
    arrivals_.wake(Arrivals::kAll);
    room_.tell();
  }
  bool closed() const noexcept {
    return phase_.load(sync::order::acquire) != Phase::open;  // order: acquire pairs with shut()
  }

  // An unbounded store always has room here.
  Room& room() noexcept { return room_; }
  Arrivals& arrivals() noexcept { return arrivals_; }

  // The room for it has been taken. False, and all is as it was, where it is closed.
  template <class... With>
  bool push(With&&... with) {
    const ChunkPlace place = claim();
    if (place.chunk == nullptr) [[unlikely]]
      return false;
    {
      struct Told {  // also if it cannot be made: what is behind it is held back no more
        EventStore& store;
        ~Told() { store.tell_of_one(); }
      } told{*this};
      chunks_.fill(place, std::forward<With>(with)...);
    }
    // Once a chunk, so that what was replaced does not pile up before the next drain. If it fails
    // the drain comes to the same, and its caller hears of it.
    if constexpr (kCoalesces && !kBounded) {
      if (place.offset == 0) (void)attempt([this] { tidy(); });
    }
    return true;
  }

  // Where there is no room: whether there is some if what has been replaced gives back its own, or
  // what this key's event replaces will. Throws what gathering throws, and then has taken none.
  bool take_room_of(const Key& key)
    requires(coalesces<Policies>())
  {
    Telling telling{*this};
    const sync::Lock lock(mutex_);
    gather();
    telling.most = told_when_taken(phase(), false);
    if (room_.take()) return true;
    if (!waits(key)) return false;
    room_.overdraw();
    return true;
  }

  // Looks at the first place, not at the word that producers add to: each look at that would make
  // the next of them wait for it.
  bool any() noexcept {
    const sync::Lock lock(mutex_);
    return has_more();
  }
  // Whether it is closed, and there is nothing that may still be taken. What consumers have is not:
  // what they give back is for them to take again.
  bool over() noexcept {
    if (!closed()) return false;
    const sync::Lock lock(mutex_);
    return is_over();
  }

  Tally tally() noexcept {
    const sync::Lock lock(mutex_);
    Tally tally = totals_;
    tally.accepted = chunks_.end_index() - chunks_.voids();
    tally.pending = tally.accepted - tally.done - tally.failed - tally.cancelled - tally.expired;
    return tally;
  }

  void trim() {
    const sync::Lock lock(mutex_);
    // What is claimed may have to come back without an allocation.
    backlog_.trim(backlog_.size() + claimed_);
  }

 private:
  friend class RawBox<EventStore>;
  template <class>
  friend struct Books;

  static constexpr bool kCoalesces = coalesces<Policies>();
  static constexpr bool kGathers = Slot::kOrdered || kCoalesces;
  static constexpr bool kBounded = is_bounded<Policies>();

  // What is known of a key, where events are coalesced, as long as one of its events is in the heap
  // or in a session.
  struct Newest {
    Newest(const Key& its_key, const ChunkPlace& its_place) : key(its_key), place(its_place) {}

    const Key key;
    ChunkPlace place;  // of its newest event
    bool waits = true;  // for its first session; one that came back is not replaced
    std::uint32_t users = 1;  // its events that are in the heap or in sessions
  };
  // By the key's hash, which is asked for once: so only gathering runs code of the user's.
  using Latest = std::unordered_multimap<std::size_t, Newest>;
  using Entry = std::conditional_t<kCoalesces, typename Latest::value_type*, Nothing<1>>;

  // A place out of the heap; with its key's entry, unless its event has been destroyed there.
  struct Taken {
    ChunkPlace place;
    [[no_unique_address]] Entry entry{};
  };

  // In the heap. The first to come out: highest priority, then lowest index.
  struct Waiting : Taken {
    Waiting(const Taken& taken, int its_priority) noexcept : Taken(taken), priority(its_priority) {}

    int priority;

    friend bool operator<(const Waiting& a, const Waiting& b) noexcept {
      if (a.priority != b.priority) return a.priority < b.priority;
      return a.place.index() > b.place.index();
    }
  };

  enum class Phase : std::uint8_t { open, closed, ended };

  // Told once the lock is given back that is taken after this.
  struct Telling {
    EventStore& store;
    std::uint32_t most = 0;
    ~Telling() {
      if (most != 0) store.arrivals_.wake(most);
    }
  };

  static constexpr int kRaised = std::numeric_limits<int>::max();

  // A heap that gets its memory when it is told to, so that push() does not throw.
  struct Backlog : std::priority_queue<Waiting> {
    void reserve(std::size_t most) {
      auto& heap = this->c;
      if (most > heap.capacity()) heap.reserve(detail::max(most, 2 * heap.capacity()));
    }
    // Keeps room for `most`.
    void trim(std::size_t most) {
      std::vector<Waiting> smaller;
      smaller.reserve(most);
      smaller.assign(this->c.begin(), this->c.end());
      this->c.swap(smaller);
    }
    template <class Goes>
    void remove_if(const Goes& goes) noexcept {
      std::erase_if(this->c, goes);
      make_heap();
    }
    // Makes the first of those below `end` the one to come out, by a look at all.
    bool raise(std::uint64_t end) noexcept {
      auto first = this->c.end();
      for (auto at = this->c.begin(); at != this->c.end(); ++at) {
        if (at->place.index() < end && (first == this->c.end() || *first < *at)) first = at;
      }
      if (first == this->c.end()) return false;
      first->priority = kRaised;
      make_heap();
      return true;
    }

   private:
    // By the queue's constructor: <algorithm> is 14,000 lines.
    void make_heap() noexcept {
      std::priority_queue<Waiting>& all = *this;
      all = std::priority_queue<Waiting>({}, std::move(this->c));
    }
  };

  EventStore(std::size_t capacity, OnFull on_full) : room_(capacity, on_full) {}
  ~EventStore() {
    Session rest(*this, ~std::size_t{0});
    while (rest.next() != nullptr) rest.cancel();
  }

  static void free(void* object) noexcept {
    RawBox<EventStore>::destroy(static_cast<EventStore*>(object));
  }

  static std::uint32_t state_of(const ChunkPlace& place) noexcept {
    return place.slot().state.load(sync::order::relaxed);  // order: relaxed, taken under the lock
  }

  // By a producer whose event has room: it gives that back if there is no memory for the place.
  ChunkPlace claim() {
    if constexpr (!kBounded) return chunks_.claim();
    ChunkPlace place{};
    call_or([&] { place = chunks_.claim(); }, [this] { room_.give(1); });
    return place;
  }

  // By a producer whose event is there, or cannot be made.
  void tell_of_one() noexcept {
    arrivals_.tell();
    // A thread that waits for room with a newer event of this key need wait no more.
    if constexpr (kCoalesces && kBounded) {
      if (room_.on_full() == OnFull::wait) room_.tell();
    }
  }

  void tidy() {
    Telling telling{*this};
    const sync::Lock lock(mutex_);
    gather();
    telling.most = told_when_taken(phase(), false);
  }

  Phase phase() const noexcept {
    // order: relaxed, as in end(); a close that is not seen under the mutex wakes all itself.
    return phase_.load(sync::order::relaxed);
  }

  // Under the mutex from here on.

  bool has_more() noexcept { return !backlog_.empty() || chunks_.any_ready(); }
  bool is_over() const noexcept { return backlog_.empty() && chunks_.over(); }

  // How many sleepers must hear that this one has taken, and perhaps `wants_no_more`: the next one
  // of what it leaves, or all that there will be nothing.
  std::uint32_t told_when_taken(Phase phase, bool wants_no_more) noexcept {
    if (phase == Phase::ended) return 0;
    if (phase == Phase::closed && is_over()) return arrivals_.anybody_sleeps() ? Arrivals::kAll : 0;
    return wants_no_more ? told_of_rest() : 0;
  }
  // A sleeper is counted before its last look, which came before this one or finds the rest.
  std::uint32_t told_of_rest() noexcept {
    return arrivals_.anybody_sleeps() && !arrivals_.held() && has_more() ? 1 : 0;
  }

  // There is room: see reserve().
  void give_back(const Taken& taken) noexcept {
    if constexpr (kCoalesces) {
      if (taken.entry->second.waits) {  // a newer one, or it would not have been taken
        supersede(taken.place);
        discard(taken.place);
        let_go(taken.entry);
        return;
      }
    }
    backlog_.push({taken, taken.place.slot().priority()});
  }

  // An event of this entry's key has left heap and sessions.
  void let_go(Entry entry) noexcept {
    if constexpr (kCoalesces) {
      if (entry == nullptr || --entry->second.users != 0) return;
      auto at = latest_.equal_range(entry->first).first;
      while (std::addressof(*at) != entry) ++at;
      latest_.erase(at);
    }
  }

  // Destroys an event that a newer one replaces, which gives its room back; its place still waits
  // and is passed over.
  void supersede(const ChunkPlace& place) noexcept {
    place.slot().destroy();
    // order: relaxed, under the mutex
    place.slot().state.store(place.stamp(Chunks::kGone), sync::order::relaxed);
    ++totals_.cancelled;
    if constexpr (kBounded) room_.give(1);
  }

  void discard(const ChunkPlace& place) noexcept { Chunks::finish(*place.chunk, 1); }

  // Lets go of the places of what was replaced, once they are most of the heap.
  void compact() noexcept {
    if (gone_ <= backlog_.size() / 2) return;
    backlog_.remove_if([this](const Waiting& waiting) {
      if (state_of(waiting.place) == waiting.place.stamp(Chunks::kReady)) return false;
      discard(waiting.place);
      return true;
    });
    gone_ = 0;
  }

  // Whether an event of this key is in the heap that a newer one replaces.
  bool waits(const Key& key) const {
    const std::size_t hash = typename HashOf<Policies, Key>::type{}(key);
    auto [at, end] = latest_.equal_range(hash);
    while (at != end && !(at->second.key == key)) ++at;
    return at != end && at->second.waits;
  }

  // So that everything that is claimed can come back. May throw.
  void reserve(std::size_t more) { backlog_.reserve(backlog_.size() + claimed_ + more); }

  // Moves all that has arrived to the heap; where that ends. Throws what hashing, comparing and
  // copying a key throws, and std::bad_alloc: then what it had not come to is where it was.
  std::uint64_t gather() {
    const std::uint64_t end = chunks_.end_index();
    for (;;) {
      reserve(Chunks::kPlaces);
      const auto run = chunks_.take(Chunks::kPlaces, end);
      if (run.count == 0) break;
      struct Rest {
        Chunks& chunks;
        std::uint32_t count;
        ~Rest() { chunks.put_back(count); }
      } rest{chunks_, run.count};
      for (; rest.count != 0; --rest.count) {
        enter({run.first.chunk, run.first.offset + run.count - rest.count});
      }
    }
    compact();
    return end;
  }

  void enter(const ChunkPlace& place) {
    if (state_of(place) == place.stamp(Chunks::kVoid)) {
      if constexpr (kBounded) room_.give(1);
      return discard(place);
    }
    Taken taken{place};
    if constexpr (kCoalesces) taken.entry = entry_for(place);
    backlog_.push({taken, place.slot().priority()});
  }

  // The entry of the event's key; the event it named until now, if that still waits, is destroyed.
  Entry entry_for(const ChunkPlace& place) {
    const Key& key = place.slot().key();
    const std::size_t hash = typename HashOf<Policies, Key>::type{}(key);
    auto [at, end] = latest_.equal_range(hash);
    while (at != end && !(at->second.key == key)) ++at;
    if (at == end) {
      at = latest_.emplace(std::piecewise_construct, std::forward_as_tuple(hash),
                           std::forward_as_tuple(key, place));
      return std::addressof(*at);
    }
    Newest& newest = at->second;
    if (newest.waits) {
      supersede(newest.place);
      ++gone_;
    } else {
      ++newest.users;
    }
    newest.place = place;
    newest.waits = true;
    return std::addressof(*at);
  }

  // Whether one of those below `end` comes out next. Newer ones are there only if somebody gathered
  // meanwhile.
  bool comes_out(std::uint64_t end) noexcept {
    if (backlog_.empty()) return false;
    if (backlog_.top().place.index() < end) return true;
    if constexpr (!Slot::kOrdered) return false;
    return backlog_.raise(end);
  }

  Taken pop() noexcept {
    Taken taken = backlog_.top();
    backlog_.pop();
    if constexpr (kCoalesces) {
      if (state_of(taken.place) != taken.place.stamp(Chunks::kReady)) {
        taken.entry = nullptr;  // it went on to the event that replaced this one
        --gone_;
      } else if (Newest& newest = taken.entry->second;
                 newest.waits && newest.place.index() == taken.place.index()) {
        newest.waits = false;  // until here its place was in the heap, and there to be asked
      }
    }
    return taken;
  }

  Chunks chunks_;
  sync::Mutex mutex_;
  Backlog backlog_;
  std::size_t claimed_ = 0;  // places that sessions have
  std::size_t gone_ = 0;  // places in the heap whose events were replaced
  [[no_unique_address]] std::conditional_t<kCoalesces, Latest, Nothing<0>> latest_;
  Tally totals_;  // without accepted and pending
  Room room_;
  Retired retired_;
  // What producers read, and hardly anybody writes.
  alignas(sync::destructive_span) sync::atomic<Phase> phase_{Phase::open};
  Arrivals arrivals_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

#include <handoff/event/detail/event_session.hpp>  // NOLINT(misc-header-include-cycle): needs it
