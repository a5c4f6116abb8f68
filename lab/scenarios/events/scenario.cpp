// SPDX-License-Identifier: MIT
#include "scenarios/events/scenario.hpp"

#include <cstring>

#include <fmt/format.h>

#include "scenarios/events/work.hpp"

namespace handoff::lab::events {
namespace {

// The sum that the listeners of one operation come to.
std::uint64_t expected_sum(const Cell& cell) {
  std::uint64_t sum = 0;
  if (cell.metric() == "invoke") {
    const std::size_t listeners = cell.number("listeners");
    for (std::size_t pass = 0; pass < passes(listeners); ++pass) {
      for (std::size_t i = 0; i < listeners; ++i) sum += heard(i, payload(pass));
    }
  } else {
    const std::size_t ids = cell.number("ids");
    for (std::size_t i = 0; i < cell.number("count"); ++i) sum += heard(i % ids, payload(i));
  }
  return sum;
}

class Delivery final : public Problem {
 public:
  explicit Delivery(const Cell& cell) : sum_(expected_sum(cell)) {}

  const MemoryFile& input() const override { return input_; }
  std::size_t answer_bytes() const override { return sizeof sum_; }

  // Limits deliver too: what they leave out is what makes the delivery safe.
  std::optional<std::string> fault(bool /*of_a_limit*/,
                                   std::span<const std::byte> answer) const override {
    std::uint64_t sum = 0;
    std::memcpy(&sum, answer.data(), sizeof sum);
    if (sum == sum_) return {};
    return fmt::format("its listeners heard {:#x}, sent was {:#x}", sum, sum_);
  }

  double metric(const Reading& reading) const override { return reading.ns_per_item(); }

  std::chrono::nanoseconds slowest_operation() const override { return std::chrono::seconds(10); }

 private:
  MemoryFile input_{"events.input", 0};
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
        {"enqueue_visit", "ns", false, "an event: enqueued, given to a visitor"}};
    return metrics;
  }

  const std::vector<Parameter>& parameters() const override {
    static const std::vector<Parameter> parameters{
        {"listeners", "in the list", {"1", "8", "100"}, {}, 1, 10'000, {"invoke"}},
        {"count", "events that wait in the queue at once", {"10000", "100000", "1000000"}, {}, 1,
         10'000'000, {"enqueue_process", "enqueue_visit"}},
        {"ids", "different keys", {"1", "10"}, {}, 1, 1000, {"enqueue_process", "enqueue_visit"}}};
    return parameters;
  }

  std::shared_ptr<const Problem> problem(const Cell& cell) override {
    return std::make_shared<Delivery>(cell);
  }
};

}  // namespace

std::unique_ptr<Scenario> make_scenario() {
  return std::make_unique<Events>();
}

}  // namespace handoff::lab::events
