// SPDX-License-Identifier: MIT
//
// The Futures that an AppendLog owes for records that are not settled.
//
// Concurrency: the caller's. Throws: nothing.
#pragma once

#include <cstdint>
#include <handoff/config.hpp>
#include <handoff/core/internal/promise.hpp>
#include <handoff/core/internal/raw_box.hpp>
#include <handoff/file/append_result.hpp>
#include <memory>
#include <utility>

#include "../sync/internal/seen_sanitizer.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// The result that is owed for a record. deliver() ends the maker's share.
class Owed final : public OwedResult<AppendResult> {
 public:
  struct Drop {
    void operator()(Owed* owed) const noexcept { owed->drop(Status::stopped); }
  };

  std::uint64_t sequence = 0;
  std::unique_ptr<Owed, Drop> next;

 private:
  void destroy() noexcept override {
    sync::tell_taken(static_cast<FutureState*>(this));
    RawBox<Owed>::destroy(this);
  }
};
using OwedOwner = std::unique_ptr<Owed, Owed::Drop>;

// First come, first served.
class OwedList {
 public:
  void append(OwedOwner owed) noexcept {
    Owed* const last = owed.get();
    (last_ == nullptr ? first_ : last_->next) = std::move(owed);
    last_ = last;
  }
  void append(OwedList&& others) noexcept {
    if (others.first_ == nullptr) return;
    (last_ == nullptr ? first_ : last_->next) = std::move(others.first_);
    last_ = std::exchange(others.last_, nullptr);
  }
  OwedOwner take() noexcept {
    OwedOwner owed = std::move(first_);
    if (owed != nullptr) first_ = std::move(owed->next);
    if (first_ == nullptr) last_ = nullptr;
    return owed;
  }
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }

 private:
  OwedOwner first_;
  Owed* last_ = nullptr;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
