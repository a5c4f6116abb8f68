// SPDX-License-Identifier: MIT
// oneTBB's parallel_pipeline.
#include <tbb/global_control.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include "scenarios/pipeline/measure.hpp"

namespace handoff::lab::pipeline {
namespace {

tbb::filter_mode mode(const std::string& kind) {
  if (kind == "parallel") return tbb::filter_mode::parallel;
  if (kind == "serial") return tbb::filter_mode::serial_out_of_order;
  return tbb::filter_mode::serial_in_order;
}

class Filters {
 public:
  Filters(std::size_t width, const std::string& kind)
      : threads_(tbb::global_control::max_allowed_parallelism, width),
        arena_(static_cast<int>(width), 1),
        middle_(mode(kind == "mixed" ? "parallel" : kind)),
        last_(mode(kind)) {}

  void run(Work& work) {
    std::uint64_t next = 0;
    const auto first = tbb::make_filter<void, std::uint64_t>(
        tbb::filter_mode::serial_in_order, [&next](tbb::flow_control& control) -> std::uint64_t {
          if (next == items) control.stop();
          return next++;
        });
    const auto middle = tbb::make_filter<std::uint64_t, std::uint64_t>(
        middle_, [](std::uint64_t item) { return Work::middle(item); });
    const auto last = tbb::make_filter<std::uint64_t, void>(
        last_, [&work](std::uint64_t item) { work.last(item); });
    arena_.execute([&] { tbb::parallel_pipeline(tokens, first & middle & last); });
  }

 private:
  tbb::global_control threads_;
  tbb::task_arena arena_;
  tbb::filter_mode middle_;
  tbb::filter_mode last_;
};

}  // namespace

Operation contender(const Task& task) { return measure<Filters>(task); }

}  // namespace handoff::lab::pipeline
