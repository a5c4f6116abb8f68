// SPDX-License-Identifier: MIT
//
// A box of fixed size for a payload of any type: one event queue for events of many kinds.
//
//   handoff::EventQueue<Kind, void(const handoff::AnyData<64>&)> queue;
//   handoff::Status s = queue.enqueue(Kind::key, KeyPressed{27});
//   queue.append_listener(Kind::key, [](const auto& data) {
//     press(data.template get<KeyPressed>().code);
//   });
//
// For: payloads that share a queue, a list or a dispatcher. Not for: a handful of types known to
// all (std::variant); functions to call (UniqueFunction).
// A value that is larger than Bytes, is aligned to more than a std::max_align_t, or may throw when
// moved, is stored on the heap at its own alignment; so moving a box never throws.
// AnyDataOf<Types...> is a box that is large enough for each of these types.
// A box can be moved but not copied, so that it can hold move-only values.
// Type checks are exact and need no RTTI: a value is found by its own type, not by a base class.
// With g++, a shared object that uses it stays loaded until the program ends (docs/adr/0013).
// Concurrency: as with an int, none of its own. Blocks: never.
// Allocates: construction, if the value does not fit. Throws: construction, what the payload's
// constructor or the allocation throws. get() of a type that it does not hold is misuse.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/any_storage.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/misuse.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

template <std::size_t Bytes = 48>
class AnyData {
  using Storage = detail::AnyStorage<Bytes>;

 public:
  // Whether a T is kept inside, without an allocation.
  template <class T>
  static constexpr bool fits = Storage::template fits<T>;

  // Holds nothing.
  AnyData() noexcept = default;

  // Holds the value, moved or copied. Throws what its constructor or the allocation throws.
  template <class T>
    requires(!std::is_same_v<std::remove_cvref_t<T>, AnyData> &&
             std::is_constructible_v<std::decay_t<T>, T>)
  AnyData(T&& value) {  // NOLINT(google-explicit-constructor): a payload is one
    emplace<std::decay_t<T>>(std::forward<T>(value));
  }

  AnyData(AnyData&& other) noexcept { take(other); }
  AnyData& operator=(AnyData&& other) noexcept {
    if (this != &other) {
      reset();
      take(other);
    }
    return *this;
  }
  AnyData(const AnyData&) = delete;
  AnyData& operator=(const AnyData&) = delete;
  ~AnyData() { reset(); }

  // Makes a T here, in the place of what there was, which is gone even if the T cannot be made.
  template <class T, class... Args>
  T& emplace(Args&&... args) {
    static_assert(std::is_same_v<T, std::decay_t<T>>, "a box holds values, not references");
    reset();
    T& made = storage_.template construct<T>(std::forward<Args>(args)...);
    kind_ = &kind_of<T>;
    return made;
  }

  // Empty first: a payload's destructor that looks at this box sees nothing in it.
  void reset() noexcept {
    if (const Kind* const kind = std::exchange(kind_, nullptr)) kind->destroy(storage_);
  }

  // Whether it holds anything, and whether a T.
  [[nodiscard]] bool has_value() const noexcept { return kind_ != nullptr; }
  template <class T>
  [[nodiscard]] bool holds() const noexcept {
    return kind_ == &kind_of<T>;
  }

  // Null if it holds something else, or nothing.
  template <class T>
  T* get_if() noexcept {
    return holds<T>() ? &storage_.template value<T>() : nullptr;
  }
  template <class T>
  const T* get_if() const noexcept {
    return holds<T>() ? &storage_.template value<T>() : nullptr;
  }

  // The payload. Misuse if it does not hold a T.
  template <class T>
  T& get() {
    if (!holds<T>()) [[unlikely]]
      refuse();
    return storage_.template value<T>();
  }
  template <class T>
  const T& get() const {
    if (!holds<T>()) [[unlikely]]
      refuse();
    return storage_.template value<T>();
  }

 private:
  // Its address names the type.
  struct Kind {
    void (*take)(Storage& to, Storage& from) noexcept;
    void (*destroy)(Storage& storage) noexcept;
  };
  template <class T>
  static constexpr Kind kind_of{
      [](Storage& to, Storage& from) noexcept { to.template take<T>(from); },
      [](Storage& storage) noexcept { storage.template destroy<T>(); }};

  [[noreturn]] static void refuse() {
    misuse("an AnyData was asked for a type that it does not hold; ask holds() or get_if() first");
  }

  void take(AnyData& other) noexcept {
    if (other.kind_ == nullptr) return;
    other.kind_->take(storage_, other.storage_);
    kind_ = std::exchange(other.kind_, nullptr);
  }

  const Kind* kind_ = nullptr;
  Storage storage_;
};

// How much room a box for each of these needs.
template <class... Types>
inline constexpr std::size_t any_data_bytes =
    detail::max(sizeof(void*), std::size_t{1}, sizeof(Types)...);

// The box with room for each of these.
template <class... Types>
using AnyDataOf = AnyData<any_data_bytes<Types...>>;

}}  // namespace handoff::HANDOFF_ABI
