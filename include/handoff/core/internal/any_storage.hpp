// SPDX-License-Identifier: MIT
//
// Room for one value of whatever type, inside or on the heap: what UniqueFunction, AnyData and
// AnyId are made of.
//
// It does not know what it holds; its owner does, and pairs each construct() with one destroy() or
// take(). Not for: users.
// Concurrency: none of its own. Allocates, throws: construct(), for what does not fit.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/raw_box.hpp>
#include <handoff/sync/internal/sanitizer.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

template <std::size_t Bytes, std::size_t Alignment = alignof(std::max_align_t)>
class AnyStorage {
 public:
  static_assert(Bytes >= sizeof(void*) && Alignment >= alignof(void*),
                "there must be room for an address");

  // Whether a T lies inside: then moving it cannot throw.
  template <class T>
  static constexpr bool fits =
      sizeof(T) <= Bytes && alignof(T) <= Alignment && std::is_nothrow_move_constructible_v<T>;

  // Nothing yet; defaulted, it would clear the memory for what follows.
  AnyStorage() noexcept {}  // NOLINT(modernize-use-equals-default)
  AnyStorage(const AnyStorage&) = delete;
  AnyStorage& operator=(const AnyStorage&) = delete;

  template <class T, class... Args>
  T& construct(Args&&... args) {
    sync::taken(sync::end_of(this));
    T* made = nullptr;
    if constexpr (fits<T>) {
      made = ::new (address()) T(std::forward<Args>(args)...);
    } else {
      made = point_to(RawBox<T>().make(std::forward<Args>(args)...));
    }
    sync::given(this);
    return *made;
  }
  template <class T>
  T& value() noexcept {
    sync::taken(this);
    if constexpr (fits<T>) {
      return *std::launder(static_cast<T*>(address()));
    } else {
      return **std::launder(static_cast<T**>(address()));
    }
  }
  template <class T>
  const T& value() const noexcept {
    return const_cast<AnyStorage*>(this)->value<T>();
  }
  template <class T>
  void destroy() noexcept {
    if constexpr (fits<T>) {
      std::destroy_at(&value<T>());
    } else {
      RawBox<T>::destroy(&value<T>());
    }
    sync::given(sync::end_of(this));
  }

  // Takes over what another one holds.
  template <class T>
  void take(AnyStorage& from) noexcept {
    if constexpr (fits<T>) {
      construct<T>(std::move(from.value<T>()));
      from.destroy<T>();
    } else {
      sync::taken(sync::end_of(this));
      point_to(&from.value<T>());
      sync::given(this);
      sync::given(sync::end_of(&from));
    }
  }

 private:
  void* address() noexcept { return bytes_; }
  template <class T>
  T* point_to(T* value) noexcept {
    using Pointer = T*;
    return *::new (address()) Pointer(value);
  }

  alignas(Alignment) std::byte bytes_[Bytes];
};

}}}  // namespace handoff::HANDOFF_ABI::detail
