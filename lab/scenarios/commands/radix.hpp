// SPDX-License-Identifier: MIT
// The sort that the article suggests, as plain as it can be, and what `sort` is held against: by
// digits of 8 bits, the least significant first; digits that are the same in all keys cost one
// look. Keys and indices move, packets do not. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace handoff::lab::commands {

template <class Key>
class Radix {
 public:
  struct Item {
    Key key;
    std::uint32_t index;
  };

  // Items in their first order; sort() brings them into that of their keys.
  std::vector<Item>& items() { return items_; }

  void sort() {
    other_.resize(items_.size());
    std::array<std::array<std::uint32_t, kValues>, kDigits> counts{};
    for (const Item& item : items_) {
      for (std::size_t d = 0; d < kDigits; ++d) ++counts[d][digit(item.key, d)];
    }
    for (std::size_t d = 0; d < kDigits; ++d) {
      if (items_.empty() || counts[d][digit(items_[0].key, d)] == items_.size()) continue;
      std::uint32_t next = 0;
      for (std::uint32_t& count : counts[d]) next += std::exchange(count, next);
      for (const Item& item : items_) other_[counts[d][digit(item.key, d)]++] = item;
      items_.swap(other_);
    }
  }

 private:
  static constexpr std::size_t kBits = 8;
  static constexpr std::size_t kValues = std::size_t{1} << kBits;
  static constexpr std::size_t kDigits = sizeof(Key);

  static std::size_t digit(Key key, std::size_t d) {
    return static_cast<std::size_t>(key >> (d * kBits)) & (kValues - 1);
  }

  std::vector<Item> items_;
  std::vector<Item> other_;
};

// How many keys are below the one before.
template <class Items>
std::uint64_t falls_in(const Items& items) {
  std::uint64_t falls = 0;
  for (std::size_t i = 1; i < items.size(); ++i) falls += items[i].key < items[i - 1].key;
  return falls;
}

}  // namespace handoff::lab::commands
