// SPDX-License-Identifier: MIT
//
// A callable of any type behind one type that can be copied: what options hold.
//
//   struct Options { CopyableFunction<void(const TaskFailure&)> on_error; };
//
// For: hooks and handlers. Not for: work that is handed over (UniqueFunction, which needs no copy
// and keeps small captures inside). std::function does the same, in a header of 15,000 lines.
// A copy holds a copy of the callable. A call may change what the callable holds.
// Concurrency: none of its own; like an int. Calls change nothing here, so several threads may call
// one CopyableFunction at once if they may so call the callable.
// Allocates: at construction and at a copy. Calling an empty one is misuse.
// Exceptions: construction and copies throw what the callable's constructor or the allocation
// throws; a copy that is assigned changes nothing then.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/misuse.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

template <class Signature>
class CopyableFunction;

template <class R, class... Args>
class CopyableFunction<R(Args...)> {
 public:
  CopyableFunction() noexcept = default;
  CopyableFunction(std::nullptr_t) noexcept {}  // NOLINT(google-explicit-constructor)

  // Holds a copy of the callable. Throws what copying or the allocation throws.
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, CopyableFunction> &&
             std::is_copy_constructible_v<std::decay_t<F>> &&
             std::is_invocable_r_v<R, std::decay_t<F>&, Args...>)
  CopyableFunction(F&& function) {  // NOLINT(google-explicit-constructor)
    using Given = std::remove_cvref_t<F>;
    if constexpr (std::is_pointer_v<Given> || std::is_member_pointer_v<Given>) {
      if (function == nullptr) return;  // an empty pointer makes an empty function
    }
    held_ = new Held<std::decay_t<F>>(std::forward<F>(function));
  }

  CopyableFunction(CopyableFunction&& other) noexcept
      : held_(std::exchange(other.held_, nullptr)) {}
  CopyableFunction(const CopyableFunction& other) : held_(other ? other.held_->copy() : nullptr) {}
  // From a copy or from what was moved; what it held ends with `other`.
  CopyableFunction& operator=(CopyableFunction other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  ~CopyableFunction() { delete held_; }

  // Calls it. Misuse if it is empty.
  R operator()(Args... args) const {
    if (held_ == nullptr) [[unlikely]] {
      misuse("an empty CopyableFunction was called; test it with explicit operator bool first");
    }
    return held_->call(std::forward<Args>(args)...);
  }

  // Whether there is a function in it.
  [[nodiscard]] explicit operator bool() const noexcept { return held_ != nullptr; }

 private:
  struct AnyHeld {
    virtual ~AnyHeld() = default;
    virtual AnyHeld* copy() const = 0;
    virtual R call(Args&&... args) = 0;
  };

  template <class F>
  struct Held final : AnyHeld {
    template <class Given>
    explicit Held(Given&& given)  // NOLINT(bugprone-forwarding-reference-overload): never copied
        : function(std::forward<Given>(given)) {}
    AnyHeld* copy() const override { return new Held(function); }
    R call(Args&&... args) override {
      if constexpr (std::is_void_v<R>) {
        detail::call_and_drop(function, std::forward<Args>(args)...);
      } else {
        return detail::invoke(function, std::forward<Args>(args)...);
      }
    }
    F function;
  };

  AnyHeld* held_ = nullptr;  // its own
};

}}  // namespace handoff::HANDOFF_ABI
