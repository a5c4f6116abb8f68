// SPDX-License-Identifier: MIT
//
// What the tests of sort, stable_sort, partition and merge share: items that count themselves, and
// inputs of every shape.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <handoff/graph/algorithm_options.hpp>
#include <iterator>
#include <new>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace handoff::test {

// Throws at the call that was chosen, once.
class ThrowsAt {
 public:
  static constexpr long never = -1;
  void set(long calls) noexcept { left_.store(calls); }
  void operator()() {
    if (left_.load(std::memory_order_relaxed) < 0) return;
    if (left_.fetch_sub(1) == 0) throw std::domain_error("it was told to");
  }
  // Whether it has thrown.
  bool has_thrown() const noexcept { return left_.load() < 0; }

 private:
  std::atomic<long> left_{never};
};

// Owns memory, so that a sanitizer sees an item that is lost or doubled; cannot be copied.
class Owner {
 public:
  explicit Owner(int value) : value_(new int(value)) {}
  Owner(Owner&& other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
  Owner& operator=(Owner&& other) noexcept {
    if (this != &other) delete std::exchange(value_, std::exchange(other.value_, nullptr));
    return *this;
  }
  ~Owner() { delete value_; }

  int value() const { return *value_; }
  friend bool operator==(const Owner& a, const Owner& b) { return a.value() == b.value(); }
  friend auto operator<=>(const Owner& a, const Owner& b) { return a.value() <=> b.value(); }

 private:
  int* value_;
};

// Its moves may throw: then they have done nothing.
class Fragile {
 public:
  explicit Fragile(int value) : value_(new int(value)) {}
  Fragile(Fragile&& other) : value_(nullptr) {
    moves();
    value_ = std::exchange(other.value_, nullptr);
  }
  Fragile& operator=(Fragile&& other) {
    moves();
    if (this != &other) delete std::exchange(value_, std::exchange(other.value_, nullptr));
    return *this;
  }
  ~Fragile() { delete value_; }

  int value() const { return *value_; }
  bool is_there() const noexcept { return value_ != nullptr; }
  friend bool operator==(const Fragile& a, const Fragile& b) { return a.value() == b.value(); }
  friend auto operator<=>(const Fragile& a, const Fragile& b) { return a.value() <=> b.value(); }

  inline static ThrowsAt moves;

 private:
  int* value_;
};

// Room that is counted, and given back.
class CountedResource {
 public:
  void* allocate(std::size_t bytes, std::size_t alignment) {
    if (calls++ == fails_at) throw std::bad_alloc();
    taken += bytes;
    most = std::max(most, taken);
    return ::operator new(bytes, std::align_val_t{alignment});
  }
  void deallocate(void* memory, std::size_t bytes, std::size_t alignment) noexcept {
    taken -= bytes;
    ::operator delete(memory, bytes, std::align_val_t{alignment});
  }

  static constexpr std::size_t never = ~std::size_t{0};
  std::size_t calls = 0;
  std::size_t fails_at = never;
  std::size_t taken = 0;
  std::size_t most = 0;
};

enum class Shape { random, sorted, reversed, equal, pipe, few, nearly, sawtooth, skewed };
inline constexpr std::array all_shapes{Shape::random, Shape::sorted,   Shape::reversed,
                                       Shape::equal,  Shape::pipe,     Shape::few,
                                       Shape::nearly, Shape::sawtooth, Shape::skewed};

inline std::vector<int> numbers_of(Shape shape, std::size_t count, std::mt19937_64& random) {
  std::vector<int> numbers(count);
  for (std::size_t i = 0; i < count; ++i) {
    const int place = static_cast<int>(i);
    const int last = static_cast<int>(count);
    switch (shape) {
      case Shape::random: numbers[i] = static_cast<int>(random()); break;
      case Shape::sorted: numbers[i] = place / 2; break;
      case Shape::reversed: numbers[i] = -place; break;
      case Shape::equal: numbers[i] = 7; break;
      case Shape::pipe: numbers[i] = std::min(place, last - place); break;
      case Shape::few: numbers[i] = static_cast<int>(random() % 5) - 2; break;
      case Shape::nearly:
        numbers[i] = random() % 64 == 0 ? static_cast<int>(random() % count) : place;
        break;
      case Shape::sawtooth: numbers[i] = place % (last / 3 + 1); break;
      case Shape::skewed: numbers[i] = random() % 50 == 0 ? static_cast<int>(random()) : place % 9;
    }
  }
  return numbers;
}

// A copy in a stable order. std::stable_sort uses what compilers warn of.
template <class Items, class Less>
Items stably_sorted(const Items& items, Less less) {
  std::vector<std::size_t> index(items.size());
  for (std::size_t i = 0; i < index.size(); ++i) index[i] = i;
  std::ranges::sort(index, [&](std::size_t a, std::size_t b) {
    return less(items[a], items[b]) || (!less(items[b], items[a]) && a < b);
  });
  Items sorted;
  for (const std::size_t i : index) sorted.push_back(items[i]);
  return sorted;
}

}  // namespace handoff::test
