// SPDX-License-Identifier: MIT
// Measures a way to run graphs. It is a class that is made from a width and has a nested Graph:
// made from the way and a Work, with all nodes and edges of its shape, and run() as often as one
// likes.
#pragma once

#include "peers/job.hpp"
#include "scenarios/grain/sweep.hpp"
#include "scenarios/graph/shapes.hpp"

namespace handoff::lab::graph {

struct Task {
  explicit Task(const Parameters& given)
      : metric(given.text("metric")),
        pattern(given.text("pattern", "")),
        shape(given.text("shape", "")),
        nodes(given.number("nodes", 0)),
        width(given.number("width")) {}

  std::string metric;
  std::string pattern;
  std::string shape;
  std::size_t nodes;
  std::size_t width;
  Answer* output = nullptr;
};

// A contender's own, usually `return measure<Way>(task);`. The task outlives it.
Operation contender(const Task& task);

// What the nodes of a graph do. They call it, by their number, and may keep a reference.
struct Work : Pinned {
  explicit Work(Shape given) : shape(std::move(given)), values(shape.nodes()) {}

  void node(std::size_t i) {
    static_cast<void>(peers::Job{i + 1, steps}());
    values[i] = value_of(shape, values, run, i);
  }

  Shape shape;
  std::vector<std::uint64_t> values;
  std::size_t steps = 0;
  std::uint64_t run = 0;
};

namespace detail {

template <class Way>
struct Built {
  Built(Way& way, Shape shape) : work(std::move(shape)), graph(way, work) {}

  // Runs it, with so much work in each node, and returns the digest.
  template <class Timed>
  std::uint64_t run(std::uint64_t number, std::size_t steps, const Timed& timed) {
    work.run = number;
    work.steps = steps;
    timed([this] { graph.run(); });
    return digest_of(work.values);
  }

  Work work;
  typename Way::Graph graph;
};

// Empty nodes. Two runs, so that what a node must not read is never what it should have read.
template <class Way>
Operation empty(const Task& task, const std::shared_ptr<Way>& way) {
  auto built = std::make_shared<Built<Way>>(*way, empty_nodes(task.shape, task.nodes));
  return [&task, way, built](Burst& burst) {
    peers::Board::clear();
    std::uint64_t digest = 0;
    for (std::uint64_t run = 1; run <= runs; ++run) {
      digest += built->run(run, 0, [&burst](const auto& all) { burst.timed(all); });
    }
    *task.output = {peers::Board::total(burst), digest};
    burst.items(static_cast<double>(task.output->jobs.runs));
  };
}

// A pattern with nodes of every size, largest first: the efficiency at each.
template <class Way>
Operation sweep(const Task& task, const std::shared_ptr<Way>& way) {
  std::array<std::shared_ptr<Built<Way>>, grain::sizes.size()> graphs;  // one of each length
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    const std::size_t rows = rows_of(grain::sizes[i]);
    graphs[i] = i > 0 && rows == rows_of(grain::sizes[i - 1])
                    ? graphs[i - 1]
                    : std::make_shared<Built<Way>>(*way, pattern(task.pattern, rows));
  }
  return [&task, way, graphs, step_ns = peers::burn_step_ns()](Burst& burst) {
    peers::Board::clear();
    std::uint64_t digest = 0;
    grain::Efficiency found{};
    for (std::size_t i = graphs.size(); i-- > 0;) {
      std::array<double, grain::trials> times{};
      for (double& time : times) {
        const auto timed = [&time](const auto& all) {
          const auto start = std::chrono::steady_clock::now();
          all();
          time = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start)
                     .count();
        };
        const auto run = static_cast<std::uint64_t>(i * times.size() + (&time - times.data()) + 1);
        digest += graphs[i]->run(run, grain::sizes[i], timed);
      }
      std::nth_element(times.begin(), times.begin() + grain::trials / 2, times.end());
      const double node_ns = static_cast<double>(grain::sizes[i]) * step_ns;
      found[i] = static_cast<double>(graphs[i]->work.shape.nodes()) * node_ns /
                 (times[grain::trials / 2] * static_cast<double>(task.width));
      burst.point("efficiency", node_ns, found[i]);
    }
    const double half = grain::full_efficiency(found, task.width) / 2;
    burst.figure("metg50", grain::half_size(found, half) * step_ns);
    *task.output = {peers::Board::total(burst), digest};
    burst.items(static_cast<double>(task.output->jobs.runs));
  };
}

}  // namespace detail

template <class Way>
Operation measure(const Task& task) {
  auto way = std::make_shared<Way>(task.width);
  return task.metric == "metg50" ? detail::sweep(task, way) : detail::empty(task, way);
}

}  // namespace handoff::lab::graph
