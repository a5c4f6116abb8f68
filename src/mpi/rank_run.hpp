// SPDX-License-Identifier: MIT
//
// One run of a team of ranks, as one rank has it: threads that claim blocks and compute, and the
// caller, which alone calls MPI. It sends finished blocks to rank 0 or receives them there, claims
// the node's next block ahead of need, and looks after `until` and after ranks that fell silent.
#pragma once

#include <chrono>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <handoff/config.hpp>
#include <handoff/core/internal/stride.hpp>
#include <handoff/mpi/rank_team.hpp>
#include <handoff/sync/mutex.hpp>
#include <handoff/team/thread_team.hpp>

#include "block_plan.hpp"
#include "outbox.hpp"
#include "rank_checkpoint.hpp"
#include "rank_link.hpp"
#include "rank_words.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// What all ranks know when a run begins.
struct RankRunPlan {
  std::uint64_t number = 0;  // of the run, from 1 on
  RankPlans plans;
  std::uint64_t bytes_per_index = 0;
  std::vector<IndexRange> left;  // what is to be done; plans count through it
  bool reports = false;  // finished blocks are told to rank 0
  bool is_recorded = false;  // in a checkpoint
  bool can_end = false;  // by a deadline or a stop of some rank
  std::chrono::nanoseconds patience{0};
};

class RankRun {
 public:
  RankRun(RankLink& link, ThreadTeam& team, Outbox& outbox, const RankJob& job, RankRunPlan plan,
          const Until& until, StopCause cause, RankCheckpoint* checkpoint);
  RankRun(const RankRun&) = delete;
  RankRun& operator=(const RankRun&) = delete;

  // Until all ranks are done: what rank 0 said of all.
  RankVerdict lead();

 private:
  // Blocks under way from or to this rank, with what must stay until they are through.
  struct Transfer {
    RankReport report;
    ResultBytes results;
    std::vector<MPI_Request> requests;
    int from = 0;  // of one that arrives
  };
  // Words of rank 0 on their way to the others.
  struct Telling {
    RankVerdict verdict;
    std::vector<MPI_Request> requests;
  };

  // By the threads that compute.
  void work() noexcept;
  void look(Stride& stride) const noexcept;
  void compute(IndexRange block, Stride& stride, RankFigures& figures) noexcept;
  void run_piece(IndexRange piece, RankFigures& figures) noexcept;
  void keep_failure(std::size_t size, RankFigures& figures) noexcept;

  // By the caller.
  void step();
  sync::Deadline next_look() noexcept;
  bool send_finished();
  bool take_reports();
  void take(const RankReport& report, int from);
  bool take_verdicts();
  bool complete();
  bool supply_node();
  void watch_until();
  void watch_others();
  void stop(StopCause cause);
  void tell_end();
  template <class Call>
  bool with_checkpoint(const Call& call);
  void record(IndexRange range, const std::byte* results);
  void conclude();
  void leave() noexcept;
  void expect_report();
  void expect_verdict();
  void tell_rank_0(const RankReport& report, ResultBytes results = {});
  void tell_all(const RankVerdict& verdict);
  void move_bytes(std::byte* bytes, std::size_t size, int other, bool sends,
                  std::vector<MPI_Request>& requests);
  bool is_rank_0() const noexcept { return link_.rank() == 0; }
  std::byte* place_of(IndexRange range) const noexcept {
    return job_.results.data() + range.first * plan_.bytes_per_index;
  }

  RankLink& link_;
  ThreadTeam& team_;
  Outbox& outbox_;
  const RankJob& job_;
  const RankRunPlan plan_;
  std::vector<std::size_t> begins_;  // of `left`, counted through
  const Until& until_;
  RankCheckpoint* const checkpoint_;

  sync::Mutex mutex_;  // of these two, while threads compute
  RankFigures figures_;
  RankText failure_ = {};

  Pace pace_;
  StopCause cause_;
  bool has_told_end_ = false;
  const sync::Deadline began_ = sync::clock::now();
  sync::Deadline spins_until_;  // once the end is told
  sync::Backoff last_wait_;
  std::uint64_t messages_ = 0;
  std::uint64_t node_blocks_ = 0;
  std::optional<RankVerdict> verdict_;  // the last one

  std::unique_ptr<std::list<Transfer>> own_sends_ = std::make_unique<std::list<Transfer>>();
  std::unique_ptr<std::list<Telling>> own_tellings_ = std::make_unique<std::list<Telling>>();
  std::list<Transfer>& sends_ = *own_sends_;
  std::list<Telling>& tellings_ = *own_tellings_;
  std::list<Transfer> arrivals_;
  MPI_Request expected_ = MPI_REQUEST_NULL;
  RankReport report_;  // comes next, to rank 0
  RankVerdict heard_;  // comes next, from it
  int ends_ = 0;  // ranks that have no more blocks
  RankVerdict outcome_{.kind = RankVerdict::Kind::end};  // of all, as rank 0 gathers it

  // The first rank of a node.
  const BlockPlan world_;
  std::uint32_t last_ = NodeCounter::no_block;
  bool world_is_over_;

  std::vector<sync::Deadline> heard_at_;  // by rank; elsewhere of rank 0 alone
  sync::Deadline told_at_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
