// SPDX-License-Identifier: MIT
// `grain`: the smallest task that a way still runs at half of full efficiency.
#include "peers/answer.hpp"
#include "scenarios/grain/sweep.hpp"
#include "scenarios/registry.hpp"
#include "scenarios/rules.hpp"

namespace handoff::lab::grain { namespace {

std::shared_ptr<const Problem> sweep_problem() {
  constexpr std::uint64_t slowest_task_ns = 20'000;
  peers::Answer right{};
  for (const std::size_t size : sizes) {
    const peers::Answer part = peers::right_answer(tasks_of(size), trials);
    right.runs += part.runs;
    right.sum += part.sum;
  }
  return problem_by<peers::Answer>(
      {.fault = [right](const auto& answer) { return peers::fault_of(answer, right); },
       .metric = [](const Reading& reading) { return reading.figure("metg50"); },
       .slowest_operation = std::chrono::nanoseconds(right.runs * slowest_task_ns)});
}

class Fill final : public ProblemWithoutInput {
 public:
  explicit Fill(const Cell& cell) : count_(cell.number("count")) {}

  std::size_t answer_bytes() const override { return count_ * sizeof(Tiny); }

  std::optional<std::string> fault(bool /*of_a_limit*/,
                                   std::span<const std::byte> bytes) const override {
    for (std::size_t i = 0; i < count_; ++i) {
      Tiny item{};
      std::memcpy(&item, &bytes[i * sizeof item], sizeof item);
      const Tiny right = tiny(static_cast<Tiny>(i));
      if (item != right) return fmt::format("item {} is {:#x}, right is {:#x}", i, item, right);
    }
    return {};
  }

  std::chrono::nanoseconds slowest_operation() const override {
    constexpr std::uint64_t slowest_item_ns = 1'000;
    return std::chrono::milliseconds(500) + std::chrono::nanoseconds(count_ * slowest_item_ns);
  }

 private:
  std::size_t count_;
};

std::shared_ptr<const Problem> short_loops(std::size_t width) {
  constexpr std::uint64_t slowest_loop_ns = 30'000'000;  // members that spin among others' work
  constexpr std::uint64_t slowest_index_ns = 200'000;  // a thread started for each
  return problem_by<peers::Answer>(
      {.fault = [right = peers::right_answer(width, loops)](
                    const auto& answer) { return peers::fault_of(answer, right); },
       // What a loop takes beyond the work of one of its indices. Less than a nanosecond is not
       // told from nothing, and ratios need something.
       .metric =
           [](const Reading& reading) {
             const double beyond = reading.ns_per_item() - reading.figure("work");
             return beyond < 1 ? 1 : beyond;  // NaN stays
           },
       .slowest_operation =
           std::chrono::milliseconds(500) +
           std::chrono::nanoseconds(loops * (slowest_loop_ns + width * slowest_index_ns))});
}

}}  // namespace handoff::lab::grain

handoff::lab::ScenarioTable handoff::lab::grain_scenario() {
  using namespace grain;
  return {
      .name = "grain",
      .summary =
          "tasks of every size from a nanosecond on: which share of the threads' time is work?",
      .metrics = {{"metg50", "ns", false,
                   "work in the smallest task that reaches half of full efficiency; 65 us means 65 "
                   "us or more"},
                  {"loop", "ns", false,
                   "one of `count` tiny items of a loop, without a given grain"},
                  {"loop_1us", "ns", false,
                   "a loop with 1 us of work for each of `width` threads, without that 1 us"}},
      .parameters =
          {Parameter::one_of("unit", "what is handed over: a task, or an index of a loop",
                             {"task", "index"}, {"metg50"}),
           {"count", "items of the loop", {"1000000"}, {}, 1, 10'000'000, {"loop"}},
           {"width", "threads that execute, the caller included where it helps", {"2"}, {}, 1, 64}},
      .problem = [](const Cell& cell) -> std::shared_ptr<const Problem> {
        if (cell.metric() == "loop") return std::make_shared<Fill>(cell);
        if (cell.metric() == "loop_1us") return short_loops(cell.number("width"));
        return sweep_problem();
      }};
}
