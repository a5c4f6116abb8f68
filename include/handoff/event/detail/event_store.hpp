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

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <queue>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <handoff/config.hpp>
#include <handoff/core/detail/attempt.hpp>
#include <handoff/core/detail/books.hpp>
#include <handoff/core/detail/min_max.hpp>
#include <handoff/core/detail/raw_box.hpp>
#include <handoff/core/on_full.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/event/detail/arrivals.hpp>
#include <handoff/event/detail/event_chunks.hpp>
#include <handoff/event/detail/event_slot.hpp>
#include <handoff/event/detail/room.hpp>
#include <handoff/event/event_policies.hpp>
#include <handoff/memory/detail/epochs.hpp>
#include <handoff/probe/detail/hook.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/detail/atomic.hpp>
#include <handoff/sync/detail/prefetch.hpp>
#include <handoff/sync/mutex.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

template <class Key, class Policies, class... Args>
class EventStore {
 public:
  using Slot = EventSlot<Key, Policies, Args...>;
  using Chunks = EventChunks<Slot>;
  using Place = typename Chunks::Place;
  class Session;

  static EventStore* make(std::size_t capacity) { return RawBox<EventStore>().make(capacity); }

  // The end for its user: sessions under way take no more, and the last of them destroys the rest.
  void end() noexcept {
    // order: relaxed: this thread's sessions see it, and there may be no others.
    phase_.store(Phase::ended, sync::order::relaxed);
    Garbage garbage;
    garbage.add(*this, retired_, {this, nullptr}, &free);
  }
  bool ended() const noexcept { return phase() == Phase::ended; }

  // No push() that begins after this is accepted; all who wait hear of it.
  void close() noexcept {
    Phase open = Phase::open;
    // order: release pairs with the acquire in closed(): what came before the close. acquire, for
    // who closes it once more.
    if (!phase_.compare_exchange_strong(open, Phase::closed, sync::order::acq_rel,
                                        sync::order::acquire)) {
      return;
    }
    chunks_.close();
    arrivals_.wake(Arrivals::kAll);
    room_.tell();
  }
  bool closed() const noexcept {
    return phase_.load(sync::order::acquire) != Phase::open;  // order: acquire pairs with close()
  }

  // Where there is no capacity this always has room.
  Room& room() noexcept { return room_; }
  Arrivals& arrivals() noexcept { return arrivals_; }

