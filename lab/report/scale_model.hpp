// SPDX-License-Identifier: MIT
// A model of scale: the claims and messages of RankTeam on machines that are not there, as a
// simulation of discrete events. It predicts how long a loop takes on so many ranks.
//
// A thread claims a block from its node, which claims from the world ahead of need. A counter
// answers one claim after the other. The results of a block go to rank 0, which takes one message
// after the other; meanwhile the thread goes on. The blocks are those of the library itself. At
// last all ranks tell rank 0 that they are done, and it tells them.
#pragma once

#include "harness/coordinator.hpp"

namespace handoff::lab {

struct ScaleSetup {
  std::uint64_t ranks = 4096;
  std::uint64_t ranks_a_node = 64;
  std::uint64_t threads = 1;  // of a rank
  std::uint64_t rows = 1'000'000;
  std::uint64_t block = 0;  // RankRunOptions::block: the fewest rows worth a claim
  double row_ns = 100'000;  // of one thread, on average
  double skew = 0;       // 0: rows cost the same; 1: in proportion to their index
  double imbalance = 0;  // blocks cost so much more or less, at random: 0.1 is up to 10 %
  double row_bytes = 8;  // of a row's results
  double latency_ns = 2'000;  // of a message between nodes
  double bytes_per_ns = 12;   // GB/s of the link of rank 0
  double claim_ns = 500;      // the world's counter is busy with one claim
  double node_claim_ns = 100;  // the same of a node's
  double message_ns = 1'000;   // rank 0 is busy with one message
  double wake_ns = 10'000;     // until a thread that sleeps sees new work
  std::uint64_t seed = 1;

  [[nodiscard]] std::uint64_t nodes() const { return (ranks - 1) / ranks_a_node + 1; }
};

struct ScalePrediction {
  double ns = 0;
  double efficiency = 1;       // work over what all threads could have done
  std::uint64_t claims = 0;    // from the world, that gave something; none by a single node
  std::uint64_t blocks = 0;    // claimed by a thread
  std::uint64_t own_blocks = 0;  // those of rank 0 among them
  std::uint64_t messages = 0;  // with results, to rank 0
  double counter_busy = 0;  // of the time, with claims
  double link_busy = 0;     // of the time, with results
};

// The same setup gives the same prediction, to the last bit.
[[nodiscard]] ScalePrediction predict(const ScaleSetup& setup);

// The same if each thread claimed each block from the world.
[[nodiscard]] ScalePrediction predict_one_counter(const ScaleSetup& setup);

// The largest RankRunOptions::block that takes at most 0.2 % longer than the best one.
[[nodiscard]] std::uint64_t block_to_take(ScaleSetup setup,
                                          ScalePrediction (*predicted)(const ScaleSetup&));

}  // namespace handoff::lab
