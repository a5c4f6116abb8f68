// SPDX-License-Identifier: MIT
// A Pipeline on a pool. The caller works with the pool's threads.
#include <handoff/graph/pipeline.hpp>
#include <handoff/pool/thread_pool.hpp>

#include "scenarios/pipeline/measure.hpp"

namespace handoff::lab::pipeline {
namespace {

class OnPool {
 public:
  OnPool(std::size_t width, const std::string& kind)
      : pool_({.width = std::max<std::size_t>(width - 1, 1)}), kind_(kind) {}

  void run(Work& work) {
    const auto middle = [](std::uint64_t item) { return Work::middle(item); };
    const auto last = [&work](std::uint64_t item) { work.last(item); };
    if (kind_ == "serial") return run(serial_stage(middle), serial_stage(last));
    if (kind_ == "parallel") return run(parallel_stage(middle), parallel_stage(last));
    if (kind_ == "in_order") return run(ordered_stage(middle), ordered_stage(last));
    return run(parallel_stage(middle), ordered_stage(last));
  }

 private:
  template <class Middle, class Last>
  void run(Middle middle, Last last) {
    auto first = [next = std::uint64_t{0}]() mutable -> std::optional<std::uint64_t> {
      if (next == items) return {};
      return next++;
    };
    Pipeline(pool_, {.tokens = tokens}, std::move(first), std::move(middle), std::move(last)).run();
  }

  ThreadPool pool_;
  std::string kind_;
};

}  // namespace

Operation contender(const Task& task) { return measure<OnPool>(task); }

}  // namespace handoff::lab::pipeline
