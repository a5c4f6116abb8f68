// SPDX-License-Identifier: MIT
// The scenario `algorithms`: sorts, scans, sums and searches of many items by several threads.
#include "scenarios/algorithms/work.hpp"
#include "scenarios/registry.hpp"
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

// What the standard library makes of an array of numbers.
std::uint64_t sum_of_pass(const std::string& algorithm, std::size_t count) {
  std::vector<Int> in(count);
  std::vector<Int> out(count);
  for (std::size_t i = 0; i < count; ++i) in[i] = number_for(algorithm, count, i);
  if (algorithm == "reduce") {
    return static_cast<std::uint64_t>(std::accumulate(in.begin(), in.end(), 0LL));
  }
  if (algorithm == "count_if") {
    return static_cast<std::uint64_t>(std::ranges::count_if(in, is_small));
  }
  if (algorithm == "find_if") return count - 1;
  const auto half = in.begin() + static_cast<std::ptrdiff_t>(count / 2);
  if (algorithm == "scan") std::partial_sum(in.begin(), in.end(), out.begin());
  if (algorithm == "transform") std::transform(in.begin(), in.end(), out.begin(), transformed);
  if (algorithm == "merge") std::merge(in.begin(), half, half, in.end(), out.begin());
  return digest_of_places(out);
}

std::uint64_t right_sum(const Cell& cell) {
  const std::string& algorithm = cell.at("algorithm");
  const std::size_t count = cell.number("count");
  if (algorithm == "partition") return sum_of_items<Int>(cell);
  if (!is_sort(algorithm)) return arrays_of(count) * sum_of_pass(algorithm, count);
  const std::string* item = cell.find("item");
  if (item == nullptr || *item == "int") return sum_of_items<Int>(cell);
  return *item == "string" ? sum_of_items<std::string>(cell) : sum_of_items<Record>(cell);
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
  const std::vector<std::string> passes{"scan",      "reduce",  "transform", "merge",
                                        "partition", "find_if", "count_if"};
  std::vector<std::string> all = sorts;
  all.insert(all.end(), passes.begin(), passes.end());
  return {
      .name = "algorithms",
      .summary = "sorts, scans, sums and searches of many items by several threads",
      .metrics = {{"sort", "ns", false, "an item sorted"},
                  {"pass", "ns", false, "a number read, of all in turn, and mostly written"}},
      .parameters =
          {Parameter::one_of("algorithm", "", all, {"sort"}, sorts),
           Parameter::one_of("algorithm",
                             "in the words of std::ranges; scan: inclusive_scan; find_if: the last "
                             "one is found; partition: half of them go to the front",
                             all, {"pass"}, passes),
           Parameter::number("count", "items", {"1000", "100000", "10000000"}, 2, 100'000'000),
           Parameter::one_of("item",
                             "int: 32 bits, at random all of them; string: 20 characters; "
                             "record64: 64 bytes with a key of 8",
                             {"int", "string", "record64"}, {"sort"}),
           Parameter::one_of("order", "of the items before they are sorted",
                             {"random", "sorted", "reversed", "equal", "organ_pipe"}, {"sort"}),
           {"width", "threads that execute, the caller included", {"2"}, {}, 1, 64}},
      .problem = algorithm};
}
