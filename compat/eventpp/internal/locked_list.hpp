// SPDX-License-Identifier: MIT
//
// The listeners of a CallbackList whose policies bring a mutex of their own.
//
// An array of counted nodes that is copied on change while a pass reads it. A pass reads the array
// it began with and leaves out what was removed since; so what is added in a pass is not called in
// it. The mutex is held for taking an array or changing it, never while a callback runs, is copied
// or ends.
// Not for: users. Concurrency: as the policy's mutex says. Cost: O(n) for adding beside a pass and
// for removing, a count and a lock for a pass.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include <handoff/event/listeners.hpp>

#include <eventpp/internal/policies.hpp>

namespace eventpp::internal {

using handoff::detail::Place;

template <class Policies, class Callback, class R, class... Args>
class LockedList {
  using Threading = typename ThreadingOf<Policies>::type;
  using Lock = std::lock_guard<typename Threading::Mutex>;

  struct Node {
    explicit Node(Callback kept) : callback(std::move(kept)) {}
    Callback callback;
    typename Threading::template Atomic<bool> removed{false};
  };
  using Nodes = std::vector<std::shared_ptr<Node>>;
  using Array = std::shared_ptr<Nodes>;  // changed in place until a pass reads it

 public:
  // Weak: does not keep the callback. True while it is in its list.
  class Handle {
   public:
    Handle() noexcept = default;
    explicit operator bool() const noexcept {
      const auto node = node_.lock();
      return node != nullptr && !node->removed.load();
    }
    bool expired() const noexcept { return !static_cast<bool>(*this); }
    friend bool operator==(const Handle& a, const Handle& b) noexcept {
      return !a.node_.owner_before(b.node_) && !b.node_.owner_before(a.node_);
    }

   private:
    friend class LockedList;
    explicit Handle(const std::shared_ptr<Node>& node) noexcept : node_(node) {}
    std::weak_ptr<Node> node_;
  };

  LockedList() noexcept = default;
  LockedList(const LockedList& other) {
    const Array array = other.taken();
    if (array == nullptr) return;
    array_ = std::make_shared<Nodes>();
    for (const auto& node : *array) {
      if (!node->removed.load()) array_->push_back(std::make_shared<Node>(node->callback));
    }
  }
  LockedList(LockedList&& other) noexcept : array_(other.exchanged(nullptr)) {}
  LockedList& operator=(LockedList other) noexcept {
    swap(other);
    return *this;
  }
  ~LockedList() {
    const Array array = exchanged(nullptr);  // passes under way call no more of it
    if (array == nullptr) return;
    for (const auto& node : *array) node->removed.store(true);
  }

  void swap(LockedList& other) noexcept {
    if (this != &other) exchanged(other.exchanged(exchanged(nullptr)));
  }

  bool empty() const {
    const Lock lock(mutex_);
    return array_ == nullptr || array_->empty();
  }

  template <class F>
  Handle add(F&& function, Place place, const Handle& before = {}) {
    auto node = std::make_shared<Node>(Callback(std::forward<F>(function)));
    const auto wanted = before.node_.lock();
    const Lock lock(mutex_);
    Nodes& nodes = changeable();
    auto at = nodes.end();
    if (place == Place::front) at = nodes.begin();
    if (place == Place::before) at = std::find(nodes.begin(), nodes.end(), wanted);
    return Handle(*nodes.insert(at, std::move(node)));
  }

  bool remove(const Handle& handle) {
    std::shared_ptr<Node> node = handle.node_.lock();  // ends behind the lock
    const Lock lock(mutex_);
    if (node == nullptr || array_ == nullptr) return false;
    if (std::find(array_->begin(), array_->end(), node) == array_->end()) return false;
    node->removed.store(true);
    std::erase(changeable(), node);
    return true;
  }

  bool owns(const Handle& handle) const {
    const auto node = handle.node_.lock();
    const Lock lock(mutex_);
    return node != nullptr && array_ != nullptr &&
           std::find(array_->begin(), array_->end(), node) != array_->end();
  }

  // visitor(handle, callback) for each, until it says false; whether it never did.
  template <class Visitor>
  bool visit(Visitor&& visitor) const {
    return for_all([&](const std::shared_ptr<Node>& node) {
      return static_cast<bool>(visitor(Handle(node), std::as_const(node->callback)));
    });
  }

  void call(std::remove_reference_t<Args>&... args) const {
    for_all([&](const std::shared_ptr<Node>& node) {
      invoke(node->callback, args...);
      return may_go_on<Policies>(args...);
    });
  }

  // Until a callback says false; whether none did.
  bool call_while(std::remove_reference_t<Args>&... args) const {
    return for_all([&](const std::shared_ptr<Node>& node) {
      return static_cast<bool>(invoke(node->callback, args...));
    });
  }

 private:
  // As an lvalue each: the next callback gets the same.
  static R invoke(Callback& callback, std::remove_reference_t<Args>&... args) {
    return static_cast<R>(callback(static_cast<std::remove_reference_t<Args>&>(args)...));
  }

  template <class Each>
  bool for_all(Each&& each) const {
    const Array array = taken();
    if (array == nullptr) return true;
    for (const auto& node : *array) {
      if (!node->removed.load() && !each(node)) return false;
    }
    return true;
  }

  Array taken() const {
    const Lock lock(mutex_);
    is_read_ = true;
    return array_;
  }
  Array exchanged(Array with) noexcept {
    const Lock lock(mutex_);
    return std::exchange(array_, std::move(with));
  }

  // Under the mutex. A pass that took the array before keeps its own.
  Nodes& changeable() {
    if (array_ == nullptr) {
      array_ = std::make_shared<Nodes>();
    } else if (is_read_) {
      array_ = std::make_shared<Nodes>(*array_);
    }
    is_read_ = false;
    return *array_;
  }

  mutable typename Threading::Mutex mutex_;
  Array array_;
  mutable bool is_read_ = false;  // by a pass, perhaps still: its count would not tell it in order
};

}  // namespace eventpp::internal
