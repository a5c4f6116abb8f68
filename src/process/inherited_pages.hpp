// SPDX-License-Identifier: MIT
//
// Memory that a process and its forks share, at the same address in each: mapped once, without a
// descriptor or a name. It goes with the last process that has it. With a file, processes of
// another program can map it too, at an address of their own.
#pragma once

#include <cstddef>
#include <handoff/config.hpp>
#include <handoff/sync/cache_line.hpp>
#include <new>
#include <span>

#include "../sync/internal/descriptor.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class InheritedPages {
 public:
  InheritedPages() noexcept = default;
  ~InheritedPages();
  InheritedPages(const InheritedPages&) = delete;
  InheritedPages& operator=(const InheritedPages&) = delete;

  // What place() takes for `count` objects.
  template <class T>
  static constexpr std::size_t bytes_for(std::size_t count) noexcept {
    static_assert(alignof(T) <= sync::destructive_span);
    constexpr std::size_t line = sync::destructive_span;
    return (count * sizeof(T) + line - 1) / line * line;
  }

  // 0, or the errno. All pages are there afterwards.
  int map(std::size_t bytes) noexcept;
  // The same, of a new file whose size is sealed.
  int map_file(std::size_t bytes, Descriptor& file) noexcept;
  // What another process has mapped so; EPROTO: it is no such file.
  int attach(int file, std::size_t bytes) noexcept;

  // `count` objects, each made of the arguments, on cache lines of their own, behind those that
  // were placed before.
  template <class T, class... Arguments>
  std::span<T> place(std::size_t count, Arguments... arguments) noexcept {
    T* first = nullptr;
    for (std::size_t i = 0; i < count; ++i) {
      T* const made = ::new (static_cast<void*>(next_ + i * sizeof(T))) T(arguments...);
      if (i == 0) first = made;
    }
    next_ += bytes_for<T>(count);
    return {first, count};
  }

  // The objects that another process has placed there, in the same order.
  template <class T>
  std::span<T> find(std::size_t count) noexcept {
    T* const first = std::launder(reinterpret_cast<T*>(next_));
    next_ += bytes_for<T>(count);
    return {first, count};
  }

 private:
  int take(std::size_t bytes, int flags, int file) noexcept;

  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
  char* next_ = nullptr;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
