// SPDX-License-Identifier: MIT
// What most problems have in common: no input, since their contenders make it themselves, and an
// answer that is one value.
#pragma once

#include "harness/scenario.hpp"

namespace handoff::lab {

class ProblemWithoutInput : public Problem {
 public:
  ProblemWithoutInput() { input_.seal(); }
  const MemoryFile& input() const final { return input_; }
  double metric(const Reading& reading) const override { return reading.ns_per_item(); }

 private:
  MemoryFile input_{"no input", 0};
};

// Limits answer like the others: what they leave out is what makes the work safe or shared.
template <class Answer>
class AnswerProblem : public ProblemWithoutInput {
 public:
  std::size_t answer_bytes() const final { return sizeof(Answer); }
  std::optional<std::string> fault(bool /*of_a_limit*/,
                                   std::span<const std::byte> bytes) const final {
    static_assert(std::is_trivially_copyable_v<Answer>);
    Answer answer{};
    std::memcpy(&answer, bytes.data(), sizeof answer);
    return fault_of(answer);
  }

 private:
  [[nodiscard]] virtual std::optional<std::string> fault_of(const Answer& answer) const = 0;
};

}  // namespace handoff::lab
