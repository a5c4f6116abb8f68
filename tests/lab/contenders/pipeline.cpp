// SPDX-License-Identifier: MIT
// Pipelines on one thread, of which one lets two items change places, and one loses the last stage
// of one; and a program that leaves out a byte of what it compresses.
#include "scenarios/pipeline/measure.hpp"

namespace handoff::lab::pipeline {
namespace {

template <bool overtakes>
struct Liar {
  Liar(std::size_t /*width*/, const std::string& /*kind*/) {}
  void run(Work& work) {
    for (std::uint64_t item = 0; item < items; ++item) {
      const std::uint64_t taken = overtakes && item / 2 == 3 ? item ^ 1 : item;
      const std::uint64_t made = Work::middle(taken);
      if (overtakes || item != 7) work.last(made);
    }
  }
};

Operation shortens(const Task& task) {
  return [&task, all = text((task.mib << 20) - 1)](Burst& burst) {
    burst.figure("size", 50);
    *task.output = {{all.size(), 0}, digest_of(all), 0};
  };
}

}  // namespace

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>({{"peer.overtakes", measure<Liar<true>>},
                                         {"peer.forgets", measure<Liar<false>>},
                                         {"peer.shortens", shortens}})(task);
}

}  // namespace handoff::lab::pipeline
