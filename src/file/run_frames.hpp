// SPDX-License-Identifier: MIT
//
// Memory for the frames of a run's coroutines, part of the run: the last one taken is given back
// first. How large a frame is only the compiler knows; one that has no room is allocated.
// Concurrency: none of its own. Throws: never.
#pragma once

#include <array>
#include <cstddef>
#include <handoff/config.hpp>
#include <handoff/sync/internal/allocate.hpp>
#include <new>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class RunFrames {
 public:
  static constexpr std::size_t kBytes = 560;  // the deepest chain, a copy, takes 544 by g++ 12

  RunFrames() noexcept {}  // NOLINT(modernize-use-equals-default): the memory means nothing yet

  // Null: there is no memory.
  void* take(std::size_t bytes) noexcept {
    const std::size_t all = with_head(bytes);
    const bool fits = all <= kBytes - used_;
    void* const memory = fits ? &memory_[used_] : sync::try_allocate(all, sizeof(Head));
    if (memory == nullptr) return nullptr;
    if (fits) used_ += all;
    return ::new (memory) Head{fits ? this : nullptr} + 1;
  }
  // `bytes`: as it was taken.
  static void give_back(void* frame, std::size_t bytes) noexcept {
    Head* const head = static_cast<Head*>(frame) - 1;
    if (head->owner != nullptr) head->owner->used_ -= with_head(bytes);
    else sync::deallocate(head, with_head(bytes), sizeof(Head));
  }

 private:
  struct alignas(__STDCPP_DEFAULT_NEW_ALIGNMENT__) Head {
    RunFrames* owner;  // null: allocated
  };
  static constexpr std::size_t with_head(std::size_t bytes) noexcept {
    return (bytes + 2 * sizeof(Head) - 1) / sizeof(Head) * sizeof(Head);
  }

  std::size_t used_ = 0;
  alignas(Head) std::array<std::byte, kBytes> memory_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
