// SPDX-License-Identifier: MIT
// The scenario `machine`: what the machine itself takes for that of which hand-overs are made.
#include "scenarios/registry.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "harness/answer_problem.hpp"
#include "scenarios/machine/answer.hpp"
#include "scenarios/machine/chase.hpp"

namespace handoff::lab::machine { namespace {

// What was to be done, so many times, and what it has to come to.
class Bare : public AnswerProblem<Answer> {
 public:
  Bare(const char* what, std::uint64_t count) : what_(what), count_(count) {}
  std::chrono::nanoseconds slowest_operation() const override { return std::chrono::seconds(10); }

 private:
  [[nodiscard]] virtual std::uint64_t result_after(const Answer& answer) const = 0;

  std::optional<std::string> fault_of(const Answer& answer) const final {
    if (answer.count != count_) {
      return fmt::format("did {} {}, asked for were {}", answer.count, what_, count_);
    }
    const std::uint64_t right = result_after(answer);
    if (answer.result == right) return {};
    return fmt::format("after {} {} its result is {}, not {}", count_, what_, answer.result, right);
  }

  const char* what_;
  std::uint64_t count_;
};

class CacheMiss final : public Bare {
 public:
  CacheMiss() : Bare("loads", loads) {}

 private:
  std::uint64_t result_after(const Answer& answer) const override {
    return chase_.line_at(answer.before + answer.count);
  }
  Chase chase_{chase_bytes() / line_bytes};
};

class LineTransfer final : public Bare {
 public:
  LineTransfer() : Bare("ways of a line", 2 * round_trips) {}

 private:
  std::uint64_t result_after(const Answer& answer) const override { return answer.count; }
};

class SystemCall final : public Bare {
 public:
  SystemCall() : Bare("calls", calls) {}

 private:
  // This process is the parent that each call was to return.
  std::uint64_t result_after(const Answer& answer) const override {
    return answer.count * static_cast<std::uint64_t>(getpid());
  }
};

}}  // namespace handoff::lab::machine

handoff::lab::ScenarioTable handoff::lab::machine_scenario() {
  using namespace machine;
  return {
      .name = "machine",
      .summary = "costs of the machine itself, to compare with hand-overs",
      .metrics = {{"cache_miss", "ns", false,
                   "a load from memory, far beyond the caches, from the address that the load "
                   "before it read"},
                  {"line_transfer", "ns", false,
                   "a cache line moved from one core to another: half of a round trip"},
                  {"system_call", "ns", false, "a system call that does almost nothing: getppid"}},
      .parameters = {},
      .problem = [](const Cell& cell) -> std::shared_ptr<const Problem> {
        if (cell.metric() == "cache_miss") return std::make_shared<CacheMiss>();
        if (cell.metric() == "line_transfer") return std::make_shared<LineTransfer>();
        return std::make_shared<SystemCall>();
      }};
}
