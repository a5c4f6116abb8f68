// SPDX-License-Identifier: MIT
// Keys and indices that are sorted, where packets do not move.
#pragma once

#include "scenarios/commands/measure.hpp"

namespace handoff::lab::commands {

// The sort that the article suggests, as plain as it can be, and what `sort` is held against: by
// digits of 8 bits, the least significant first; digits that are the same in all keys cost one
// look. One thread.
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

// Contenders of `sort` alone: keys and indices of three buckets are there, and a Sorter<Key> with
// `void operator()(std::vector<Item>&)` sorts each; equal keys in the order of their indices, which
// are then dispatched.
template <class Key, class Sorter>
class SortedKeys {
 public:
  using Item = typename Radix<Key>::Item;

  SortedKeys(const Task& task, Crew& crew) : task_(task), sorter_(crew.threads()) {}

  void begin() {
    for (std::uint32_t pass = 0; pass < kPasses; ++pass) {
      passes_[pass].clear();
      for (std::size_t i = 0; i < task_.components(); ++i) {
        const auto key = key_of<Key>(task_.keys, static_cast<Pass>(pass), i);
        passes_[pass].push_back({key, static_cast<std::uint32_t>(i)});
      }
    }
  }
  void add() {}
  void sort() {
    for (std::vector<Item>& items : passes_) sorter_(items);
  }
  void dispatch(Sink& sink) {
    for (const Item& item : passes_[kGbuffer]) sink.draw(draw_of(kGbuffer, item.index));
    for (const Item& item : passes_[kShadow]) sink.draw(draw_of(kShadow, item.index));
    for (const Item& item : passes_[kLighting]) {
      sink.map({item.index});
      sink.light(draw_of(kLighting, item.index));
    }
  }
  std::uint64_t misplaced() {
    std::uint64_t falls = 0;
    for (const std::vector<Item>& items : passes_) {
      falls += falls_in(items);
      for (std::size_t i = 1; i < items.size(); ++i) {
        falls += items[i].key == items[i - 1].key && items[i].index < items[i - 1].index;
      }
    }
    return falls;
  }
  double shared_rmw(double claims) const { return claims; }

 private:
  const Task& task_;
  Sorter sorter_;
  std::array<std::vector<Item>, kPasses> passes_;
};

}  // namespace handoff::lab::commands
