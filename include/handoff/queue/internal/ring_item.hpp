// SPDX-License-Identifier: MIT
//
// What a ring asks of its items, and where its positions begin. Shared by the rings and by what
// resembles them, not for users.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/sync/internal/cell.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// Where a ring's positions begin. Other values than 0 are for tests, which cannot wait until
// 64 bits have run over.
struct RingStart {
  std::uint64_t position = 0;
};

// What a ring can hold, if it moves without throwing too: else it could not stay whole when it is
// refused.
template <class T>
concept HeldByValue =
    std::is_object_v<T> && !std::is_const_v<T> && std::is_nothrow_destructible_v<T>;

// Whether an item that is assigned over another may run that one's destructor, and so call the
// queue again. Then it leaves its place first.
template <class T>
inline constexpr bool kReplacingCalls = !std::is_trivially_destructible_v<T>;

// What an item is made of where it is taken, and not before: a refusal leaves it as it was.
template <class From, class T>
concept ConvertsToItem =
    !std::is_same_v<std::remove_cvref_t<From>, T> && std::convertible_to<From, T>;

// An item on its way out, whose taker may call the queue again.
template <class T>
class TakenItem {
 public:
  ~TakenItem() {
    if (is_full_) place_.destroy();
  }
  void operator()(T& item) noexcept {
    place_.construct(std::move(item));
    is_full_ = true;  // equivalent(swap): a member of the call alone
  }
  T& value() noexcept { return place_.write(); }

 private:
  sync::raw_cell<T> place_;
  bool is_full_ = false;
};

// An item while a visitor has it: gone afterwards, also by an exception. `Places` are those of
// ring.hpp.
template <class Places>
class VisitedItem {
 public:
  using Claim = typename Places::Claim;
  VisitedItem(Places& places, const Claim& claim) noexcept : places_(places), claim_(claim) {}
  ~VisitedItem() {
    places_.bare(claim_.first);
    places_.bared(claim_);
  }
  VisitedItem(const VisitedItem&) = delete;
  VisitedItem& operator=(const VisitedItem&) = delete;
  auto& value() const noexcept { return places_.item(claim_.first); }

 private:
  Places& places_;
  const Claim claim_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
