// SPDX-License-Identifier: MIT
// This library's team of ranks, of one thread each. All have A and B; blocks of C come to rank 0
// while others are still computed.
#include <handoff/mpi/rank_team.hpp>

#include "peers/rank_crew.hpp"
#include "scenarios/matmul/contender.hpp"

namespace handoff::lab::matmul {
namespace {

struct Order {};  // the product

class Rank {
 public:
  explicit Rank(const Task& task)
      : task_(task), block_(task.operands), rows_(row_kernel(task.kernel, block_)) {}

  void run(const Order& /*order*/) {
    std::visit([this](const auto& operands) { multiply(operands); }, task_.operands);
  }

 private:
  template <typename T>
  void multiply(const Operands<T>& all) {
    const std::size_t results = team_.rank() == 0 ? all.m * all.n : 0;
    static_cast<void>(
        team_.run(all.m,
                  [&](IndexRange range, std::span<T> out) {
                    block_ = Operands<T>{
                        all.a + range.first * all.k, all.b, out.data(), range.size(), all.n, all.k};
                    rows_(0, range.size());
                  },
                  std::span<T>(all.c, results),
                  {.block = task_.kernel == Kernel::tile ? task_.tile_rows() : 0}));
  }

  const Task& task_;
  AnyOperands block_;  // the one that is computed
  RowKernel rows_;
  RankTeam team_{{.threads = 1}};
};

using Crew = peers::RankCrew<Rank, Order>;

}  // namespace

Operation contender(const Task& task) {
  const auto crew = std::make_shared<Crew>(task.width, std::cref(task));
  return [crew] { crew->run({}); };
}

}  // namespace handoff::lab::matmul
