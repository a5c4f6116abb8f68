// SPDX-License-Identifier: MIT
#include "scenarios/commands/scenario.hpp"

#include <fmt/format.h>

#include "harness/answer_problem.hpp"
#include "scenarios/commands/articles.hpp"
#include "scenarios/commands/work.hpp"

namespace handoff::lab::commands {
namespace {

class Recording final : public AnswerProblem<Answer> {
 public:
  explicit Recording(const Cell& cell)
      : metric_(cell.metric()),
        calls_(cell.number("calls")),
        sum_(sum_of_all(static_cast<std::size_t>(calls_))) {}

  double metric(const Reading& reading) const override {
    constexpr double ns_per_ms = 1e6;
    if (metric_ == "shared_rmw") return reading.figure("shared_rmw");
    return metric_ == "frame" ? reading.ns_per_item() / ns_per_ms : reading.ns_per_item();
  }
  std::chrono::nanoseconds slowest_operation() const override { return std::chrono::seconds(30); }

 private:
  std::optional<std::string> fault_of(const Answer& answer) const override {
    const std::uint64_t wanted = answer.operations * calls_;
    if (answer.commands != wanted) {
      return fmt::format("dispatched {} commands of {}", answer.commands, wanted);
    }
    if (answer.sum != answer.operations * sum_) {
      return "the hash of all arguments is wrong";
    }
    if (answer.misplaced != 0) {
      return fmt::format("{} commands came out of their order", answer.misplaced);
    }
    return {};
  }

  std::string metric_;
  std::uint64_t calls_;
  std::uint64_t sum_;  // of an operation
};

class Commands final : public Scenario {
 public:
  std::string name() const override { return "commands"; }
  std::string summary() const override {
    return "a frame's commands, recorded by threads, sorted by key, dispatched in that order";
  }

  const std::vector<Metric>& metrics() const override {
    static const std::vector<Metric> metrics{
        {"add", "ns", false,
         "a command recorded: its arguments written in place, with a key or appended; all threads "
         "begin together"},
        {"sort", "ns", false, "a command sorted by its key, in three buckets"},
        {"submit", "ns", false,
         "a command dispatched in the order of keys; all its arguments are hashed"},
        {"frame", "ms", false, "a whole frame: added, sorted and dispatched once"},
        {"command", "ns", false, "a command of such a whole frame"},
        {"shared_rmw", "operations", false,
         "a command that is added: read-modify-writes of memory that threads share, on any number "
         "of cores"}};
    return metrics;
  }

  const std::vector<Parameter>& parameters() const override {
    static const std::vector<Parameter> parameters{
        {"threads", "threads that take part", {"1", "2", "8"}, {}, 1, 64},
        {"calls", "commands of a frame, a multiple of 200", {"40000"}, {}, 200, 4'000'000},
        {"key_bits", "of a key", {"64"}, {"16", "32", "64"}},
        {"work", "rounds of other work for each component, about 2 ns each", {"0"}, {}, 0, 10'000},
        {"keys",
         "64 materials and 4096 depths, or all bits at random",
         {"article", "random"},
         {"article", "random"},
         0,
         0,
         {"sort"}}};
    return parameters;
  }

  std::vector<Article> articles() const override { return articles_of_commands(); }
  std::vector<Calibration> calibrations() const override { return calibrations_of_commands(); }

  std::shared_ptr<const Problem> problem(const Cell& cell) override {
    return std::make_shared<Recording>(cell);
  }
};

}  // namespace

std::unique_ptr<Scenario> make_scenario() { return std::make_unique<Commands>(); }

}  // namespace handoff::lab::commands
