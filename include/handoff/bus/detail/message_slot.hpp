// SPDX-License-Identifier: MIT
//
// A place of a bus: room for a message of any of its types, or for a pointer to one that is too
// large, and for what it carries besides. Not for users.
//
// Its state says which message lies in it (message_ring.hpp). It does not know the type: the owner
// of the state does, and pairs each construct() with one destroy().
//
// All is written from the front to the back, and the state last. A consumer that looks at the state
// takes its line from the producer; at the back that line has hardly been begun before it is done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <handoff/bus/message_meta.hpp>
#include <handoff/config.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/internal/raw_box.hpp>
#include <handoff/sync/internal/atomic.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// What construct() needs that may fail, so that it is had before a place is claimed.
template <class T, bool kBoxed>
struct MessageBox {};
template <class T>
struct MessageBox<T, true> {
  RawBox<T> memory;
};

template <class Policies, class... Messages>
struct MessageSlot {
  template <class T>
  static constexpr bool kBoxed = sizeof(T) > Policies::inline_bytes;
  template <class T>
  using Held = std::conditional_t<kBoxed<T>, std::add_pointer_t<T>, T>;
  template <class T>
  using Box = MessageBox<T, kBoxed<T>>;

  MessageSlot() noexcept {}  // NOLINT(modernize-use-equals-default): leaves the bytes alone

  template <class T, class... Args>
  T& construct([[maybe_unused]] Box<T>& box, Args&&... args) {
    if constexpr (kBoxed<T>) {
      T* const made = box.memory.make(std::forward<Args>(args)...);
      using Pointer = T*;
      ::new (static_cast<void*>(bytes)) Pointer(made);
      return *made;
    } else {
      return *::new (static_cast<void*>(bytes)) T(std::forward<Args>(args)...);
    }
  }
  template <class T>
  T& value() noexcept {
    auto* const held = std::launder(reinterpret_cast<Held<T>*>(bytes));
    if constexpr (kBoxed<T>) {
      return **held;
    } else {
      return *held;
    }
  }
  template <class T>
  void destroy() noexcept {
    if constexpr (kBoxed<T>) {
      RawBox<T>::destroy(&value<T>());
    } else {
      std::destroy_at(&value<T>());
    }
  }

  [[no_unique_address]] CarriedMeta<Policies> carried;
  alignas(detail::max<std::size_t>(1, 1, alignof(Held<Messages>)...))
      std::byte bytes[detail::max<std::size_t>(1, 1, sizeof(Held<Messages>)...)];
  sync::atomic<std::uint64_t> state{0};
};

}}}  // namespace handoff::HANDOFF_ABI::detail
