// SPDX-License-Identifier: MIT
// One thread does all stages of an item after the other.
#include "scenarios/pipeline/measure.hpp"

namespace handoff::lab::pipeline {
namespace {

struct Loop {
  Loop(std::size_t /*width*/, const std::string& /*kind*/) {}
  void run(Work& work) {
    for (std::uint64_t item = 0; item < items; ++item) work.last(Work::middle(item));
  }
};

}  // namespace

Operation contender(const Task& task) { return measure<Loop>(task); }

}  // namespace handoff::lab::pipeline
