// SPDX-License-Identifier: MIT
// Runs every piece on the spot: but for the eighth of each loop, or the seventh in its place.
#include "scenarios/loads/measure.hpp"

namespace handoff::lab::loads {
namespace {

template <bool redoes>
struct Liar {
  explicit Liar(std::size_t /*width*/) {}
  template <class Body>
  void loop(std::size_t count, const Body& body) {
    for (std::size_t i = 0; i < count; ++i) {
      if (i != 7 || redoes) body(i == 7 ? 6 : i);
    }
  }
};

}  // namespace

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>(
      {{"peer.misses", measure<Liar<false>>}, {"peer.redoes", measure<Liar<true>>}})(task);
}

}  // namespace handoff::lab::loads
