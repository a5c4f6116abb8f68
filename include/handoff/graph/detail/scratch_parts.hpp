// SPDX-License-Identifier: MIT
//
// Partial results in scratch memory. Not for users.
#pragma once

#include <cstddef>
#include <memory>

#include <handoff/config.hpp>
#include <handoff/core/internal/reduction.hpp>
#include <handoff/graph/algorithm_options.hpp>
#include <handoff/graph/detail/scratch_array.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

template <class T>
class ScratchParts {
 public:
  ScratchParts(const ScratchMemory& from, std::size_t count) : room_(from, count) {
    for (std::size_t i = 0; i < count; ++i) std::construct_at(room_.data() + i);
  }
  ~ScratchParts() { std::destroy_n(room_.data(), room_.size()); }
  ScratchParts(const ScratchParts&) = delete;
  ScratchParts& operator=(const ScratchParts&) = delete;

  PartOfReduction<T>& operator[](std::size_t i) const noexcept { return room_.data()[i]; }

 private:
  ScratchArray<PartOfReduction<T>> room_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
