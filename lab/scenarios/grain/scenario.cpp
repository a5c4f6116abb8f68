// SPDX-License-Identifier: MIT
#include "scenarios/grain/scenario.hpp"

#include "scenarios/grain/sweep.hpp"
#include "scenarios/pools/answer.hpp"
#include "scenarios/pools/fault.hpp"

namespace handoff::lab::grain {
namespace {

class Sweep final : public Problem {
 public:
  Sweep() : input_("grain input", 1) {
    input_.seal();
    for (const std::size_t size : sizes) {
      const pools::Answer part = pools::right_answer(tasks_of(size), trials);
      right_.runs += part.runs;
      right_.sum += part.sum;
    }
  }

  const MemoryFile& input() const override { return input_; }
  std::size_t answer_bytes() const override { return sizeof(pools::Answer); }

  std::optional<std::string> fault(bool /*of_a_limit*/,
                                   std::span<const std::byte> bytes) const override {
    return pools::fault_of(bytes, right_);
  }

  double metric(const Reading& reading) const override { return reading.figure("metg50"); }

  std::chrono::nanoseconds slowest_operation() const override {
    constexpr std::uint64_t slowest_task_ns = 20'000;
    return std::chrono::nanoseconds(right_.runs * slowest_task_ns);
  }

 private:
  MemoryFile input_;
  pools::Answer right_{};
};

class Grain final : public Scenario {
 public:
  std::string name() const override { return "grain"; }
  std::string summary() const override {
    return "tasks of every size, from a nanosecond on: how much of the threads' time is work?";
  }

  const std::vector<Metric>& metrics() const override {
    static const std::vector<Metric> metrics{
        {"metg50", "ns", false, "work in the smallest task that runs at half of full efficiency"}};
    return metrics;
  }

  const std::vector<Parameter>& parameters() const override {
    static const std::vector<Parameter> parameters{
        {"unit", "what is handed over: a task, or an index of a loop", {"task", "index"},
         {"task", "index"}},
        {"width", "threads that execute, the caller included where it helps", {"2"}, {}, 1, 64}};
    return parameters;
  }

  std::shared_ptr<const Problem> problem(const Cell& /*cell*/) override {
    return std::make_shared<Sweep>();
  }
};

}  // namespace

std::unique_ptr<Scenario> make_scenario() {
  return std::make_unique<Grain>();
}

}  // namespace handoff::lab::grain
