// SPDX-License-Identifier: MIT
// The model of scale beside real ranks of Open MPI: mpirun starts this program.
//
//   scale_ranks              claims and messages must be those that the model predicts
//   scale_ranks canary       those of a plan of another size are not
//   scale_ranks time         a figure: what one rank measures alone predicts the time of all
//   scale_ranks time 1000    the same, where each rank is a node, 1000 us from the others, and a
//   row
//                            sleeps: there may be more ranks than CPUs
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include <handoff/mpi/rank_team.hpp>

#include "report/scale_model.hpp"

namespace {

using namespace handoff;
using lab::ScalePrediction;
using lab::ScaleSetup;

struct Case {
  std::size_t rows;
  std::size_t block;
  std::size_t row_bytes;  // 0: no results
  std::size_t ranks_per_node;  // 0: one node
  std::size_t threads;
};

constexpr Case kCases[] = {
    {1000, 1, 8, 0, 1},      {1000, 1, 0, 1, 1},    {12345, 7, 8, 1, 2}, {12345, 7, 8, 2, 1},
    {3, 1, 8, 1, 1},         {0, 1, 8, 0, 1},       {999, 50, 64, 2, 2}, {1, 1, 8, 1, 2},
    {40, 1, 1U << 19, 1, 1}, {100'003, 0, 0, 2, 2},
};

ScaleSetup setup_of(const Case& given, std::size_t ranks) {
  ScaleSetup setup;
  setup.ranks = ranks;
  setup.ranks_a_node = given.ranks_per_node == 0 ? ranks : given.ranks_per_node;
  setup.threads = given.threads;
  setup.rows = given.rows;
  setup.block = given.block;
  setup.row_bytes = static_cast<double>(given.row_bytes);
  return setup;
}

bool is_counted(const Case& given, std::size_t other_rows) {
  RankTeam team({.threads = given.threads, .ranks_per_node = given.ranks_per_node});
  const RankRunOptions options{.block = given.block};
  if (given.row_bytes == 0) {
    (void)team.run(given.rows, [](IndexRange) {}, options);
  } else {
    std::vector<std::byte> results(team.rank() == 0 ? given.rows * given.row_bytes : 0);
    (void)team.run(given.rows, [](IndexRange, std::span<std::byte>) {}, results, options);
  }
  const RankStatistics counted = team.statistics();
  Case asked = given;
  asked.rows += other_rows;
  const ScalePrediction predicted = lab::predict(setup_of(asked, team.ranks()));
  // How many blocks rank 0 has depends on the weather; each other block is two messages.
  const auto messages_without = [&](std::uint64_t own_blocks) {
    return given.row_bytes == 0 ? 0 : 2 * (predicted.blocks - own_blocks);
  };
  const std::uint64_t messages = messages_without(counted.own_blocks);
  const bool is_right = counted.node_blocks == predicted.claims &&
                        counted.blocks == predicted.blocks && counted.messages == messages &&
                        predicted.messages == messages_without(predicted.own_blocks);
  if (!is_right && team.rank() == 0) {
    std::fprintf(stderr,
                 "%zu ranks, %zu rows: claims %ju, %ju; blocks %ju, %ju; messages %ju, %ju\n",
                 team.ranks(), given.rows, std::uintmax_t{counted.node_blocks},
                 std::uintmax_t{predicted.claims}, std::uintmax_t{counted.blocks},
                 std::uintmax_t{predicted.blocks}, std::uintmax_t{counted.messages},
                 std::uintmax_t{messages});
  }
  return is_right;
}

bool all_counted(std::size_t other_rows) {
  return std::all_of(std::begin(kCases), std::end(kCases),
                     [&](const Case& given) { return is_counted(given, other_rows); });
}

// Rows of a product of matrices, or of sleep.
class Work {
 public:
  explicit Work(bool sleeps) : sleeps_(sleeps) {}

  void operator()(IndexRange range, std::span<float> out) const {
    if (sleeps_) {
      std::this_thread::sleep_for(std::chrono::milliseconds(range.size()));
      return;
    }
    std::fill(out.begin(), out.end(), 0.0F);
    for (std::size_t i = 0; i < range.size(); ++i) {
      for (std::size_t k = 0; k < kSize; ++k) {
        for (std::size_t j = 0; j < kSize; ++j) out[i * kSize + j] += b_[k] * b_[k * kSize + j];
      }
    }
  }

  // The middle one of seven.
  double ns_of_run(RankTeam& team, std::size_t rows) const {
    std::vector<float> results(team.rank() == 0 ? rows * kSize : 0);
    std::vector<double> times;
    while (times.size() < 7) {
      const auto begin = std::chrono::steady_clock::now();
      (void)team.run(rows, *this, results);
      times.push_back(
          std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin)
              .count());
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
  }

  static constexpr std::size_t kSize = 512;

 private:
  bool sleeps_;
  std::vector<float> b_ = std::vector<float>(kSize * kSize, 0.5F);
};

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
  const Work work(sleeps);
  const std::size_t rows = sleeps ? 400 : 1500;
  ScaleSetup setup;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    RankTeam alone({.threads = 1, .communicator = MPI_COMM_SELF});
    setup.wake_ns = work.ns_of_run(alone, 0);
    setup.row_ns = work.ns_of_run(alone, rows) / static_cast<double>(rows);
  }
  wait_for_rank_0();
  RankTeam team({.threads = 1, .ranks_per_node = sleeps ? 1U : 0U});
  const double measured = work.ns_of_run(team, rows);
  if (rank != 0) return;
  setup.ranks = team.ranks();
  setup.ranks_a_node = sleeps ? 1 : team.ranks();
  setup.rows = rows;
  setup.row_bytes = Work::kSize * sizeof(float);
  setup.latency_ns = 1e3 * latency_us;
  const double predicted = lab::predict(setup).ns;
  std::printf(
      "%zu ranks: predicted %.2f ms, measured %.2f ms, ratio %.3f (a row %.1f us, a wake-up "
      "%.1f us)\n",
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
