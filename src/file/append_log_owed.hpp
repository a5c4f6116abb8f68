// SPDX-License-Identifier: MIT
//
// The Futures that an AppendLog owes for records that are not settled.
//
// Concurrency: the caller's. Throws: nothing.
#pragma once

#include <cstdint>
#include <handoff/config.hpp>
#include <handoff/core/internal/promise.hpp>
#include <handoff/file/append_result.hpp>
#include <memory>
#include <utility>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// A Future that is owed for a record.
struct Owed {
  Promise<AppendResult> promise;
  std::uint64_t sequence = 0;
  std::unique_ptr<Owed> next;
};

// First come, first served.
class OwedList {
 public:
  void append(std::unique_ptr<Owed> owed) noexcept {
    Owed* const last = owed.get();
    (last_ == nullptr ? first_ : last_->next) = std::move(owed);
    last_ = last;
  }
  void append(OwedList&& others) noexcept {
    if (others.first_ == nullptr) return;
    (last_ == nullptr ? first_ : last_->next) = std::move(others.first_);
    last_ = std::exchange(others.last_, nullptr);
  }
  std::unique_ptr<Owed> take() noexcept {
    std::unique_ptr<Owed> owed = std::move(first_);
    if (owed != nullptr) first_ = std::move(owed->next);
    if (first_ == nullptr) last_ = nullptr;
    return owed;
  }
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }

 private:
  std::unique_ptr<Owed> first_;
  Owed* last_ = nullptr;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
