// SPDX-License-Identifier: MIT
// tf::Pipeline: a line for each item under way. Its serial pipes are all in order.
#include <taskflow/algorithm/pipeline.hpp>
#include <taskflow/taskflow.hpp>

#include "scenarios/pipeline/measure.hpp"

namespace handoff::lab::pipeline {
namespace {

tf::PipeType type(bool parallel) {
  return parallel ? tf::PipeType::PARALLEL : tf::PipeType::SERIAL;
}

class Pipes {
 public:
  Pipes(std::size_t width, const std::string& kind)
      : executor_(width),
        middle_(type(kind == "parallel" || kind == "mixed")),
        last_(type(kind == "parallel")) {}

  void run(Work& work) {
    struct alignas(64) Line {
      std::uint64_t item;
    };
    std::array<Line, tokens> lines{};
    auto first = [&lines](tf::Pipeflow& flow) {
      if (flow.token() == items) return flow.stop();
      lines[flow.line()].item = flow.token();
    };
    auto middle = [&lines](tf::Pipeflow& flow) {
      std::uint64_t& item = lines[flow.line()].item;
      item = Work::middle(item);
    };
    auto last = [&](tf::Pipeflow& flow) { work.last(lines[flow.line()].item); };
    tf::Pipeline pipeline(tokens, tf::Pipe{tf::PipeType::SERIAL, std::move(first)},
                          tf::Pipe{middle_, std::move(middle)}, tf::Pipe{last_, std::move(last)});
    tf::Taskflow flow;
    flow.composed_of(pipeline);
    executor_.run(flow).wait();
  }

 private:
  tf::Executor executor_;
  tf::PipeType middle_;
  tf::PipeType last_;
};

}  // namespace

Operation contender(const Task& task) { return measure<Pipes>(task); }

}  // namespace handoff::lab::pipeline
