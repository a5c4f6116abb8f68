// SPDX-License-Identifier: MIT
#include "scenarios/events/articles.hpp"

#include <initializer_list>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "scenarios/events/work.hpp"

namespace handoff::lab::events {
namespace {

Cell cell_of(const std::string& metric,
             std::initializer_list<std::pair<const char*, const char*>> values) {
  Cell cell(metric);
  for (const auto& [name, value] : values) cell.set(name, value);
  return cell;
}

constexpr auto base = "seed.eventpp_style";
constexpr auto optimised = "seed.eventpp_optimised";

// So many events at so much each.
constexpr double ms(double events, double ns_each) { return events * ns_each / 1e6; }

// "Raw EventQueue (1M messages)": 22.2 and 24.8 million a second.
Article raw() {
  return {"eventpp's bottlenecks: a queue alone, 1M messages",
          cell_of("enqueue_process", {{"count", "1000000"}, {"ids", "1"}}),
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
          cell_of("enqueue_process", {{"count", "10000"}, {"ids", "1"}}),
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
      cell_of("enqueue_process", {{"count", count}, {"ids", ids}}),
      {{"process", ms(events, process), "draining only", optimised, {}, {}},
       {"processQueueWith", ms(events, visit), "draining only", optimised, why, "enqueue_visit"}}};
}

// "Active Object, 10K": 1.6 and 8.5 million a second, in operations of this scenario's size.
Article saturated() {
  const double events = static_cast<double>(saturating_events);
  return {"eventpp's bottlenecks: an active object, saturated",
          cell_of("throughput", {{"producers", "1"}}),
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
                  cell_of(metric, {{"consumer", "sleeps"}}),
                  {{"before", before * ns, "saturated there", base, {}, {}},
                   {"after", after * ns, "saturated there", optimised, why, {}}}};
  article.metric_ms = ns;
  return article;
}

}  // namespace

std::vector<Article> articles_of_eventpp() {
  return {raw(),
          pooled(),
          visited("1", "100000", 152.4, 9.1),
          visited("10", "100000", 151.5, 10.0),
          visited("10", "1000000", 76.6, 21.2),
          saturated(),
          latency("latency_p50", 1'200, 11'588),
          latency("latency_p99", 8'953, 24'289)};
}

}  // namespace handoff::lab::events
