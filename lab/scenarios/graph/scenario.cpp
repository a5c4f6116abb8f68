// SPDX-License-Identifier: MIT
// `graph`: tasks that wait for others, a graph that is made once and run many times.
#include "scenarios/registry.hpp"

#include "scenarios/grain/sweep.hpp"
#include "scenarios/graph/shapes.hpp"
#include "scenarios/rules.hpp"

namespace handoff::lab::graph { namespace {

// One run after the other, by one thread in the order of the numbers.
void add_run(Answer& answer, const Shape& shape, std::uint64_t run) {
  std::vector<std::uint64_t> values(shape.nodes());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = value_of(shape, values, run, i);
  const peers::Answer jobs = peers::right_answer(values.size(), 1);
  answer.jobs.runs += jobs.runs;
  answer.jobs.sum += jobs.sum;
  answer.digest += digest_of(values);
}

Answer right_answer(const Cell& cell) {
  Answer right{};
  if (cell.metric() == "metg50") {
    std::uint64_t run = 0;
    for (const std::size_t steps : grain::sizes) {
      const Shape shape = pattern(cell.at("pattern"), rows_of(steps));
      for (std::size_t trial = 0; trial < grain::trials; ++trial) add_run(right, shape, ++run);
    }
  } else {
    const Shape shape = empty_nodes(cell.at("shape"), cell.number("nodes"));
    for (std::uint64_t run = 1; run <= runs; ++run) add_run(right, shape, run);
  }
  return right;
}

std::shared_ptr<const Problem> problem(const Cell& cell) {
  constexpr std::uint64_t slowest_node_ns = 50'000;
  const Answer right = right_answer(cell);
  Rules<Answer> rules{
      .fault = [right](const Answer& answer) -> Wrong {
        if (Wrong wrong = peers::fault_of(answer.jobs, right.jobs)) return wrong;
        if (answer.digest == right.digest) return {};
        return "a node ran before one that it waits for";
      },
      .slowest_operation = std::chrono::milliseconds(500) +
                           std::chrono::nanoseconds(right.jobs.runs * slowest_node_ns)};
  if (cell.metric() == "metg50") {
    rules.metric = [](const Reading& reading) { return reading.figure("metg50"); };
  }
  return problem_by<Answer>(std::move(rules));
}

}}  // namespace handoff::lab::graph

handoff::lab::ScenarioTable handoff::lab::graph_scenario() {
  using namespace graph;
  return {
      .name = "graph",
      .summary = "tasks that wait for others: a graph that is made once and run many times",
      .metrics = {{"node", "ns", false, "an empty node run, with the edges that lead to it"},
                  {"metg50", "ns", false,
                   "work in the smallest node that reaches half of full efficiency; 65 us "
                   "means 65 us or more"}},
      .parameters =
          {Parameter::one_of("shape",
                             "random: each node waits for none to four of the thousand before "
                             "it; wavefront: for the one above and the one to the left",
                             {"random", "wavefront"}, {"node"}),
           {"nodes", "of the graph", {"100000"}, {}, 1, 1'000'000, {"node"}},
           Parameter::one_of("pattern",
                             "of Task Bench: which nodes of a row of 16 those of the next row "
                             "wait for",
                             {"trivial", "stencil", "sweep", "fft", "tree", "random"}, {"metg50"}),
           {"width", "threads that execute, the caller included where it helps", {"2"}, {}, 1, 64}},
      .problem = problem};
}
