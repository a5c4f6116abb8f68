// SPDX-License-Identifier: MIT
// Loops as people write them with MPI: indices dealt out beforehand, and a master that hands out
// one at a time.
#pragma once

#include "peers/rank_crew.hpp"

namespace handoff::lab::peers {

class StaticRank : PlainRank {
 public:
  void run(const LoopOrder& order) const {
    const auto border = [&](int of) {
      return order.count * static_cast<std::size_t>(of) / static_cast<std::size_t>(ranks);
    };
    order.run(border(rank), border(rank + 1));
    MPI_Barrier(MPI_COMM_WORLD);
  }
};
using MpiStatic = RankLoops<StaticRank>;

// Rank 0 is the master.
class MasterOrWorker : PlainRank {
 public:
  void run(const LoopOrder& order) const { rank == 0 ? hand_out(order.count) : work(order); }

 private:
  void hand_out(std::size_t count) const {
    std::size_t next = 0;
    for (int at_work = ranks - 1; at_work > 0;) {
      MPI_Status asked;
      MPI_Recv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &asked);
      if (next >= count) --at_work;
      const std::size_t given = next++;
      MPI_Send(&given, sizeof given, MPI_BYTE, asked.MPI_SOURCE, 0, MPI_COMM_WORLD);
    }
  }
  static void work(const LoopOrder& order) {
    for (;;) {
      std::size_t given = 0;
      MPI_Sendrecv(nullptr, 0, MPI_BYTE, 0, 0, &given, sizeof given, MPI_BYTE, 0, 0, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
      if (given >= order.count) return;
      order.run(given, given + 1);
    }
  }
};
using MpiMasterWorker = RankLoops<MasterOrWorker, 1>;

}  // namespace handoff::lab::peers
