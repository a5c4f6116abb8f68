// SPDX-License-Identifier: MIT
// OpenMP's tasks with `depend`: one thread makes them, anew for each run, and the library finds by
// the addresses which waits for which.
#include "scenarios/graph/measure.hpp"

namespace handoff::lab::graph {
namespace {

struct Tasks {
  explicit Tasks(std::size_t given) : width(static_cast<int>(given)) {}
  struct Graph {
    Graph(Tasks& tasks, Work& given) : width(tasks.width), work(given) {}
    void run() {
#pragma omp parallel num_threads(width)
#pragma omp master
      for (std::size_t i = 0; i < work.shape.nodes(); ++i) make(i);
    }
    void make(std::size_t i) {
      [[maybe_unused]] std::uint64_t* const values = work.values.data();  // only named
      const auto others = work.shape.before(i);
      const std::uint32_t* const before = others.data();
      const std::size_t count = others.size();
#pragma omp task firstprivate(i) \
    depend(iterator(std::size_t k = 0 : count), in : values[before[k]]) depend(out : values[i])
      work.node(i);
    }
    int width;
    Work& work;
  };
  int width;
};

}  // namespace

Operation contender(const Task& task) { return measure<Tasks>(task); }

}  // namespace handoff::lab::graph
