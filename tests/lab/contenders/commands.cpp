// SPDX-License-Identifier: MIT
// A sort that is right, and a lie about each bucket that comes of it.
#include "scenarios/commands/sorted_keys.hpp"

namespace handoff::lab::commands {
namespace {

enum class Lie : std::uint8_t { unsorts, omits, alters };

template <Lie kLie>
struct Liar {
  template <class Key>
  struct Sorter {
    explicit Sorter(std::size_t /*threads*/) {}
    void operator()(std::vector<typename Radix<Key>::Item>& items) {
      std::stable_sort(items.begin(), items.end(),
                       [](const auto& a, const auto& b) { return a.key < b.key; });
      if (kLie == Lie::unsorts) std::swap(items.front(), items.back());
      if (kLie == Lie::omits) items.pop_back();                      // is never dispatched
      if (kLie == Lie::alters) items[1].index = items[0].index;      // another one's arguments
    }
  };
  template <class Key>
  using Scheme = SortedKeys<Key, Sorter<Key>>;
};

}  // namespace

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>({{"peer.unsorts", measure<Liar<Lie::unsorts>::Scheme>},
                                         {"peer.omits", measure<Liar<Lie::omits>::Scheme>},
                                         {"peer.alters", measure<Liar<Lie::alters>::Scheme>}})(
      task);
}

}  // namespace handoff::lab::commands
