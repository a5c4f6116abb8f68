// SPDX-License-Identifier: MIT
//
// The names of sync/ in their second meaning: the same interfaces, each access a step of a model.
//
// Included by the headers of those names when HANDOFF_EXPLORE is defined, and by nobody else. What
// the names promise stands in those headers.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <explore/engine/model.hpp>
#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

namespace model = explore::model;
using order = model::order;
using model::Where;

template <class T>
class atomic {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(std::uint64_t));

 public:
  constexpr explicit atomic(T value) noexcept : location_{to_bits(value)} {
    if (!std::is_constant_evaluated()) model::construct(location_);
  }
  ~atomic() { model::destroy(location_, Where::current()); }
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  T load(order o, Where at = Where::current()) const noexcept {
    return from_bits(model::load(location_, o, at));
  }
  void store(T value, order o, Where at = Where::current()) noexcept {
    model::store(location_, to_bits(value), o, at);
  }
  T exchange(T value, order o, Where at = Where::current()) noexcept {
    return modify(model::Rmw::exchange, value, o, at);
  }
  bool compare_exchange_weak(T& expected, T desired, order success, order failure,
                             Where at = Where::current()) noexcept {
    return compare_exchange(expected, desired, true, success, failure, at);
  }
  bool compare_exchange_strong(T& expected, T desired, order success, order failure,
                               Where at = Where::current()) noexcept {
    return compare_exchange(expected, desired, false, success, failure, at);
  }
  T fetch_add(T value, order o, Where at = Where::current()) noexcept {
    return modify(model::Rmw::add, value, o, at);
  }
  T fetch_sub(T value, order o, Where at = Where::current()) noexcept {
    return modify(model::Rmw::subtract, value, o, at);
  }
  T fetch_or(T value, order o, Where at = Where::current()) noexcept {
    return modify(model::Rmw::bit_or, value, o, at);
  }
  T fetch_and(T value, order o, Where at = Where::current()) noexcept {
    return modify(model::Rmw::bit_and, value, o, at);
  }
  T fetch_xor(T value, order o, Where at = Where::current()) noexcept {
    return modify(model::Rmw::bit_xor, value, o, at);
  }

  model::Location& location() const noexcept { return location_; }

 private:
  static constexpr std::uint64_t kMask =
      sizeof(T) == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * sizeof(T) % 64)) - 1;

  static constexpr std::uint64_t to_bits(T value) noexcept {
    if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
      return static_cast<std::uint64_t>(value) & kMask;
    } else if constexpr (std::is_null_pointer_v<T>) {
      return 0;
    } else {
      if (std::is_constant_evaluated()) return 0;  // a constant of these types is a null pointer
      std::uint64_t bits = 0;
      std::memcpy(&bits, &value, sizeof value);
      return bits;
    }
  }
  static T from_bits(std::uint64_t bits) noexcept {
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  T modify(model::Rmw how, T value, order o, const Where& at) noexcept {
    return from_bits(model::modify(location_, how, to_bits(value), kMask, o, at));
  }
  bool compare_exchange(T& expected, T desired, bool weak, order success, order failure,
                        const Where& at) noexcept {
    std::uint64_t bits = to_bits(expected);
    if (model::compare_exchange(location_, bits, to_bits(desired), weak, success, failure, at)) {
      return true;
    }
    expected = from_bits(bits);
    return false;
  }

  mutable model::Location location_;
};

template <class T>
class cell {
 public:
  cell(Where at = Where::current()) : value_{} { made(at); }
  explicit cell(T value, Where at = Where::current()) : value_(std::move(value)) { made(at); }
  ~cell() { model::access(accesses_, model::Access::destroy, Where::current()); }
  cell(const cell&) = delete;
  cell& operator=(const cell&) = delete;

  const T& read(Where at = Where::current()) const noexcept {
    model::access(accesses_, model::Access::read, at);
    return value_;
  }
  T& write(Where at = Where::current()) noexcept {
    model::access(accesses_, model::Access::write, at);
    return value_;
  }

 private:
  void made(const Where& at) { model::access(accesses_, model::Access::construct, at); }

  mutable model::Accesses accesses_;
  T value_;
};

template <class T>
class raw_cell {
 public:
  raw_cell() noexcept { accesses_.alive = accesses_.initially_alive = false; }
  ~raw_cell() {}
  raw_cell(const raw_cell&) = delete;
  raw_cell& operator=(const raw_cell&) = delete;

  template <class... Args>
  T& construct(Args&&... args) noexcept(std::is_nothrow_constructible_v<T, Args...>) {
    model::access(accesses_, model::Access::construct, Where::current());
    return *std::construct_at(std::addressof(value_), std::forward<Args>(args)...);
  }
  const T& read(Where at = Where::current()) const noexcept {
    model::access(accesses_, model::Access::read, at);
    return value_;
  }
  T& write(Where at = Where::current()) noexcept {
    model::access(accesses_, model::Access::write, at);
    return value_;
  }
  void destroy(Where at = Where::current()) noexcept {
    model::access(accesses_, model::Access::destroy, at);
    std::destroy_at(std::addressof(value_));
  }

 private:
  mutable model::Accesses accesses_;
  union {
    T value_;
  };
};

inline void fence(order o, Where at = Where::current()) noexcept { model::fence(o, at); }
inline void asymmetric_fence_light() noexcept {}  // a compiler's matter: all is in the heavy half
inline bool light_fence_is_free() noexcept { return true; }
inline void asymmetric_fence_heavy(Where at = Where::current()) noexcept { model::fence_heavy(at); }

inline void pause(Where at = Where::current()) noexcept { model::pause(at); }
inline void yield(Where at = Where::current()) noexcept { model::pause(at); }
inline void point(const char* label, Where at = Where::current()) noexcept {
  model::point(label, at);
}

[[nodiscard]] inline void* allocate(std::size_t bytes, std::size_t alignment,
                                    Where at = Where::current()) {
  void* const memory = model::allocate(bytes, alignment, at);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[nodiscard]] inline void* try_allocate(std::size_t bytes, std::size_t alignment,
                                        Where at = Where::current()) noexcept {
  return model::allocate(bytes, alignment, at);
}
inline void deallocate(void* memory, std::size_t, std::size_t,
                       Where at = Where::current()) noexcept {
  model::deallocate(memory, at);
}

template <class T, class Tag>
struct thread_slot {
  static T& get() noexcept {
    static const char key = 0;
    return *static_cast<T*>(model::thread_value(
        &key, [] { return static_cast<void*>(new T{}); },
        [](void* value) { delete static_cast<T*>(value); }));
  }
};

}}}  // namespace handoff::HANDOFF_ABI::sync
