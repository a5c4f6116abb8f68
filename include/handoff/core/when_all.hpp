// SPDX-License-Identifier: MIT
//
// Many Futures as one.
//
//   std::vector<Future<int>> parts = ...;
//   for (Future<int>& part : when_all(std::move(parts)).get()) sum += part.get();
//
// Contract: as Future::then(). Allocates: once.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <handoff/config.hpp>
#include <handoff/core/detail/future_state.hpp>
#include <handoff/core/detail/raw_box.hpp>
#include <handoff/core/future.hpp>
#include <handoff/sync/detail/atomic.hpp>
#include <handoff/sync/detail/cell.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {

// Futures that are all ready. Each of them has this as what comes next.
template <class R>
class Gathering final : public FutureResult<std::vector<Future<R>>> {
 public:
  explicit Gathering(std::vector<Future<R>> futures)
      : FutureResult<std::vector<Future<R>>>(nullptr),
        futures_(std::move(futures)),
        missing_(futures_.read().size() + 1) {}

  void begin() noexcept {
    for (std::size_t i = 0; FutureState* const each = source(i); ++i) {
      each->continue_with({&Gathering::arrive, this});
    }
    // The one that was counted so that nobody could be the last one before now.
    this->call_each(arrive(this));
  }

 private:
  static FutureState::Next arrive(void* self) noexcept {
    auto& gathering = *static_cast<Gathering*>(self);
    // order: acq_rel, the last one sees what all others brought.
    if (gathering.missing_.fetch_sub(1, sync::order::acq_rel) != 1) return {};
    return gathering.follow();
  }

  Outcome compute() noexcept override {
    (void)this->keep([this] { return std::move(futures_.write()); });
    return Outcome::elsewhere;
  }
  void destroy() noexcept override { RawBox<Gathering>::destroy(this); }
  FutureState::Way* way() noexcept override { return &way_; }
  FutureState* source(std::size_t index) noexcept override {
    const std::vector<Future<R>>& futures = futures_.read();
    return index < futures.size() ? &FutureAccess::state(futures[index]) : nullptr;
  }

  sync::cell<std::vector<Future<R>>> futures_;
  sync::atomic<std::size_t> missing_;
  FutureState::Way way_;
};

}  // namespace detail

// Ready when all of them are; the result is they themselves, in their order. An empty Future among
// them is misuse.
template <class R>
[[nodiscard]] Future<std::vector<Future<R>>> when_all(std::vector<Future<R>> futures) {
  for (const Future<R>& future : futures) (void)future.is_ready();
  auto* const gathering = detail::RawBox<detail::Gathering<R>>().make(std::move(futures));
  auto future = detail::FutureAccess::make<std::vector<Future<R>>>(gathering);
  gathering->begin();
  return future;
}

}}  // namespace handoff::HANDOFF_ABI
