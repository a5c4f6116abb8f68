// SPDX-License-Identifier: MIT
// A problem whose answer is one value, as a table of what is right.
#pragma once

#include "harness/answer_problem.hpp"

namespace handoff::lab {

using Wrong = std::optional<std::string>;

template <class Answer>
struct Rules {
  // What is wrong with an answer, or nothing.
  std::function<Wrong(const Answer&)> fault;
  std::function<double(const Reading&)> metric = &Reading::ns_per_item;
  std::chrono::nanoseconds slowest_operation = std::chrono::seconds(20);
  bool threads_share_cpus = false;
};

template <class Answer>
std::shared_ptr<const Problem> problem_by(Rules<Answer> rules) {
  class ByRules final : public AnswerProblem<Answer> {
   public:
    explicit ByRules(Rules<Answer> rules) : rules_(std::move(rules)) {}
    double metric(const Reading& reading) const override { return rules_.metric(reading); }
    std::chrono::nanoseconds slowest_operation() const override { return rules_.slowest_operation; }
    bool threads_share_cpus() const override { return rules_.threads_share_cpus; }

   private:
    Wrong fault_of(const Answer& answer) const override { return rules_.fault(answer); }

    Rules<Answer> rules_;
  };
  return std::make_shared<ByRules>(std::move(rules));
}

}  // namespace handoff::lab
