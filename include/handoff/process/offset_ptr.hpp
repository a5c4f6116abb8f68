// SPDX-License-Identifier: MIT
//
// A pointer that lies in shared memory: it knows how far away its target is, so it is right
// wherever a process has mapped both.
//
//   struct Node {
//     int value = 0;
//     handoff::offset_ptr<Node> next;
//   };
//   for (Node* node = first; node != nullptr; node = node->next.get()) add(node->value);
//
// For: lists and trees in SharedMemory. Not for: an element of another memory (SharedSpan).
// Pointer and target lie in the same memory, and both move together or not at all. Memory that is
//   all zero holds null pointers. One byte cannot be pointed at: the second of the pointer itself.
// Trust: another process may have written it. get() goes where it says; in() does only if the
//   target lies within the bytes that are named, and is null else.
// Concurrency: as a plain pointer. Blocks, allocates, throws: never.
// Source: Boost.Interprocess, offset_ptr.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

template <class T>
class offset_ptr {
 public:
  // For std::pointer_traits and std::to_address().
  using element_type = T;

  constexpr offset_ptr() noexcept = default;  // null
  constexpr offset_ptr(std::nullptr_t) noexcept {}  // NOLINT(google-explicit-constructor): like T*
  // NOLINTNEXTLINE(google-explicit-constructor): like T*
  offset_ptr(T* target) noexcept : code_(code(target)) {}
  offset_ptr(const offset_ptr& other) noexcept : code_(code(other.get())) {}
  template <class U>
    requires(!std::is_same_v<U, T> && std::is_convertible_v<U*, T*>)
  // NOLINTNEXTLINE(google-explicit-constructor): like U*
  offset_ptr(const offset_ptr<U>& other) noexcept : code_(code(other.get())) {}
  // NOLINTNEXTLINE(cert-oop54-cpp): assigned to itself it gets the same code again
  offset_ptr& operator=(const offset_ptr& other) noexcept {
    code_ = code(other.get());
    return *this;
  }
  offset_ptr& operator=(T* target) noexcept {
    code_ = code(target);
    return *this;
  }
  ~offset_ptr() = default;

  // The target's address in this process; null if there is none.
  [[nodiscard]] T* get() const noexcept { return at(code_); }

  // The target if all `count` elements of it lie within `bytes` and as they must be aligned.
  [[nodiscard]] T* in(std::span<const std::byte> bytes, std::size_t count = 1) const noexcept {
    T* const target = at(code_);  // read once
    const auto place = reinterpret_cast<std::uintptr_t>(target);
    const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
    if (target == nullptr || place < begin || place % alignof(T) != 0) return nullptr;
    const std::uintptr_t before = place - begin;
    if (before > bytes.size() || count > (bytes.size() - before) / sizeof(T)) return nullptr;
    return target;
  }

  // The target, which must be there. Not checked.
  std::add_lvalue_reference_t<T> operator*() const noexcept { return *get(); }
  // The target's member, likewise.
  T* operator->() const noexcept { return get(); }
  // False: null.
  explicit operator bool() const noexcept { return code_ != 0; }

  friend bool operator==(const offset_ptr& a, const offset_ptr& b) noexcept {
    return a.get() == b.get();
  }
  friend bool operator==(const offset_ptr& a, const T* b) noexcept { return a.get() == b; }

 private:
  // One less than the distance: zero, which fresh memory is full of, stands for null. Numbers, not
  // pointers: the compiler may assume that those stay within one object.
  std::uint64_t code(const T* target) const noexcept {
    if (target == nullptr) return 0;
    return reinterpret_cast<std::uintptr_t>(target) - reinterpret_cast<std::uintptr_t>(this) - 1;
  }
  T* at(std::uint64_t code) const noexcept {
    if (code == 0) return nullptr;
    const std::uint64_t place = reinterpret_cast<std::uintptr_t>(this) + code + 1;
    return reinterpret_cast<T*>(static_cast<std::uintptr_t>(place));
  }

  std::uint64_t code_ = 0;
};

}}  // namespace handoff::HANDOFF_ABI
