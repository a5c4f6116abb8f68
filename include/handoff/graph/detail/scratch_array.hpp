// SPDX-License-Identifier: MIT
//
// Raw room for `count` objects of a type, from a ScratchMemory. Not for users.
//
// No object is made or destroyed in it: whoever makes one destroys it.
#pragma once

#include <cstddef>
#include <new>

#include <handoff/config.hpp>
#include <handoff/graph/algorithm_options.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

template <class T>
class ScratchArray {
 public:
  // Throws std::bad_alloc, and what the resource throws.
  ScratchArray(const ScratchMemory& from, std::size_t count) : from_(from), count_(count) {
    constexpr std::size_t most_bytes = static_cast<std::size_t>(-1) / 2;  // which nobody has
    const std::size_t bytes = count > most_bytes / sizeof(T) ? most_bytes : count * sizeof(T);
    room_ = static_cast<T*>(from_.allocate(bytes, alignof(T)));
  }
  ~ScratchArray() { from_.deallocate(room_, count_ * sizeof(T), alignof(T)); }
  ScratchArray(const ScratchArray&) = delete;
  ScratchArray& operator=(const ScratchArray&) = delete;

  T* data() const noexcept { return room_; }
  std::size_t size() const noexcept { return count_; }

 private:
  const ScratchMemory from_;
  const std::size_t count_;
  T* room_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
