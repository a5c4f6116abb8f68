// SPDX-License-Identifier: MIT
//
// What a RankTeam may be told when it is made, what one of its runs may be told, and what it did.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include <handoff/config.hpp>
#include <handoff/core/until.hpp>

struct ompi_communicator_t;  // what an MPI_Comm of Open MPI points to

namespace handoff { inline namespace HANDOFF_ABI {

struct RankTeamOptions {
  // Threads of this rank that compute. 0: as many as it may use CPUs; ranks of a machine that are
  // not bound to some of its CPUs share them.
  std::size_t threads = 0;

  // The ranks of the team, in a communicator that this one is a copy of. Null: all of the job.
  ompi_communicator_t* communicator = nullptr;

  // A rank of another machine that says nothing for so long during a run is lost; 3 s at least.
  std::chrono::nanoseconds patience = std::chrono::seconds(8);

  // Ranks in a row that claim from one counter, as if others were elsewhere; 0: those of a machine.
  std::size_t ranks_per_node = 0;
};

struct RankRunOptions {
  // The fewest indices worth a claim; 0 and 1: the team decides.
  std::size_t block = 0;

  // Blocks that have not begun by then do not begin, on any rank. One rank's is enough.
  Until until = {};

  // A directory on rank 0's machine for the blocks that are finished; empty: none. A run that finds
  // the checkpoint of an earlier one goes on from there.
  std::string checkpoint = {};

  // What tells the input of this run from others, such as a checksum: a checkpoint of another input
  // is refused.
  std::uint64_t input = 0;
};

// What was done for the last run, by all ranks.
struct RankStatistics {
  std::uint64_t node_blocks = 0;  // claimed from the world's counter by a node
  std::uint64_t blocks = 0;  // claimed from a node's counter by a thread
  std::uint64_t own_blocks = 0;  // those of rank 0 among them
  std::uint64_t messages = 0;  // of finished blocks to rank 0
  std::uint64_t restored = 0;  // indices that a checkpoint had
};

}}  // namespace handoff::HANDOFF_ABI
