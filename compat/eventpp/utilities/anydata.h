// SPDX-License-Identifier: MIT
//
// eventpp's AnyData: a value of any type, for queues whose events differ.
//
//   constexpr std::size_t size = eventpp::maxSizeOf<KeyEvent, MouseEvent>();
//   eventpp::EventQueue<int, void(const eventpp::AnyData<size>&)> queue;
//   queue.appendListener(3, [](const KeyEvent& e) { ... });
//   queue.enqueue(3, KeyEvent(255));
//
// For: programs written against eventpp. Not for: new ones, see handoff::AnyData, which checks what
// it is asked for.
// A value of at most maxSize bytes lies inside, whatever its alignment up to 64; others on the
// heap. What it is taken for is not checked: that is for the program to know, as with static_cast.
// Concurrency: as an int. Throws: what copying or moving the value throws, std::bad_alloc for a
// large one, std::logic_error where a value is to be copied that cannot be.
// Source: the interface is that of github.com/wqking/eventpp, as its documentation describes it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace eventpp {

template <class... Ts>
constexpr std::size_t maxSizeOf() {
  return std::max({sizeof(Ts)...});
}

template <std::size_t maxSize>
class AnyData {
  static constexpr std::size_t kAlignment = maxSize > alignof(std::max_align_t) ? 64 : 16;
  static constexpr std::size_t kBytes = std::max(maxSize, sizeof(void*));

  struct Kind {
    void (*copy)(const AnyData& from, AnyData& to);
    void (*move)(AnyData& from, AnyData& to);
    void (*end)(AnyData& self) noexcept;
  };

 public:
  template <class T>
    requires(!std::is_same_v<std::remove_cvref_t<T>, AnyData>)
  AnyData(T&& value) {  // NOLINT(google-explicit-constructor)
    using Value = std::remove_cvref_t<T>;
    make<Value>(std::forward<T>(value));
  }
  AnyData(const AnyData& other) { other.kind_->copy(other, *this); }
  AnyData(
      AnyData&& other) {  // NOLINT(performance-noexcept-move-constructor): the value's may throw
    other.kind_->move(other, *this);
  }
  AnyData& operator=(const AnyData& other) {
    if (this != &other) *this = AnyData(other);
    return *this;
  }
  // Holds nothing if moving the value throws.
  AnyData& operator=(AnyData&& other) {  // NOLINT(performance-noexcept-move-constructor)
    if (this != &other) {
      kind_->end(*this);
      be_nothing();
      other.kind_->move(other, *this);
    }
    return *this;
  }
  ~AnyData() { kind_->end(*this); }

  template <class T>
  const T& get() const noexcept {
    return *static_cast<const T*>(getAddress());
  }
  const void* getAddress() const noexcept { return address_; }
  // Of exactly this type.
  template <class T>
  bool isType() const noexcept {
    return kind_ == &kKind<T>;
  }

  template <class T>
  operator const T&() const noexcept {  // NOLINT(google-explicit-constructor)
    return get<T>();
  }
  template <class T>
  operator const T*() const noexcept {  // NOLINT(google-explicit-constructor)
    return static_cast<const T*>(getAddress());
  }

 private:
  template <class T>
  static constexpr bool fits = sizeof(T) <= maxSize && alignof(T) <= kAlignment;

  template <class T>
  T& value() noexcept {
    return *static_cast<T*>(address_);
  }

  template <class T, class... A>
  void make(A&&... args) {
    if constexpr (fits<T>) {
      address_ = ::new (static_cast<void*>(inside_)) T(std::forward<A>(args)...);
    } else {
      address_ = new T(std::forward<A>(args)...);
    }
    kind_ = &kKind<T>;
  }

  template <class T>
  static void copy(const AnyData& from, AnyData& to) {
    if constexpr (std::is_copy_constructible_v<T>) {
      to.template make<T>(from.template get<T>());
    } else {
      throw std::logic_error("AnyData: what it holds cannot be copied");
    }
  }
  template <class T>
  static void move(AnyData& from, AnyData& to) {
    if constexpr (fits<T>) {
      to.template make<T>(std::move(from.template value<T>()));
    } else {  // the heap's goes over; what is left holds nothing
      to.address_ = std::exchange(from.address_, nullptr);
      to.kind_ = std::exchange(from.kind_, &kNothing);
    }
  }
  template <class T>
  static void end(AnyData& self) noexcept {
    if constexpr (fits<T>) {
      std::destroy_at(&self.template value<T>());
    } else {
      delete &self.template value<T>();
    }
  }

  template <class T>
  static constexpr Kind kKind{&AnyData::copy<T>, &AnyData::move<T>, &AnyData::end<T>};
  static void copy_nothing(const AnyData&, AnyData& to) { to.be_nothing(); }
  static void move_nothing(AnyData&, AnyData& to) noexcept { to.be_nothing(); }
  static void end_nothing(AnyData&) noexcept {}
  void be_nothing() noexcept {
    address_ = nullptr;
    kind_ = &kNothing;
  }
  static constexpr Kind kNothing{&AnyData::copy_nothing, &AnyData::move_nothing,
                                 &AnyData::end_nothing};

  const Kind* kind_;
  void* address_;
  alignas(kAlignment) std::byte inside_[kBytes];
};

}  // namespace eventpp
