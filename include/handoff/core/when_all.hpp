// SPDX-License-Identifier: MIT
//
// Several Futures as one.
//
//   auto both = when_all(pool.submit(load, path), pool.submit(ask, server));
//   auto [text, answer] = both.get();                // a std::tuple<Text, int>
//
//   auto parts = when_all(pages | std::views::transform([&](const Page& page) {
//     return pool.submit(count_words, std::cref(page));
//   }));
//   for (Future<int>& part : parts.get()) sum += part.get();
//
// For: parts of different types, whose results are wanted together (the first form); any number of
// parts of one type, each of which may fail for itself (the second): a std::vector that is moved,
// or any range whose Futures are to be moved from. Not for: tasks without results (TaskGroup),
// loops (parallel_for).
//
// Contract: as Future::then(). Allocates: once; twice for a range that is no std::vector, or as
// often as a vector grows if the range does not know its size.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <handoff/config.hpp>
#include <handoff/core/future.hpp>
#include <handoff/core/internal/future_list.hpp>
#include <handoff/core/internal/future_state.hpp>
#include <handoff/core/internal/raw_box.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {

// What one part gives to the result of all.
template <class R>
using PartResult = std::conditional_t<std::is_void_v<R>, std::monostate, R>;

// Futures of one type. They are themselves the result, so that none of them has failed for all.
template <class R>
class GatheredList {
 public:
  using Result = std::vector<Future<R>>;

  explicit GatheredList(std::vector<Future<R>> futures) : futures_(std::move(futures)) {}

  std::size_t size() const noexcept { return futures_.size(); }
  FutureState* source(std::size_t index) const noexcept {
    return index < size() ? &FutureAccess::state(futures_[index]) : nullptr;
  }
  // Once ready.
  const FutureState* first_failed() const noexcept { return nullptr; }
  Result result() noexcept { return std::move(futures_); }

 private:
  std::vector<Future<R>> futures_;
};

// Futures of any types. The result is theirs.
template <class... Rs>
class GatheredTuple {
 public:
  using Result = std::tuple<PartResult<Rs>...>;

  explicit GatheredTuple(Future<Rs>&... futures)
      : states_(FutureAccess::release_source(futures)...) {}

  std::size_t size() const noexcept { return sizeof...(Rs); }
  FutureState* source(std::size_t index) const noexcept {
    return first_that([index](const FutureState& /*state*/) mutable { return index-- == 0; });
  }
  const FutureState* first_failed() const noexcept {
    return first_that([](const FutureState& state) { return state.has_failed(); });
  }
  Result result() {
    return std::apply([](auto&... states) { return Result(result_of(*states)...); }, states_);
  }

 private:
  template <class Choose>
  FutureState* first_that(Choose choose) const noexcept {
    FutureState* found = nullptr;
    std::apply(
        [&](const auto&... states) {
          (void)((choose(*states) && (found = states.get()) != nullptr) || ...);
        },
        states_);
    return found;
  }

  template <class R>
  static decltype(auto) result_of(FutureResult<R>& state) {
    if constexpr (std::is_void_v<R>) {
      return std::monostate();
    } else {
      return state.result();
    }
  }

  std::tuple<SourceOwner<Rs>...> states_;
};

// Futures that are all ready. Each of them has this as what comes next.
template <class Parts>
class Gathering final : public FutureResult<typename Parts::Result> {
 public:
  template <class... Given>
  explicit Gathering(Given&&... given)
      : FutureResult<typename Parts::Result>(nullptr),
        parts_(Parts(std::forward<Given>(given)...)),
        missing_(parts_.read().size() + 1) {}

  void begin() noexcept {
    for (std::size_t i = 0; FutureState* const each = source(i); ++i) {
      each->continue_with({&Gathering::arrive, this});
    }
    // The one that was counted so that nobody could be the last one before now.
    this->call_each(arrive(this));
  }

 private:
  static FutureState::Next arrive(void* self) noexcept {
    sync::taken(self);
    auto& gathering = *static_cast<Gathering*>(self);
    // order: acq_rel, the last one sees what all others brought.
    if (gathering.missing_.fetch_sub(1, sync::order::acq_rel) != 1) return {};
    return gathering.follow();
  }

  Outcome compute() noexcept override {
    const sync::Turn turn(this);
    Parts parts = std::move(parts_.write());  // they end here, before anybody hears
    const FutureState* const failed = parts.first_failed();
    if (failed == nullptr || !this->take_failure_of(*failed)) {
      (void)this->keep([&parts] { return parts.result(); });
    }
    return Outcome::elsewhere;
  }
  void destroy() noexcept override { RawBox<Gathering>::destroy(this); }
  FutureState::Way* way() noexcept override { return &way_; }
  FutureState* source(std::size_t index) noexcept override {
    const sync::Turn turn(this);
    return parts_.read().source(index);
  }

  sync::cell<Parts> parts_;
  sync::atomic<std::size_t> missing_;
  FutureState::Way way_;
};

template <class Parts, class... Given>
Future<typename Parts::Result> gather(Given&&... given) {
  auto* const gathering = RawBox<Gathering<Parts>>().make(std::forward<Given>(given)...);
  auto future = FutureAccess::make<typename Parts::Result>(gathering);
  gathering->begin();
  return future;
}

}  // namespace detail

// Ready when all of them are; the result is a std::tuple of their results, in their order, with a
// std::monostate for each void. If some failed or were dropped, get() throws what that of the first
// of them would have thrown, and the other results are lost. An empty Future among them is misuse.
template <class R, class... Rs>
[[nodiscard]] Future<std::tuple<detail::PartResult<R>, detail::PartResult<Rs>...>> when_all(
    Future<R> future, Future<Rs>... futures) {
  return detail::gather<detail::GatheredTuple<R, Rs...>>(future, futures...);
}

// Ready when all of them are; the result is they themselves, in their order. An empty Future among
// them is misuse.
template <detail::FutureRange Range>
[[nodiscard]] auto when_all(Range&& futures) {
  return detail::gather<detail::GatheredList<detail::ResultOf<Range>>>(
      detail::future_list(std::forward<Range>(futures)));
}

}}  // namespace handoff::HANDOFF_ABI
