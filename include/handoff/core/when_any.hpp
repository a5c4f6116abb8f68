// SPDX-License-Identifier: MIT
//
// The first of several Futures.
//
//   auto first = when_any(ask(near), ask(far));         // both Future<Answer>
//   auto [index, answer] = first.get();
//
//   std::vector<Future<Answer>> all = ask_all();
//   use(when_any(std::move(all)).get().value);
//
// For: results of which one is enough; their Futures in a std::vector that is moved, or in any
// range, and moved from. Not for: all of them (when_all), queues (select).
//
// Contract: as Future::then().
// - The first that is ready wins, also if it has failed or was dropped: get() throws what its own
//   would have thrown. Put on_failure() behind a part that must not win so.
// - The others go on, and their results end unread, with the last of them; what they throw is
//   dropped. Until get(), or a function of then(), has the result, request_stop() asks them to
//   stop.
// - A task that waits for it runs parts that nobody has begun, in their order, until one is ready.
// - Allocates: twice, whatever their number; for a range, see when_all. Exceptions: no Future, or
//   an empty one, is misuse.
//
// How it works: docs/design/future.md.
#pragma once

#include <concepts>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include <handoff/config.hpp>
#include <handoff/core/future.hpp>
#include <handoff/core/internal/future_list.hpp>
#include <handoff/core/internal/future_state.hpp>
#include <handoff/core/internal/raw_box.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/sync/internal/atomic.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// Which one was the first, by its place, and its result.
template <class R>
struct FirstResult {
  std::size_t index;
  R value;
};
template <>
struct FirstResult<void> {
  std::size_t index;
};

namespace detail {

// Lives until the last part has arrived: each of them has its entry here as what comes next.
template <class R>
class Race final : public FutureResult<FirstResult<R>> {
 public:
  explicit Race(std::vector<Future<R>> futures)
      : FutureResult<FirstResult<R>>(nullptr), uses_(futures.size() + 2) {
    entries_.reserve(futures.size());
    for (Future<R>& future : futures) {
      entries_.push_back({this, FutureAccess::release_source(future)});
    }
  }

  // Once; ends the use that is counted for this call.
  void begin() noexcept {
    std::size_t begun = 0;
    while (begun < entries_.size() && winner() == kNone) {
      Entry& entry = entries_[begun++];
      FutureState& state = *entry.state;
      sync::given(&entry);
      state.continue_with({&arrive, &entry});
    }
    let_go(entries_.size() - begun + 1);
  }

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  struct Entry {
    Race* race;
    SourceOwner<R> state;
  };

  // order: relaxed, the winner's result comes by what is ready (follow()), or is this thread's.
  std::size_t winner() const noexcept { return winner_.load(sync::order::relaxed); }

  static FutureState::Next arrive(void* argument) noexcept {
    sync::taken(argument);
    auto& entry = *static_cast<Entry*>(argument);
    Race& race = *entry.race;
    std::size_t none = kNone;
    const auto index = static_cast<std::size_t>(&entry - race.entries_.data());
    // order: relaxed, as in winner(): what others do with it follows from follow().
    const bool is_first = race.winner_.compare_exchange_strong(none, index, sync::order::relaxed,
                                                               sync::order::relaxed);
    const FutureState::Next next = is_first ? race.follow() : FutureState::Next{};
    race.let_go(1);
    return next;
  }

  void let_go(std::size_t uses) noexcept {
    // order: acq_rel, the end comes after what all others did here.
    if (uses_.fetch_sub(uses, sync::order::acq_rel) == uses) RawBox<Race>::destroy(this);
  }

  Outcome compute() noexcept override {
    const sync::Turn turn(this);
    const std::size_t index = winner();
    FutureResult<R>& first = *entries_[index].state;
    if (this->take_failure_of(first)) return Outcome::elsewhere;
    (void)this->keep([&]() -> FirstResult<R> {
      if constexpr (std::is_void_v<R>) {
        return {index};
      } else {
        return {index, first.take()};
      }
    });
    return Outcome::elsewhere;
  }
  void destroy() noexcept override { let_go(1); }
  FutureState::Way* way() noexcept override { return &way_; }
  // Also when there is a winner. The entries stay as long as this, so nobody needs to hold it.
  bool ask_to_stop(FutureState::Asking& asking) noexcept override {
    for (const Entry& entry : entries_) FutureState::ask(*entry.state, asking);
    return false;
  }
  // None behind the winner: what waits has what it waits for.
  FutureState* source(std::size_t index) noexcept override {
    return index < entries_.size() && winner() == kNone ? entries_[index].state.get() : nullptr;
  }

  std::vector<Entry> entries_;
  sync::atomic<std::size_t> winner_{kNone};
  sync::atomic<std::size_t> uses_;  // by the parts that have not arrived, begin(), and the state
  FutureState::Way way_;
};

}  // namespace detail

// Ready when the first of them is.
template <detail::FutureRange Range>
[[nodiscard]] auto when_any(Range&& range) {
  using R = detail::ResultOf<Range>;
  std::vector<Future<R>> futures = detail::future_list(std::forward<Range>(range));
  if (futures.empty()) misuse("when_any: of no Futures none is the first");
  auto* const race = detail::RawBox<detail::Race<R>>().make(std::move(futures));
  auto first = detail::FutureAccess::make<FirstResult<R>>(race);
  race->begin();
  return first;
}

// The same of some, named one by one.
template <class R, std::same_as<Future<R>>... Others>
[[nodiscard]] Future<FirstResult<R>> when_any(Future<R> future, Others... others) {
  std::vector<Future<R>> futures;
  futures.reserve(1 + sizeof...(others));
  futures.push_back(std::move(future));
  (futures.push_back(std::move(others)), ...);
  return when_any(std::move(futures));
}

}}  // namespace handoff::HANDOFF_ABI
