// SPDX-License-Identifier: MIT
// Contenders of `sort` alone: keys and indices of three buckets are there, and a Sorter<Key> with
// `void operator()(std::vector<Item>&)` sorts each; equal keys in the order of their indices, which
// are then dispatched.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "scenarios/commands/measure.hpp"
#include "scenarios/commands/radix.hpp"

namespace handoff::lab::commands {

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
