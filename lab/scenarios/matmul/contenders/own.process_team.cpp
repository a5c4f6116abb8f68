// SPDX-License-Identifier: MIT
// This library's team of processes: the caller is none of them. The matrices lie in memory that
// they share, mapped before the team is made. With `--kill` workers are killed meanwhile.
#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <system_error>

#include <handoff/process/process_team.hpp>
#include <handoff/process/shared_memory.hpp>
#include <handoff/sync/cpu_budget.hpp>

#include "scenarios/matmul/contender.hpp"
#include "scenarios/matmul/killed_products.hpp"

namespace handoff::lab::matmul {
namespace {

// The operands, to which it points, are as they were when the workers were forked.
void compute_rows(IndexRange range, const RowKernel& rows) { rows(range.first, range.last); }

void compute_nothing(IndexRange, const RowKernel&) {}

ProcessTeamOptions options_of(const Task& task) {
  ProcessTeamOptions options{.width = task.width, .on_fewer = OnFewerWorkers::refuse};
  if (task.kills == 0) return options;
  // It is no block's fault when its worker is killed, and each that is killed is replaced.
  options.tries = 15;
  options.replacements_per_second = static_cast<std::uint32_t>(100 + 2 * task.kills);
  return options;
}

class Team {
 public:
  explicit Team(const Task& task)
      : task_(task),
        rows_(task.rows()),
        block_(task.kernel == Kernel::tile ? task.tile_rows() : 0),  // 0: its choice
        team_(options_of(task)) {}

  void multiply() { static_cast<void>(team_.run<compute_rows>(task_.m, rows_, {.block = block_})); }

  // What it takes to hand out a row in a block of eight, as of 512 rows for two members: ns of the
  // CPUs that they have, the best of some runs. Measured once.
  double claim_ns() {
    if (claim_ns_ > 0) return claim_ns_;
    constexpr int runs = 4;
    constexpr std::size_t block = 8;
    constexpr std::size_t rows = ProcessTeam::max_blocks * block;
    double best = std::numeric_limits<double>::infinity();
    for (int run = 0; run < runs; ++run) {
      best =
          std::min(best, ns_of([&] {
                     static_cast<void>(team_.run<compute_nothing>(rows, rows_, {.block = block}));
                   }));
    }
    const auto cpus = std::min<std::size_t>(task_.width, sync::cpu_budget().width());
    claim_ns_ = best * static_cast<double>(cpus) / static_cast<double>(rows);
    return claim_ns_;
  }

 private:
  const Task& task_;
  const RowKernel rows_;
  const std::size_t block_;
  ProcessTeam team_;
  double claim_ns_ = 0;
};

std::shared_ptr<Team> team_for(const Task& task) {
  try {
    return std::make_shared<Team>(task);
  } catch (const std::system_error& error) {
    throw Unavailable(error.what());
  }
}

}  // namespace

std::shared_ptr<std::byte> matrix_memory(std::size_t bytes) {
  try {
    const auto memory = std::make_shared<SharedMemory>(SharedMemory::create({.bytes = bytes}));
    return {memory, memory->bytes().data()};
  } catch (const std::system_error& error) {
    throw Unavailable(error.what());
  }
}

Operation contender(const Task& task) {
  const std::shared_ptr<Team> team = team_for(task);
  if (task.kills > 0) {
    const auto products = std::make_shared<KilledProducts>(task, [team] { team->multiply(); });
    return [products] { products->run(); };
  }
  return [&task, team] {
    team->multiply();
    task.burst->figure("claim_ns", team->claim_ns());  // the first time in a part that is not timed
  };
}

}  // namespace handoff::lab::matmul
