// SPDX-License-Identifier: MIT
#include "scenarios/machine/scenario.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "harness/answer_problem.hpp"
#include "scenarios/machine/answer.hpp"
#include "scenarios/machine/chase.hpp"

namespace handoff::lab::machine {
namespace {

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

class Machine final : public Scenario {
 public:
  std::string name() const override { return "machine"; }
  std::string summary() const override {
    return "costs of the machine itself, to compare with hand-overs";
  }
  const std::vector<Metric>& metrics() const override {
    static const std::vector<Metric> metrics{
        {"cache_miss", "ns", false,
         "a load from memory, far beyond the caches, from the address that the load before it "
         "read"},
        {"line_transfer", "ns", false,
         "a cache line moved from one core to another: half of a round trip"},
        {"system_call", "ns", false, "a system call that does almost nothing: getppid"}};
    return metrics;
  }
  const std::vector<Parameter>& parameters() const override {
    static const std::vector<Parameter> none;
    return none;
  }
  std::shared_ptr<const Problem> problem(const Cell& cell) override {
    if (cell.metric() == "cache_miss") return std::make_shared<CacheMiss>();
    if (cell.metric() == "line_transfer") return std::make_shared<LineTransfer>();
    return std::make_shared<SystemCall>();
  }
};

}  // namespace

std::unique_ptr<Scenario> make_scenario() { return std::make_unique<Machine>(); }

}  // namespace handoff::lab::machine
