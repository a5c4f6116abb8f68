// SPDX-License-Identifier: MIT
// The scenario `events`: what a callback costs, and an event that waits in a queue first.
#include "scenarios/events/work.hpp"
#include "scenarios/registry.hpp"
#include "scenarios/rules.hpp"

namespace handoff::lab::events { namespace {

// Events in one operation.
std::size_t count_of(const Cell& cell) { return cell.number("count", events_of(cell.metric())); }

// The sum that the listeners of one operation come to.
std::uint64_t expected_sum(const Cell& cell) {
  std::uint64_t sum = 0;
  if (cell.metric() == "invoke") {
    const std::size_t listeners = cell.number("listeners");
    for (std::size_t pass = 0; pass < passes(listeners); ++pass) {
      for (std::size_t i = 0; i < listeners; ++i) sum += heard(i, payload(pass));
    }
  } else {
    const std::size_t ids = cell.number("ids", 1);
    for (std::size_t i = 0; i < count_of(cell); ++i) sum += heard(i % ids, payload(i));
  }
  return sum;
}

std::shared_ptr<const Problem> delivery(const Cell& cell) {
  return problem_by<std::uint64_t>(
      {.fault = [right = expected_sum(cell)](const std::uint64_t& sum) -> Wrong {
         if (sum == right) return {};
         return fmt::format("its listeners heard {:#x}, sent was {:#x}", sum, right);
       },
       .metric =
           [metric = cell.metric(),
            count = static_cast<double>(count_of(cell))](const Reading& reading) {
             if (metric == "second_queue") return reading.figure("p50") / count;
             if (metric == "latency_p50") return reading.figure("p50");
             return metric == "latency_p99" ? reading.figure("p99") : reading.ns_per_item();
           },
       .slowest_operation = std::chrono::seconds(10)});
}

constexpr auto base = "seed.eventpp_style";
constexpr auto optimised = "seed.eventpp_optimised";

// So many events at so much each.
constexpr double ms(double events, double ns_each) { return events * ns_each / 1e6; }

// By so many million a second there, with two schemes.
Article rates(const char* what, const Cell& cell, std::array<const char*, 2> schemes, double events,
              std::array<double, 2> rates, const char* note, const char* why) {
  return {fmt::format("eventpp's bottlenecks: {}", what),
          cell,
          {{schemes[0], ms(events, 1e3 / rates[0]), note, base},
           {schemes[1], ms(events, 1e3 / rates[1]), note, optimised, why}}};
}

// "processQueueWith, CPU pinned to core 1".
Article visited(const char* ids, const char* count, double process, double visit) {
  const double events = std::stod(count);
  const char* const why = "there only the draining was timed, here the enqueueing too";
  return {
      fmt::format("eventpp's bottlenecks: a visitor, {} messages of {} kinds", count, ids),
      Cell("enqueue_process", {{"count", count}, {"ids", ids}}),
      {{"process", ms(events, process), "draining only", optimised},
       {"processQueueWith", ms(events, visit), "draining only", optimised, why, "enqueue_visit"}}};
}

// "E2E P50" and "P99": measured there while saturated, so a queue's length is in them.
Article latency(const char* metric, double before, double after) {
  const char* const why = "there the queue was saturated, here an event comes every 10 us";
  constexpr double ns = 1e-6;
  Article article{fmt::format("eventpp's bottlenecks: an active object, {}", metric),
                  Cell(metric, {{"consumer", "sleeps"}}),
                  {{"before", before * ns, "saturated there", base},
                   {"after", after * ns, "saturated there", optimised, why}}};
  article.metric_ms = ns;
  return article;
}

std::vector<Article> articles() {
  return {rates("a queue alone, 1M messages",  // "Raw EventQueue (1M messages)"
                Cell("enqueue_process", {{"count", "1000000"}, {"ids", "1"}}), {"before", "after"},
                1e6, {22.2, 24.8}, "", "there all but a tenth was the memory of the nodes"),
          rates("nodes from a pool, 10K messages",  // "PoolQueueList, 10K messages"
                Cell("enqueue_process", {{"count", "10000"}, {"ids", "1"}}),
                {"std::list", "PoolQueueList"}, 1e4, {22.2, 28.5}, "",
                "here the base recycles its nodes too"),
          visited("1", "100000", 152.4, 9.1), visited("10", "100000", 151.5, 10.0),
          visited("10", "1000000", 76.6, 21.2),
          // "Active Object, 10K", in operations of this scenario's size.
          rates("an active object, saturated", Cell("throughput", {{"producers", "1"}}),
                {"before", "after"}, static_cast<double>(saturating_events), {1.6, 8.5},
                "10K messages there", "there a burst of 10K, here a steady stream"),
          latency("latency_p50", 1'200, 11'588), latency("latency_p99", 8'953, 24'289)};
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
      .problem = delivery,
      .articles = articles()};
}
