// SPDX-License-Identifier: MIT
// The model of scale beside real ranks of Open MPI: mpirun starts this program.
//
//   scale_ranks              claims and messages must be those that the model predicts
//   scale_ranks canary       those of a plan of another size are not
//   scale_ranks time         a figure: what one rank measures alone predicts the time of all
//   scale_ranks time 1000    the same, each rank a node 1000 us from the others; a row
//                            sleeps: there may be more ranks than CPUs
#include "report/scale_model.hpp"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include <handoff/mpi/rank_team.hpp>

namespace {

using namespace handoff;
using lab::ScaleSetup;

ScaleSetup loop(std::uint64_t rows, std::uint64_t block, double row_bytes,
                std::uint64_t ranks_a_node, std::uint64_t threads) {
  return {.ranks_a_node = ranks_a_node,
          .threads = threads,
          .rows = rows,
          .block = block,
          .row_bytes = row_bytes};
}

RankTeam team_of(const ScaleSetup& setup) {
  return RankTeam({.threads = setup.threads, .ranks_per_node = setup.ranks_a_node});
}

bool is_counted(ScaleSetup setup, std::uint64_t other_rows) {
  RankTeam team = team_of(setup);
  const RankRunOptions options{.block = setup.block};
  if (setup.row_bytes == 0) {
    (void)team.run(setup.rows, [](IndexRange) {}, options);
  } else {
    std::vector<std::byte> results(setup.rows * static_cast<std::size_t>(setup.row_bytes));
    (void)team.run(setup.rows, [](IndexRange, std::span<std::byte>) {}, results, options);
  }
  setup.ranks = team.ranks();
  setup.rows += other_rows;
  const lab::ScalePrediction predicted = lab::predict(setup);
  const RankStatistics counted = team.statistics();
  // How many blocks rank 0 has depends on the weather; each other block is two messages.
  const std::uint64_t each = setup.row_bytes == 0 ? 0 : 2;
  const auto all = [&](std::uint64_t messages, std::uint64_t own_blocks) {
    return messages + each * own_blocks;
  };
  const bool is_right = counted.node_blocks == predicted.claims &&
                        counted.blocks == predicted.blocks &&
                        all(counted.messages, counted.own_blocks) == each * predicted.blocks &&
                        all(predicted.messages, predicted.own_blocks) == each * predicted.blocks;
  if (!is_right && team.rank() == 0) {
    std::fprintf(stderr, "%zu rows: %ju claims, predicted %ju; %ju blocks, %ju; %ju messages\n",
                 static_cast<std::size_t>(setup.rows), std::uintmax_t{counted.node_blocks},
                 std::uintmax_t{predicted.claims}, std::uintmax_t{counted.blocks},
                 std::uintmax_t{predicted.blocks}, std::uintmax_t{counted.messages});
  }
  return is_right;
}

bool all_counted(std::uint64_t other_rows) {
  const std::vector<ScaleSetup> loops{loop(1000, 1, 8, 9, 1),     loop(1000, 1, 0, 1, 1),
                                      loop(12345, 7, 8, 1, 2),    loop(12345, 7, 8, 2, 1),
                                      loop(3, 1, 8, 1, 1),        loop(0, 1, 8, 9, 1),
                                      loop(999, 50, 64, 2, 2),    loop(1, 1, 8, 1, 2),
                                      loop(40, 1, 1 << 19, 1, 1), loop(100'003, 0, 0, 2, 2)};
  return std::all_of(loops.begin(), loops.end(),
                     [&](const ScaleSetup& each) { return is_counted(each, other_rows); });
}

// The middle one of seven runs. A row is one of a product of matrices, or sleeps for 1 ms.
double ns_of_run(RankTeam& team, std::size_t rows, bool sleeps) {
  constexpr std::size_t size = 512;
  const std::vector<float> b(size * size, 0.5F);
  std::vector<float> results(rows * size);
  const auto work = [&](IndexRange range, std::span<float> out) {
    if (sleeps) return std::this_thread::sleep_for(std::chrono::milliseconds(range.size()));
    for (std::size_t i = 0; i < out.size(); i += size) {
      for (std::size_t k = 0; k < size; ++k) {
        for (std::size_t j = 0; j < size; ++j) out[i + j] += b[k] * b[k * size + j];
      }
    }
  };
  std::vector<double> times;
  while (times.size() < 7) {
    const auto begin = std::chrono::steady_clock::now();
    (void)team.run(rows, work, results);
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    times.push_back(took.count());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// The others neither compute nor spin meanwhile.
void wait_for_rank_0() {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int is_done = 0; is_done == 0;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
  }
}

void predict_time(double latency_us) {
  const bool sleeps = latency_us > 0;
  ScaleSetup setup = loop(sleeps ? 400 : 1500, 0, 512 * sizeof(float), sleeps ? 1 : 4096, 1);
  setup.latency_ns = 1e3 * latency_us;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    RankTeam alone({.threads = 1, .communicator = MPI_COMM_SELF});
    setup.wake_ns = ns_of_run(alone, 0, sleeps);
    setup.row_ns = ns_of_run(alone, setup.rows, sleeps) / static_cast<double>(setup.rows);
  }
  wait_for_rank_0();
  RankTeam team = team_of(setup);
  const double measured = ns_of_run(team, setup.rows, sleeps);
  setup.ranks = team.ranks();
  const double predicted = lab::predict(setup).ns;
  if (rank != 0) return;
  std::printf(
      "%zu ranks: predicted %.2f ms, measured %.2f ms, ratio %.3f; a row %.1f us, a wake-up "
      "%.1f us\n",
      team.ranks(), predicted / 1e6, measured / 1e6, predicted / measured, setup.row_ns / 1e3,
      setup.wake_ns / 1e3);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
  bool is_right = true;
  if (mode == "time") {
    predict_time(argc > 2 ? std::atof(argv[2]) : 0);
  } else {
    is_right = all_counted(mode == "canary" ? 64 : 0) == (mode != "canary");
  }
  MPI_Finalize();
  return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
