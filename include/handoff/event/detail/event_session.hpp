// SPDX-License-Identifier: MIT
//
// A consumer's session with the events of a queue: takes runs of them, gives back what it leaves,
// and tells others of that. Not for: users.
// Concurrency: of its thread alone; it takes the store's lock for each run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

#include <handoff/config.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/event/detail/event_store.hpp>  // NOLINT(misc-header-include-cycle): one needs it
#include <handoff/probe/internal/hook.hpp>
#include <handoff/sync/internal/prefetch.hpp>
#include <handoff/sync/mutex.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

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

  ChunkPlace place() const noexcept {
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
    if (store_.comes_out(end_)) {
      const Taken taken = store_.pop();
      run = {taken.place, 1};
      entry_ = taken.entry;
    } else if (gathers()) {
      return false;
    } else {
      run = store_.chunks_.take(most, end_);
      // Before the first taking nobody has asked where the row ends: that word is the producers'.
      // A session that wants one event need not know, whatever it passes over on the way.
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
    if (gathers()) {
      end_ = store_.gather();
      left_ = detail::min(left_, store_.backlog_.size() - store_.gone_);
    } else if (!store_.backlog_.empty()) {
      // What came back is taken first, and meanwhile listeners may enqueue.
      end_ = store_.chunks_.end_index();
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
  // Counts between settled_ and at_: refused; given back, but not done.
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
