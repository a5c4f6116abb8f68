// SPDX-License-Identifier: MIT
// The scenario `algorithms`: sorts, scans, sums and searches of many items by several threads.
#include "scenarios/registry.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "scenarios/algorithms/work.hpp"
#include "scenarios/rules.hpp"

namespace handoff::lab::algorithms { namespace {

// Sums of the digests of all items, which a permutation does not change.
template <class T>
std::uint64_t sum_of_items(const Cell& cell) {
  const std::string* order = cell.find("order");
  Ranks ranks(order == nullptr ? "random" : *order, cell.number("count"));
  std::uint64_t sum = 0;
  T item{};
  for (std::size_t array = 0; array < arrays_of(ranks.count); ++array) {
    ranks.first = array * ranks.count;
    for (std::size_t i = 0; i < ranks.count; ++i) {
      make(item, ranks, i);
      sum += digest(item);
    }
  }
  return sum;
}

// What the algorithms of the standard library make of an array of numbers.
std::uint64_t sum_of_pass(const std::string& metric, std::size_t count) {
  std::vector<Int> in(count);
  std::vector<Int> out(count);
  for (std::size_t i = 0; i < count; ++i) in[i] = number_for(metric, count, i);
  if (metric == "reduce") {
    return static_cast<std::uint64_t>(std::accumulate(in.begin(), in.end(), 0LL));
  }
  if (metric == "count_if") {
    return static_cast<std::uint64_t>(std::count_if(in.begin(), in.end(), is_small));
  }
  if (metric == "find_if") return count - 1;
  const auto half = in.begin() + static_cast<std::ptrdiff_t>(count / 2);
  if (metric == "scan") std::partial_sum(in.begin(), in.end(), out.begin());
  if (metric == "transform") std::transform(in.begin(), in.end(), out.begin(), transformed);
  if (metric == "merge") std::merge(in.begin(), half, half, in.end(), out.begin());
  return digest_of_places(out);
}

std::uint64_t right_sum(const Cell& cell) {
  const std::string& metric = cell.metric();
  const std::size_t count = cell.number("count");
  if (metric == "partition") return sum_of_items<Int>(cell);
  if (metric != "sort" && metric != "stable_sort") {
    return arrays_of(count) * sum_of_pass(metric, count);
  }
  const std::string& item = cell.at("item");
  if (item == "int") return sum_of_items<Int>(cell);
  return item == "string" ? sum_of_items<std::string>(cell) : sum_of_items<Record>(cell);
}

std::shared_ptr<const Problem> algorithm(const Cell& cell) {
  constexpr std::uint64_t slowest_item_ns = 20'000;
  return problem_by<Answer>(
      {.fault = [sum = right_sum(cell)](const Answer& answer) -> Wrong {
         if (answer.misplaced != 0) {
           return fmt::format("{} items came out of their order", answer.misplaced);
         }
         if (answer.operations > 0 && answer.sum == answer.operations * sum) return {};
         return "its answer is wrong";
       },
       .slowest_operation = std::chrono::seconds(20) +
                            std::chrono::nanoseconds(cell.number("count") * slowest_item_ns)});
}

}}  // namespace handoff::lab::algorithms

handoff::lab::ScenarioTable handoff::lab::algorithms_scenario() {
  using namespace algorithms;
  const std::vector<std::string> sorts{"sort", "stable_sort"};
  return {
      .name = "algorithms",
      .summary = "sorts, scans, sums and searches of many items by several threads",
      .metrics = {{"sort", "ns", false, "an item sorted, of random ones or some in an order"},
                  {"stable_sort", "ns", false, "the same, and equal items keep their order"},
                  {"scan", "ns", false, "an item of an inclusive scan: a running sum"},
                  {"reduce", "ns", false, "an item of a sum"},
                  {"transform", "ns", false, "an item transformed into another array"},
                  {"merge", "ns", false, "an item of two sorted halves that are merged"},
                  {"partition", "ns", false, "an item partitioned: half of them go to the front"},
                  {"find_if", "ns", false, "an item looked at until the last one is found"},
                  {"count_if", "ns", false, "an item looked at and counted"}},
      .parameters =
          {Parameter::number("count", "items", {"1000", "100000", "10000000"}, 2, 100'000'000),
           Parameter::one_of("item",
                             "int: 32 bits, at random all of them; string: 20 characters; "
                             "record64: 64 bytes with a key of 8",
                             {"int", "string", "record64"}, sorts),
           Parameter::one_of("order", "of the items before they are sorted",
                             {"random", "sorted", "reversed", "equal", "organ_pipe"}, sorts),
           {"width", "threads that execute, the caller included", {"2"}, {}, 1, 64}},
      .problem = algorithm};
}
