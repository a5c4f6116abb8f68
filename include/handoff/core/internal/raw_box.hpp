// SPDX-License-Identifier: MIT
//
// Memory for one object that is not made yet: had first, given back unless the object is made.
//
//   RawBox<Node> box;                       // may throw std::bad_alloc
//   Node* const node = box.make(value);     // may throw; then the memory is given back
//   RawBox<Node>::destroy(node);
//
// For: objects that threads share and that end by a call, not by an owner. Not for: users.
// A T may keep its constructors and its destructor to itself, and have RawBox<T> as a friend.
// Concurrency: none of its own.
#pragma once

#include <memory>
#include <new>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/sync/internal/allocate.hpp>
#include <handoff/sync/internal/sanitizer.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

template <class T>
class RawBox {
 public:
  RawBox() : memory_(sync::allocate(sizeof(T), alignof(T))) {}
  ~RawBox() {
    if (memory_ != nullptr) sync::deallocate(memory_, sizeof(T), alignof(T));
  }
  RawBox(const RawBox&) = delete;
  RawBox& operator=(const RawBox&) = delete;

  // Once.
  template <class... Args>
  T* make(Args&&... args) {
    T* const made = ::new (memory_) T(std::forward<Args>(args)...);
    memory_ = nullptr;
    sync::given(made);
    return made;
  }

  // The end of what a box made.
  static void destroy(T* made) noexcept {
    sync::taken(made);
    made->~T();
    sync::deallocate(made, sizeof(T), alignof(T));
  }

  // For the owner of what a box made.
  struct Destroy {
    void operator()(T* made) const noexcept { destroy(made); }
  };
  using Owner = std::unique_ptr<T, Destroy>;

 private:
  void* memory_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
