// SPDX-License-Identifier: MIT
#include "scenarios/try/scenario.hpp"

#include <handoff/sync/cpu_budget.hpp>

#include "harness/answer_problem.hpp"

namespace handoff::lab::trial {

class KernelProblem final : public AnswerProblem<Answer> {
 public:
  explicit KernelProblem(std::chrono::nanoseconds limit) : slowest_(limit / 2) {}

  double metric(const Reading& reading) const override { return reading.ns_per_item() / 1000; }
  std::chrono::nanoseconds slowest_operation() const override { return slowest_; }

  void set_reference(std::uint64_t digest, std::chrono::nanoseconds pass) {
    constexpr int passes = 8;  // before the first answer, on a busy machine
    reference_ = digest;
    slowest_ = std::max(slowest_, passes * pass);
  }

 private:
  std::optional<std::string> fault_of(const Answer& answer) const override {
    const auto two = [&](const char* text) {
      return fmt::format(fmt::runtime(text), answer.digest, answer.other);
    };
    switch (answer.fault) {
      case Fault::none: break;
      case Fault::other_items:
        return fmt::format("{} items were run in a pass over {}", answer.other, answer.items);
      case Fault::other_order:
        return two(
            "its result depends on the order of its items: digest {:016x}, backwards "
            "{:016x}");
      case Fault::other_pass:
        return two("its digest changes from pass to pass: {:016x}, later {:016x}");
      default: return "it left its answer untouched";
    }
    if (!reference_ || answer.digest == *reference_) return {};
    return fmt::format("digest {:016x}, but the first serial run had {:016x}", answer.digest,
                       *reference_);
  }

  std::optional<std::uint64_t> reference_;
  std::chrono::nanoseconds slowest_;
};

namespace {

std::vector<Variable> variables_of(const std::filesystem::path& kernel) {
  return {{kKernelVariable, kernel.string()}};
}

ScenarioTable table_of(const std::filesystem::path& kernel,
                       const std::shared_ptr<KernelProblem>& problem) {
  return {.name = "try",
          .summary = "your own loop, in a shared object",
          .metrics = {{"pass", "us", false, "all items of the kernel, once"}},
          .parameters = {{"width",
                          "threads or processes that run items, the caller included where it helps",
                          {std::to_string(sync::cpu_budget().width())},
                          {},
                          1,
                          1024},
                         {"block", "items in one hand-over, at least", {}, {}, 1, 1'000'000'000}},
          .problem = [problem](const Cell& /*cell*/) { return problem; },
          .variables = [kernel](const auto&...) { return variables_of(kernel); }};
}

}  // namespace

Trial::Trial(std::filesystem::path kernel, std::chrono::nanoseconds limit)
    : Trial(std::move(kernel), std::make_shared<KernelProblem>(limit)) {}

Trial::Trial(std::filesystem::path kernel, std::shared_ptr<KernelProblem> problem)
    : Scenario(table_of(kernel, problem)),
      kernel_(std::move(kernel)),
      problem_(std::move(problem)) {}

std::vector<Variable> Trial::variables() const { return variables_of(kernel_); }

void Trial::set_reference(std::uint64_t digest, std::chrono::nanoseconds pass) {
  problem_->set_reference(digest, pass);
}

}  // namespace handoff::lab::trial