  // The room for it has been taken. False, and all is as it was, where it is closed.
  template <class... With>
  bool push(With&&... with) {
    const Place place = claim();
    if (place.chunk == nullptr) [[unlikely]]
      return false;
    {
      struct Told {  // also if it cannot be made: what is behind it is held back no more
        Arrivals& arrivals;
        ~Told() { arrivals.tell(); }
      } told{arrivals_};
      chunks_.fill(place, std::forward<With>(with)...);
    }
    if constexpr (kCoalesces) pushed(place);
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
  // Whether it is closed, and nothing is there that may still be taken. What consumers have is not:
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
  static constexpr bool kBounded = on_full<Policies>() != OnFull::grow;

  // What is known of a key, where events are coalesced, as long as one of its events is in the heap
  // or in a session.
  struct Newest {
    Newest(const Key& its_key, const Place& its_place) : key(its_key), place(its_place) {}

    const Key key;
    Place place;  // of its newest event
    bool waits = true;  // for its first session; one that came back is not replaced
    std::uint32_t users = 1;  // its events that are in the heap or in sessions
  };
  // By the key's hash, which is asked for once: so only gathering runs code of the user's.
  using Latest = std::unordered_multimap<std::size_t, Newest>;
  using Entry = std::conditional_t<kCoalesces, typename Latest::value_type*, Nothing<1>>;

  // A place out of the heap; with its key's entry, unless its event has been destroyed there.
  struct Taken {
    Place place;
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

  // A heap that gets its memory when it is told to, so that push() does not throw.
  struct Backlog : std::priority_queue<Waiting> {
    void reserve(std::size_t most) {
      auto& heap = this->c;
      if (most > heap.capacity()) heap.reserve(detail::max(most, 2 * heap.capacity()));
    }
    // Keeps room for so many.
    void trim(std::size_t most) {
      std::vector<Waiting> smaller;
      smaller.reserve(most);
      smaller.assign(this->c.begin(), this->c.end());
      this->c.swap(smaller);
    }
    template <class Goes>
    void remove_if(const Goes& goes) noexcept {
      std::erase_if(this->c, goes);
      std::make_heap(this->c.begin(), this->c.end());
    }
  };

  explicit EventStore(std::size_t capacity) : room_(capacity) {}
  ~EventStore() {
    Session rest(*this, ~std::size_t{0});
    while (rest.next() != nullptr) rest.cancel();
  }

  static void free(void* object) noexcept {
    RawBox<EventStore>::destroy(static_cast<EventStore*>(object));
  }

  static std::uint32_t state_of(const Place& place) noexcept {
    return place.slot().state.load(sync::order::relaxed);  // order: relaxed, taken under the lock
  }

  // By a producer whose event has room: it gives that back if there is no memory for the place, or
  // no place any more.
  Place claim() {
    if constexpr (kBounded) {
      struct Guard {
        Room* room;
        ~Guard() {
          if (room != nullptr) room->give(1);
        }
      } guard{&room_};
      const Place place = chunks_.claim();
      if (place.chunk != nullptr) guard.room = nullptr;
      return place;
    } else {
      return chunks_.claim();
    }
  }

  // By the producer of a coalescing queue, whose event is there.
  void pushed([[maybe_unused]] const Place& place) {
    if constexpr (!kBounded) {
      // Once a chunk, so that what was replaced does not pile up before the next drain. If it fails
      // the drain comes to the same, and its caller hears of it.
      if (place.offset == 0) (void)attempt([this] { tidy(); }, []() noexcept {});
    } else if constexpr (on_full<Policies>() == OnFull::wait) {
      room_.tell();  // who waits with a newer event of this key need wait no more
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
  // Who sleeps is counted before its last look, which came before this one or finds the rest.
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
  void supersede(const Place& place) noexcept {
    place.slot().destroy();
    // order: relaxed, under the mutex
    place.slot().state.store(place.stamp(Chunks::kGone), sync::order::relaxed);
    ++totals_.cancelled;
    if constexpr (kBounded) room_.give(1);
  }

  void discard(const Place& place) noexcept { Chunks::finish(*place.chunk, 1); }

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

  // Moves all that has arrived to the heap. Throws what hashing, comparing and copying a key
  // throws, and std::bad_alloc: then what it had not come to is where it was.
  void gather() {
    const std::uint64_t end = chunks_.end_index();
    for (;;) {
      reserve(Chunks::kPlaces);
      const auto run = chunks_.take(Chunks::kPlaces, end);
      if (run.count == 0) return compact();
      struct Rest {
        Chunks& chunks;
        std::uint32_t count;
        ~Rest() { chunks.put_back(count); }
      } rest{chunks_, run.count};
      for (; rest.count != 0; --rest.count) {
        enter({run.first.chunk, run.first.offset + run.count - rest.count});
      }
    }
  }

  void enter(const Place& place) {
    if (state_of(place) == place.stamp(Chunks::kVoid)) {
      if constexpr (kBounded) room_.give(1);
      return discard(place);
    }
    Taken taken{place};
    if constexpr (kCoalesces) taken.entry = entry_for(place);
    backlog_.push({taken, place.slot().priority()});
  }

  // Of the event's key; the event it named until now, if that still waits, is destroyed.
  Entry entry_for(const Place& place) {
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

  Taken pop() noexcept {
    Taken taken = backlog_.top();
    backlog_.pop();
    if constexpr (kCoalesces) {
      if (state_of(taken.place) != taken.place.stamp(Chunks::kReady)) {
        taken.entry = nullptr;  // it went on to the event that replaced this one
        --gone_;
      } else if (taken.entry->second.place.index() == taken.place.index()) {
        taken.entry->second.waits = false;
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

// One consumer's turn: what was there when it began, one after the other. Whatever it has taken and
// not dropped goes back at its end, in its old place.
template <class Key, class Policies, class... Args>
class EventStore<Key, Policies, Args...>::Session {
 public:
  Session(EventStore& store, std::size_t most) noexcept : store_(store), left_(most) {}
  ~Session() {
    Telling telling{store_};
    const sync::Lock lock(store_.mutex_);
    settle();
    const bool leaves = at_ != run_end_ || !refused_.empty() || !begun_;
    for (; at_ != run_end_; ++at_) return_one({place(), entry_});
    for (const Taken& taken : refused_) return_one(taken);
    if (leaves && !store_.ended()) telling.most = store_.told_of_rest();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // The next event, or null. Before the next call it is dropped or refused.
  Slot* next() {
    while (at_ != run_end_ || refill()) {
      sync::prefetch_to_read(reinterpret_cast<const std::byte*>(at_) + ahead_);
      if (!at_->is_late()) [[likely]]
        return at_;
      expire();
      ++left_;
    }
    return nullptr;
  }

  // Each destroys the event and says what became of it.
  void done() noexcept {
    at_->destroy();
    ++at_;
  }
  void cancel() noexcept {
    probe::gone(probe::Kind::event, at_);
    drop(books_.cancelled);
  }
  void expire() noexcept {
    probe::gone(probe::Kind::event, at_);
    drop(books_.expired);
  }
  void failed(const std::exception_ptr& why) noexcept {
    if (books_.first_failure == nullptr) books_.first_failure = why;
    drop(books_.failed);
  }

  // Back to its place in the queue, at the end of this session.
  void refuse() {
    refused_.push_back({place(), entry_});
    ++kept_;
    ++at_;
  }

 private:
  void drop(std::uint64_t& where) noexcept {
    ++where;
    ++not_done_;
    done();
  }

  Place place() const noexcept {
    return {chunk_, static_cast<std::uint32_t>(at_ - &chunk_->slot(0))};
  }

  // Takes another run of events. False if there is nothing more that was there at the beginning.
  // What is passed over does not count.
  bool refill() {
    Telling telling{store_};
    const sync::Lock lock(store_.mutex_);
    const Phase phase = store_.phase();
    settle();
    if (!begun_) begin();
    const bool found = find_run(phase);
    telling.most = store_.told_when_taken(phase, left_ == 0);
    return found;
  }

  // Under the mutex.
  bool find_run(Phase phase) {
    while (take_run(phase)) {
      if (state_of(place()) == place().stamp(Chunks::kReady)) return true;
      ++not_done_;
      ++at_;
      ++left_;
      if constexpr (kCoalesces) roomless_ = 1;  // void ones do not come here
      settle();
    }
    return false;
  }

  bool take_run(Phase phase) {
    if (left_ == 0) return false;
    const auto most = static_cast<std::uint32_t>(detail::min<std::size_t>(left_, Chunks::kPlaces));
    if (phase != Phase::ended) store_.reserve(most);  // afterwards nothing comes back
    typename Chunks::Run run{};
    ahead_ = 0;
    if (!store_.backlog_.empty() && (gathers() || store_.backlog_.top().place.index() < end_)) {
      const Taken taken = store_.pop();
      run = {taken.place, 1};
      entry_ = taken.entry;
    } else if (gathers()) {
      return false;
    } else {
      run = store_.chunks_.take(most, end_);
      // Before the first taking nobody has asked where the row ends: that word is the producers'.
      // Who wants one event need not know, whatever it passes over on the way.
      if (end_ == kUnknown && left_ > 1) end_ = store_.chunks_.end_after_taking();
      if (end_ != kUnknown) ahead_ = Chunks::ahead(*run.first.chunk, end_);
    }
    if (run.count == 0) return false;
    chunk_ = run.first.chunk;
    settled_ = at_ = &run.first.slot();
    run_end_ = at_ + run.count;
    left_ -= run.count;
    store_.claimed_ += run.count;
    return true;
  }

  void begin() {
    // What came back is taken first, and meanwhile listeners may enqueue.
    if (!store_.backlog_.empty()) end_ = store_.chunks_.end_index();
    if (gathers()) {
      store_.gather();
      left_ = detail::min(left_, store_.backlog_.size() - store_.gone_);
    }
    begun_ = true;
  }

  // The last session of all destroys what is left, in any order.
  bool gathers() const noexcept { return kGathers && !store_.ended(); }

  // Enters into the books what was passed since the last time. Under the mutex.
  void settle() noexcept {
    const auto cleared =
        static_cast<std::uint32_t>(at_ - std::exchange(settled_, at_)) - std::exchange(kept_, 0);
    if (cleared == 0) return;
    Chunks::finish(*chunk_, cleared);
    store_.claimed_ -= cleared;
    Tally& totals = store_.totals_;
    totals.done += cleared - std::exchange(not_done_, 0);
    totals.cancelled += std::exchange(books_.cancelled, 0);
    totals.failed += std::exchange(books_.failed, 0);
    totals.expired += std::exchange(books_.expired, 0);
    if (totals.first_failure == nullptr) totals.first_failure = books_.first_failure;
    if constexpr (kBounded) store_.room_.give(cleared - std::exchange(roomless_, 0));
    if constexpr (kCoalesces) store_.let_go(std::exchange(entry_, nullptr));
  }

  void return_one(const Taken& taken) noexcept {
    --store_.claimed_;
    store_.give_back(taken);
  }

  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};

  EventStore& store_;
  // The run: places in a row, of one chunk.
  Slot* at_ = nullptr;
  Slot* run_end_ = nullptr;
  Slot* settled_ = nullptr;  // what is in front of it is in the books
  typename Chunks::Chunk* chunk_ = nullptr;
  std::ptrdiff_t ahead_ = 0;  // from its places to those of the next one, in bytes
  // Of what is between settled_ and at_: refused; given back, but not done.
  std::uint32_t kept_ = 0;
  std::uint32_t not_done_ = 0;
  std::uint32_t roomless_ = 0;  // given back, and its room before
  [[no_unique_address]] Entry entry_{};  // of the run, which has one place then
  bool begun_ = false;
  std::size_t left_;  // to take at most
  std::uint64_t end_ = kUnknown;  // what came later is not for this session
  Tally books_;  // without done
  std::vector<Taken> refused_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
