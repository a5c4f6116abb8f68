// SPDX-License-Identifier: MIT
// Algorithms that are right but for one item.
#include "scenarios/algorithms/measure.hpp"

namespace handoff::lab::algorithms {
namespace {

enum class Lie : std::uint8_t { unsorts, doubles, shuffles, miscounts };

template <Lie kLie>
struct Liar {
  explicit Liar(std::size_t /*width*/) {}

  template <class T>
  void stable_sort(std::span<T> items) {
    std::stable_sort(items.begin(), items.end(), Below<T>());
    if (kLie == Lie::unsorts) std::swap(items.front(), items.back());
    if (kLie == Lie::doubles) items[1] = items[0];
    if (kLie == Lie::shuffles) std::reverse(items.begin(), items.end());
  }
  void scan(std::span<const Int> in, std::span<Int> out) {
    std::partial_sum(in.begin(), in.end(), out.begin());
    if (kLie == Lie::miscounts) ++out.back();
  }
};

}  // namespace

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>({{"peer.unsorts", measure<Liar<Lie::unsorts>>},
                                         {"peer.doubles", measure<Liar<Lie::doubles>>},
                                         {"peer.shuffles", measure<Liar<Lie::shuffles>>},
                                         {"peer.miscounts", measure<Liar<Lie::miscounts>>}})(task);
}

}  // namespace handoff::lab::algorithms
