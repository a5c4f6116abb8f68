// SPDX-License-Identifier: MIT
#include "scenarios/events/scenario.hpp"

#include <fmt/format.h>

#include "harness/answer_problem.hpp"
#include "scenarios/events/articles.hpp"
#include "scenarios/events/work.hpp"

namespace handoff::lab::events {
namespace {

// Events in one operation.
std::size_t count_of(const Cell& cell) {
  return cell.find("count") != nullptr ? cell.number("count") : events_of(cell.metric());
}

// The sum that the listeners of one operation come to.
std::uint64_t expected_sum(const Cell& cell) {
  std::uint64_t sum = 0;
  if (cell.metric() == "invoke") {
    const std::size_t listeners = cell.number("listeners");
    for (std::size_t pass = 0; pass < passes(listeners); ++pass) {
      for (std::size_t i = 0; i < listeners; ++i) sum += heard(i, payload(pass));
    }
  } else {
    const std::size_t ids = cell.find("ids") != nullptr ? cell.number("ids") : 1;
    for (std::size_t i = 0; i < count_of(cell); ++i) sum += heard(i % ids, payload(i));
  }
  return sum;
}

class Delivery final : public AnswerProblem<std::uint64_t> {
 public:
  explicit Delivery(const Cell& cell)
      : metric_(cell.metric()), count_(count_of(cell)), sum_(expected_sum(cell)) {}

  double metric(const Reading& reading) const override {
    if (metric_ == "second_queue") return reading.figure("p50") / static_cast<double>(count_);
    if (metric_ == "latency_p50") return reading.figure("p50");
    if (metric_ == "latency_p99") return reading.figure("p99");
    return reading.ns_per_item();
  }

  std::chrono::nanoseconds slowest_operation() const override { return std::chrono::seconds(10); }

 private:
  std::optional<std::string> fault_of(const std::uint64_t& sum) const override {
    if (sum == sum_) return {};
    return fmt::format("its listeners heard {:#x}, sent was {:#x}", sum, sum_);
  }

  std::string metric_;
  std::size_t count_;
  std::uint64_t sum_;
};

class Events final : public Scenario {
 public:
  std::string name() const override { return "events"; }
  std::string summary() const override {
    return "64 bytes to listeners, at once or through a queue, in a program with threads";
  }

  const std::vector<Metric>& metrics() const override {
    static const std::vector<Metric> metrics{
        {"invoke", "ns", false, "a call of one listener in a list"},
        {"enqueue_process", "ns", false, "an event: enqueued, looked up, given to its listener"},
        {"enqueue_visit", "ns", false, "an event: enqueued, given to a visitor"},
        {"second_queue", "ns", false,
         "an event, where a process that has used one queue makes another and uses it once"},
        {"throughput", "ns", false, "an event, by `producers` to the thread that handles it"},
        {"latency_p50", "ns", false,
         "from the enqueueing to the listener on another thread, an event every 10 us"},
        {"latency_p99", "ns", false, "the same, which one of a hundred exceeds"}};
    return metrics;
  }

  const std::vector<Parameter>& parameters() const override {
    static const std::vector<std::string> drained{"enqueue_process", "enqueue_visit"};
    static const std::vector<std::string> counted{"enqueue_process", "enqueue_visit",
                                                  "second_queue"};
    static const std::vector<Parameter> parameters{
        {"listeners", "in the list", {"1", "8", "100"}, {}, 1, 10'000, {"invoke"}},
        {"count",
         "events that wait in the queue at once",
         {"10000", "100000", "1000000"},
         {},
         1,
         10'000'000,
         counted},
        {"ids", "different keys", {"1", "10"}, {}, 1, 1000, drained},
        {"producers", "threads that enqueue", {"1", "2"}, {}, 1, 64, {"throughput"}},
        {"consumer",
         "spins, or sleeps after 50 us without an event",
         {"spins", "sleeps"},
         {"spins", "sleeps"},
         0,
         0,
         {"latency_p50", "latency_p99"}}};
    return parameters;
  }

  std::vector<Article> articles() const override { return articles_of_eventpp(); }

  std::shared_ptr<const Problem> problem(const Cell& cell) override {
    return std::make_shared<Delivery>(cell);
  }
};

}  // namespace

std::unique_ptr<Scenario> make_scenario() { return std::make_unique<Events>(); }

}  // namespace handoff::lab::events
