// SPDX-License-Identifier: MIT
// The rows as people hand them out with MPI: dealt beforehand, or by a master, one block at a time.
// All ranks have A and B; the rows of C come to rank 0.
#include "peers/rank_crew.hpp"
#include "scenarios/matmul/contender.hpp"

namespace handoff::lab::matmul {
namespace {

struct Product {};  // there is but one to compute

// What both have: messages with rows.
class RowRank : protected peers::PlainRank {
 public:
  explicit RowRank(const Task& task)
      : task_(task),
        rows_(task.rows()),
        row_bytes_(std::visit([](const auto& o) { return o.n * sizeof *o.c; }, task.operands)) {
    const std::size_t bytes = task.m * row_bytes_;
    if (bytes > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
      throw std::runtime_error("MPI counts no more than 2^31 bytes");
    }
  }

 protected:
  [[nodiscard]] int bytes_of(std::size_t rows) const { return static_cast<int>(rows * row_bytes_); }
  [[nodiscard]] std::byte* place_of(std::size_t row) const {
    return task_.output + row * row_bytes_;
  }

  const Task& task_;
  const RowKernel rows_;
  const std::size_t row_bytes_;
};

class StaticRank : RowRank {
 public:
  explicit StaticRank(const Task& task) : RowRank(task) {
    for (int i = 0; i < ranks; ++i) {
      begins_.push_back(bytes_of(begin_of(i)));
      sizes_.push_back(bytes_of(begin_of(i + 1) - begin_of(i)));
    }
  }

  void run(Product /*order*/) const {
    const std::size_t first = begin_of(rank);
    const std::size_t last = begin_of(rank + 1);
    rows_(first, last);
    const void* from = rank == 0 ? MPI_IN_PLACE : place_of(first);
    MPI_Gatherv(from, bytes_of(last - first), MPI_BYTE, task_.output, sizes_.data(), begins_.data(),
                MPI_BYTE, 0, MPI_COMM_WORLD);
  }

 private:
  [[nodiscard]] std::size_t begin_of(int of) const {
    return task_.m * static_cast<std::size_t>(of) / static_cast<std::size_t>(ranks);
  }

  std::vector<int> begins_;
  std::vector<int> sizes_;
};

// Rank 0 is the master, and computes nothing.
class MasterOrWorker : RowRank {
 public:
  using RowRank::RowRank;
  void run(Product /*order*/) { rank == 0 ? hand_out() : work(); }

 private:
  struct Rows {
    std::size_t first;
    std::size_t last;
  };

  // A worker asks with the rows that it has done, none at first.
  void hand_out() const {
    std::vector<Rows> given(static_cast<std::size_t>(ranks), Rows{0, 0});
    std::size_t next = 0;
    for (int at_work = ranks - 1; at_work > 0;) {
      MPI_Status asked;
      MPI_Probe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &asked);
      Rows& its = given[static_cast<std::size_t>(asked.MPI_SOURCE)];
      MPI_Recv(place_of(its.first), bytes_of(its.last - its.first), MPI_BYTE, asked.MPI_SOURCE, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      its = {next, std::min(next + block(), task_.m)};
      if (its.first == its.last) --at_work;
      next = its.last;
      MPI_Send(&its, sizeof its, MPI_BYTE, asked.MPI_SOURCE, 0, MPI_COMM_WORLD);
    }
  }
  void work() const {
    Rows mine{0, 0};
    do {
      MPI_Send(place_of(mine.first), bytes_of(mine.last - mine.first), MPI_BYTE, 0, 0,
               MPI_COMM_WORLD);
      MPI_Recv(&mine, sizeof mine, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      rows_(mine.first, mine.last);
    } while (mine.first < mine.last);
  }

  // A library's product wants rows together, and a worker that is late should not be late by much.
  [[nodiscard]] std::size_t block() const {
    const std::size_t turns = task_.kernel == Kernel::tile ? 4 : task_.m;
    return std::max<std::size_t>(1, task_.m / (turns * static_cast<std::size_t>(ranks - 1)));
  }
};

template <class Rank, std::size_t masters>
Operation product(const Task& task) {
  const auto crew =
      std::make_shared<peers::RankCrew<Rank, Product>>(task.width + masters, std::cref(task));
  return [crew] { crew->run({}); };
}

}  // namespace

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>({{"peer.mpi_static", product<StaticRank, 0>},
                                         {"peer.mpi_master_worker", product<MasterOrWorker, 1>}})(
      task);
}

}  // namespace handoff::lab::matmul
