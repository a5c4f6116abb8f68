// SPDX-License-Identifier: MIT
//
// A key of any type: one dispatcher for numbers, names and enumerators alike.
//
//   handoff::EventDispatcher<handoff::AnyId, void()> events;
//   events.append_listener(Key::escape, quit);
//   events.append_listener("quit", quit);
//   events.dispatch("quit");
//
// For: keys that come from several modules. Not for: keys of one type.
// Two ids are equal if their types are the same and their values are equal: int 1 and long 1 are
// different ids, and so are unequal values with equal hashes. Text is one type: literals and string
// views are stored as std::string.
// A value is copied, compared by == and hashed once by std::hash; neither of these two may throw.
// It is stored inside the id if it has at most 32 bytes and does not throw when moved. Ids have no
// order, because values of different types have none.
// With g++, a shared object that uses it stays loaded until the program ends (docs/adr/0013).
// Concurrency: as with an int, none of its own. Blocks: never.
// Allocates: construction and copying, if the value does not fit. Throws: these two, on failed
// allocation, and what the value throws.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/any_storage.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

class AnyId {
  using Storage = detail::AnyStorage<32>;
  template <class T>
  using Kept = std::conditional_t<std::is_convertible_v<const T&, std::string_view>, std::string,
                                  std::decay_t<T>>;

 public:
  // A copy of the value, and its hash. Throws what copying or the allocation throws.
  template <class T>
    requires(!std::is_same_v<std::remove_cvref_t<T>, AnyId> &&
             requires(const Kept<T>& value) {
               { std::hash<Kept<T>>{}(value) } -> std::convertible_to<std::size_t>;
               { value == value } -> std::convertible_to<bool>;
             })
  AnyId(T&& value) : AnyId() {  // NOLINT(google-explicit-constructor): a key is one
    using Value = Kept<T>;
    const Value& made = storage_.template construct<Value>(std::forward<T>(value));
    kind_ = &kind_of<Value>;  // a hash that throws ends in the destructor
    hash_ = std::hash<Value>{}(made);
  }

  AnyId(const AnyId& other) : hash_(other.hash_) {
    if (other.kind_ == nullptr) return;
    // equivalent(swap): the destructor does not run for an object whose constructor throws
    other.kind_->copy(storage_, other.storage_);
    kind_ = other.kind_;
  }
  AnyId(AnyId&& other) noexcept : hash_(other.hash_) { take(other); }
  AnyId& operator=(AnyId other) noexcept {
    reset();  // equivalent(swap): two things that nobody else sees in between
    hash_ = other.hash_;  // equivalent(swap): the hash and the rest do not know each other
    take(other);
    return *this;
  }
  ~AnyId() { reset(); }

  // Null if it is an id of another type.
  template <class T>
  const T* get_if() const noexcept {
    return kind_ == &kind_of<T> ? &storage_.template value<T>() : nullptr;
  }

  // The hash of the value, which was taken once.
  std::size_t hash() const noexcept { return hash_; }

  friend bool operator==(const AnyId& a, const AnyId& b) noexcept {
    if (a.hash_ != b.hash_ || a.kind_ != b.kind_) return false;
    return a.kind_ == nullptr || a.kind_->equal(a.storage_, b.storage_);
  }

 private:
  AnyId() noexcept = default;  // no id yet

  // Its address names the type.
  struct Kind {
    void (*copy)(Storage& to, const Storage& from);
    void (*take)(Storage& to, Storage& from) noexcept;
    void (*destroy)(Storage& storage) noexcept;
    bool (*equal)(const Storage& a, const Storage& b) noexcept;
  };
  template <class T>
  static constexpr Kind kind_of{
      [](Storage& to, const Storage& from) { to.template construct<T>(from.template value<T>()); },
      [](Storage& to, Storage& from) noexcept { to.template take<T>(from); },
      [](Storage& storage) noexcept { storage.template destroy<T>(); },
      [](const Storage& a, const Storage& b) noexcept {
        return static_cast<bool>(a.template value<T>() == b.template value<T>());
      }};

  void take(AnyId& other) noexcept {
    if (other.kind_ == nullptr) return;
    other.kind_->take(storage_, other.storage_);
    kind_ = std::exchange(other.kind_, nullptr);
  }
  void reset() noexcept {
    if (const Kind* const kind = std::exchange(kind_, nullptr)) kind->destroy(storage_);
  }

  const Kind* kind_ = nullptr;  // null: moved from
  std::size_t hash_ = 0;
  Storage storage_;
};

}}  // namespace handoff::HANDOFF_ABI

// Makes an AnyId a key of the standard's unordered containers.
template <>
struct std::hash<handoff::AnyId> {
  // id.hash().
  std::size_t operator()(const handoff::AnyId& id) const noexcept { return id.hash(); }
};
