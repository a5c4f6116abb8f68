// SPDX-License-Identifier: MIT
//
// A callable of any type behind one type: what a queue of work holds.
//
// For: handing a closure over, with move-only captures, without an allocation up to 48 bytes of
// capture. Not for: callables that are copied (std::function) or only looked at (a template
// parameter).
// One UniqueFunction is one cache line. A capture that is larger, aligned to more than 16 bytes or
// may throw when moved lives on the heap at its own alignment; so moving a UniqueFunction never
// throws and never runs more than one move constructor.
// Concurrency: none of its own; like an int.
// Allocates: at construction, for captures that do not fit. Calling an empty one is misuse.
// Exceptions: construction throws what the capture's constructor or the allocation throws.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/any_storage.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/misuse.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

template <class Signature>
class UniqueFunction;

template <class R, class... Args>
class UniqueFunction<R(Args...)> {
 public:
  // The size, in bytes, and the alignment up to which a capture is kept inside.
  static constexpr std::size_t inline_bytes = 48;
  static constexpr std::size_t inline_alignment = 16;

  // Whether an F is kept inside, without an allocation.
  template <class F>
  static constexpr bool fits = detail::AnyStorage<inline_bytes, inline_alignment>::template fits<F>;

  UniqueFunction() noexcept = default;
  UniqueFunction(std::nullptr_t) noexcept {}  // NOLINT(google-explicit-constructor)

  // Holds the callable, moved or copied. Throws what its constructor or the allocation throws.
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, UniqueFunction> &&
             std::is_invocable_r_v<R, std::decay_t<F>&, Args...>)
  UniqueFunction(F&& function) {  // NOLINT(google-explicit-constructor)
    using Decayed = std::decay_t<F>;
    using Given = std::remove_cvref_t<F>;
    if constexpr (std::is_pointer_v<Given> || std::is_member_pointer_v<Given>) {
      if (function == nullptr) return;  // an empty pointer makes an empty function
    }
    // equivalent(swap): a constructor that throws leaves no object whose operations could be used
    storage_.template construct<Decayed>(std::forward<F>(function));
    operations_ = &operations_of<Decayed>;
  }

  UniqueFunction(UniqueFunction&& other) noexcept { take(other); }
  UniqueFunction& operator=(UniqueFunction&& other) noexcept {
    if (this != &other) {
      reset();
      take(other);
    }
    return *this;
  }
  UniqueFunction(const UniqueFunction&) = delete;
  UniqueFunction& operator=(const UniqueFunction&) = delete;
  ~UniqueFunction() { reset(); }

  // Calls it. Misuse if it is empty.
  R operator()(Args... args) {
    if (operations_ == nullptr) [[unlikely]] {
      misuse("an empty UniqueFunction was called; test it with explicit operator bool first");
    }
    return operations_->call(storage_, std::forward<Args>(args)...);
  }

  // Whether there is a function in it.
  [[nodiscard]] explicit operator bool() const noexcept { return operations_ != nullptr; }

 private:
  using Storage = detail::AnyStorage<inline_bytes, inline_alignment>;

  struct Operations {
    R (*call)(Storage& storage, Args&&... args);
    void (*take)(Storage& to, Storage& from) noexcept;
    void (*destroy)(Storage& storage) noexcept;
  };

  // std::invoke_r, which C++20 does not have: a result that nobody asked for is dropped.
  template <class F>
  static R call(F& function, Args&&... args) {
    if constexpr (std::is_void_v<R>) {
      detail::call_and_drop(function, std::forward<Args>(args)...);
    } else {
      return detail::invoke(function, std::forward<Args>(args)...);
    }
  }

  template <class F>
  [[gnu::visibility("hidden")]]  // docs/adr/0013
  static constexpr Operations operations_of{
      [](Storage& storage, Args&&... args) -> R {
        return call(storage.template value<F>(), std::forward<Args>(args)...);
      },
      [](Storage& to, Storage& from) noexcept { to.template take<F>(from); },
      [](Storage& storage) noexcept { storage.template destroy<F>(); }};

  void take(UniqueFunction& other) noexcept {
    if (other.operations_ == nullptr) return;
    other.operations_->take(storage_, other.storage_);
    operations_ = std::exchange(other.operations_, nullptr);
  }

  void reset() noexcept {
    // Empty first: a capture's destructor that looks at this function sees it empty.
    if (const Operations* const operations = std::exchange(operations_, nullptr)) {
      operations->destroy(storage_);
    }
  }

  Storage storage_;
  const Operations* operations_ = nullptr;
};

static_assert(sizeof(UniqueFunction<void()>) == 64, "one cache line");

}}  // namespace handoff::HANDOFF_ABI
