// SPDX-License-Identifier: MIT
//
// A table of addresses: what is known of each of them. No allocation an entry, as a hand-over comes
// and goes with each task of a program.
//
// Concurrency: one thread's. Allocates: when it grows. Exceptions: std::bad_alloc.
// Source: D. Knuth, The Art of Computer Programming, volume 3, 6.4: linear probing, and algorithm R
//   for taking out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace trace {

template <class T>
class AddressTable {
 public:
  // Null: nothing is known. Pointers hold until the next change.
  T* find(std::uint64_t address) noexcept {
    if (slots_.empty()) return nullptr;
    Slot& slot = slots_[place_of(address + 1)];
    return slot.key == 0 ? nullptr : &slot.value;
  }

  // What is known of it, or, if nothing was, `value` from here on, and true.
  std::pair<T*, bool> try_emplace(std::uint64_t address, const T& value) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[place_of(address + 1)];
    const bool is_new = slot.key == 0;
    if (is_new) {
      slot = {address + 1, value};
      ++used_;
    }
    return {&slot.value, is_new};
  }
  T& operator[](std::uint64_t address) { return *try_emplace(address, T{}).first; }

  // Erases an address that is there.
  void erase(std::uint64_t address) noexcept {
    std::size_t hole = place_of(address + 1);
    --used_;
    for (std::size_t next = after(hole); slots_[next].key != 0; next = after(next)) {
      // It moves up, unless it would come before the place where the search for it begins.
      const std::size_t home = first_place_of(slots_[next].key);
      if (((next - home) & mask()) < ((next - hole) & mask())) continue;
      slots_[hole] = slots_[next];
      hole = next;
    }
    slots_[hole].key = 0;
  }

 private:
  static constexpr std::size_t kFewest = 64;
  struct Slot {
    std::uint64_t key = 0;  // the address and 1; 0: empty
    T value{};
  };

  std::size_t mask() const noexcept { return slots_.size() - 1; }
  std::size_t after(std::size_t place) const noexcept { return (place + 1) & mask(); }
  std::size_t first_place_of(std::uint64_t key) const noexcept {
    constexpr std::uint64_t golden = 0x9E3779B97F4A7C15;
    constexpr unsigned half = 32;
    return static_cast<std::size_t>((key * golden) >> half) & mask();
  }
  // Where it is, or would be.
  std::size_t place_of(std::uint64_t key) const noexcept {
    std::size_t place = first_place_of(key);
    while (slots_[place].key != key && slots_[place].key != 0) place = after(place);
    return place;
  }

  void grow() {
    std::vector<Slot> before(slots_.empty() ? kFewest : 2 * slots_.size());
    before.swap(slots_);
    for (const Slot& slot : before) {
      if (slot.key != 0) slots_[place_of(slot.key)] = slot;
    }
  }

  std::vector<Slot> slots_;  // a power of two, at most half of them used
  std::size_t used_ = 0;
};

}}}  // namespace handoff::HANDOFF_ABI::trace
