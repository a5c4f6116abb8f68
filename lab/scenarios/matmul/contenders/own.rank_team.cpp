// SPDX-License-Identifier: MIT
// This library's team of ranks, of one thread each. All have A and B; blocks of C come to rank 0
// while others are still computed.
#include <handoff/mpi/rank_team.hpp>
#include <handoff/sync/cpu_budget.hpp>

#include "peers/rank_crew.hpp"
#include "scenarios/matmul/contender.hpp"

namespace handoff::lab::matmul {
namespace {

// The product, or rows of which nothing is computed.
struct Order {
  std::size_t empty_rows = 0;
};

class Rank {
 public:
  explicit Rank(const Task& task)
      : task_(task), block_(task.operands), rows_(row_kernel(task.kernel, block_)) {}

  void run(const Order& order) {
    if (order.empty_rows > 0) {
      static_cast<void>(team_.run(order.empty_rows, [](IndexRange) {}));
      return;
    }
    std::visit([this](const auto& operands) { multiply(operands); }, task_.operands);
  }

 private:
  template <typename T>
  void multiply(const Operands<T>& all) {
    const std::size_t results = team_.rank() == 0 ? all.m * all.n : 0;
    static_cast<void>(team_.run(
        all.m,
        [&](IndexRange range, std::span<T> out) {
          block_ = Operands<T>{
              all.a + range.first * all.k, all.b, out.data(), range.size(), all.n, all.k};
          rows_(0, range.size());
        },
        std::span<T>(all.c, results)));
  }

  const Task& task_;
  AnyOperands block_;  // the one that is computed
  RowKernel rows_;
  RankTeam team_{{.threads = 1}};
};

using Crew = peers::RankCrew<Rank, Order>;

// What it takes to hand out a row, of many that cost nothing: ns of the CPUs that the ranks have,
// the best of some runs.
double claim_ns(Crew& crew, std::size_t width) {
  constexpr int runs = 8;
  constexpr std::size_t rows = 1 << 16;
  double best = std::numeric_limits<double>::infinity();
  for (int run = 0; run < runs; ++run) {
    const auto start = std::chrono::steady_clock::now();
    crew.run({rows});
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  const auto cpus = std::min<std::size_t>(width, sync::cpu_budget().width());
  return best * static_cast<double>(cpus) / static_cast<double>(rows);
}

}  // namespace

Operation contender(const Task& task) {
  const auto crew = std::make_shared<Crew>(task.width, std::cref(task));
  return [&task, crew, ns = claim_ns(*crew, task.width)] {
    crew->run({});
    task.burst->figure("claim_ns", ns);
  };
}

}  // namespace handoff::lab::matmul
