// SPDX-License-Identifier: MIT
// The scenario `events`: what a callback costs, and an event that waits in a queue first.
#include "scenarios/registry.hpp"

#include <string>

#include <fmt/format.h>

#include "harness/answer_problem.hpp"
#include "scenarios/events/work.hpp"

namespace handoff::lab::events { namespace {

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

constexpr auto base = "seed.eventpp_style";
constexpr auto optimised = "seed.eventpp_optimised";

// So many events at so much each.
constexpr double ms(double events, double ns_each) { return events * ns_each / 1e6; }

// "Raw EventQueue (1M messages)": 22.2 and 24.8 million a second.
Article raw() {
  return {"eventpp's bottlenecks: a queue alone, 1M messages",
          Cell("enqueue_process", {{"count", "1000000"}, {"ids", "1"}}),
          {{"before", ms(1e6, 1e3 / 22.2), "", base, {}, {}},
           {"after",
            ms(1e6, 1e3 / 24.8),
            "",
            optimised,
            "there all but a tenth was the memory of the nodes",
            {}}}};
}

// "PoolQueueList, 10K messages": 22.2 and 28.5 million a second.
Article pooled() {
  return {"eventpp's bottlenecks: nodes from a pool, 10K messages",
          Cell("enqueue_process", {{"count", "10000"}, {"ids", "1"}}),
          {{"std::list", ms(1e4, 1e3 / 22.2), "", base, {}, {}},
           {"PoolQueueList",
            ms(1e4, 1e3 / 28.5),
            "",
            optimised,
            "here the base recycles its nodes too",
            {}}}};
}

// "processQueueWith, CPU pinned to core 1".
Article visited(const char* ids, const char* count, double process, double visit) {
  const double events = std::stod(count);
  const char* const why = "there only the draining was timed, here the enqueueing too";
  return {
      fmt::format("eventpp's bottlenecks: a visitor, {} messages of {} kinds", count, ids),
      Cell("enqueue_process", {{"count", count}, {"ids", ids}}),
      {{"process", ms(events, process), "draining only", optimised, {}, {}},
       {"processQueueWith", ms(events, visit), "draining only", optimised, why, "enqueue_visit"}}};
}

// "Active Object, 10K": 1.6 and 8.5 million a second, in operations of this scenario's size.
Article saturated() {
  const double events = static_cast<double>(saturating_events);
  return {"eventpp's bottlenecks: an active object, saturated",
          Cell("throughput", {{"producers", "1"}}),
          {{"before", ms(events, 1e3 / 1.6), "10K messages there", base, {}, {}},
           {"after",
            ms(events, 1e3 / 8.5),
            "10K messages there",
            optimised,
            "there a burst of 10K, here a steady stream",
            {}}}};
}

// "E2E P50" and "P99": measured there while saturated, so a queue's length is in them.
Article latency(const char* metric, double before, double after) {
  const char* const why = "there the queue was saturated, here an event comes every 10 us";
  constexpr double ns = 1e-6;
  Article article{fmt::format("eventpp's bottlenecks: an active object, {}", metric),
                  Cell(metric, {{"consumer", "sleeps"}}),
                  {{"before", before * ns, "saturated there", base, {}, {}},
                   {"after", after * ns, "saturated there", optimised, why, {}}}};
  article.metric_ms = ns;
  return article;
}

std::vector<Article> articles() {
  return {raw(),
          pooled(),
          visited("1", "100000", 152.4, 9.1),
          visited("10", "100000", 151.5, 10.0),
          visited("10", "1000000", 76.6, 21.2),
          saturated(),
          latency("latency_p50", 1'200, 11'588),
          latency("latency_p99", 8'953, 24'289)};
}

}}  // namespace handoff::lab::events

handoff::lab::ScenarioTable handoff::lab::events_scenario() {
  using namespace events;
  return {
      .name = "events",
      .summary = "64 bytes to listeners, at once or through a queue, in a program with threads",
      .metrics =
          {{"invoke", "ns", false, "a call of one listener in a list"},
           {"enqueue_process", "ns", false, "an event: enqueued, looked up, given to its listener"},
           {"enqueue_visit", "ns", false, "an event: enqueued, given to a visitor"},
           {"second_queue", "ns", false,
            "an event, where a process that has used one queue makes another and uses it once"},
           {"throughput", "ns", false, "an event, by `producers` to the thread that handles it"},
           {"latency_p50", "ns", false,
            "from the enqueueing to the listener on another thread, an event every 10 us"},
           {"latency_p99", "ns", false, "the same, which one of a hundred exceeds"}},
      .parameters = {{"listeners", "in the list", {"1", "8", "100"}, {}, 1, 10'000, {"invoke"}},
                     Parameter::number("count", "events that wait in the queue at once",
                                       {"10000", "100000", "1000000"}, 1, 10'000'000,
                                       {"enqueue_process", "enqueue_visit", "second_queue"}),
                     Parameter::number("ids", "different keys", {"1", "10"}, 1, 1000,
                                       {"enqueue_process", "enqueue_visit"}),
                     {"producers", "threads that enqueue", {"1", "2"}, {}, 1, 64, {"throughput"}},
                     Parameter::one_of("consumer", "spins, or sleeps after 50 us without an event",
                                       {"spins", "sleeps"}, {"latency_p50", "latency_p99"})},
      .problem = [](const Cell& cell) { return std::make_shared<Delivery>(cell); },
      .articles = articles()};
}
