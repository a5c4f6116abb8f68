// SPDX-License-Identifier: MIT
#include <mpi.h>

#include <algorithm>
#include <handoff/core/misuse.hpp>
#include <handoff/mpi/rank_team.hpp>
#include <handoff/sync/cpu_budget.hpp>
#include <handoff/team/thread_team.hpp>
#include <string>
#include <system_error>

#include "block_plan.hpp"

namespace handoff { inline namespace HANDOFF_ABI {
namespace {

void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  raise(std::system_error(EIO, std::generic_category(),
                          std::string("RankTeam: ") + what + ": " + text));
}

}  // namespace

class RankTeam::Ranks {
 public:
  explicit Ranks(const RankTeamOptions& options) {
    int is_initialised = 0;
    MPI_Initialized(&is_initialised);
    if (is_initialised == 0) {
      int level = 0;
      MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level);
      owns_ = true;
    }
    check(MPI_Comm_dup(options.communicator != nullptr ? options.communicator : MPI_COMM_WORLD,
                       &comm_),
          "the communicator");
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &ranks_);
    threads_ = options.threads != 0 ? options.threads : sync::cpu_budget().width();
    team_ = std::make_unique<ThreadTeam>(threads_);
    std::size_t width = 0;
    MPI_Allreduce(&threads_, &width, 1, MPI_UNSIGNED_LONG, MPI_SUM, comm_);
    width_ = width;
  }
  ~Ranks() {
    team_.reset();
    MPI_Comm_free(&comm_);
    if (owns_) MPI_Finalize();
  }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  Tally run(const detail::RankJob& job, const RankRunOptions& options) {
    unsigned long per_index = job.count == 0 ? 0 : job.results.size() / job.count;
    MPI_Bcast(&per_index, 1, MPI_UNSIGNED_LONG, 0, comm_);
    const std::size_t ranks = static_cast<std::size_t>(ranks_);
    const std::size_t rank = static_cast<std::size_t>(rank_);
    const std::size_t first = job.count * rank / ranks;
    const std::size_t last = job.count * (rank + 1) / ranks;
    std::vector<std::byte> part(rank == 0 ? 0 : (last - first) * per_index);
    std::byte* const out = rank == 0 ? job.results.data() : part.data();
    tally_ = team_->run(last - first,
                        [&](IndexRange range) {
                          job.call(job.body, {first + range.first, first + range.last},
                                   out + range.first * per_index, per_index);
                        },
                        {.block = options.block, .until = options.until});
    for (std::uint64_t* figure :
         {&tally_.accepted, &tally_.done, &tally_.cancelled, &tally_.expired, &tally_.failed}) {
      MPI_Allreduce(MPI_IN_PLACE, figure, 1, MPI_UINT64_T, MPI_SUM, comm_);
    }
    if (rank != 0) {
      MPI_Send(part.data(), static_cast<int>(part.size()), MPI_BYTE, 0, 1, comm_);
    } else {
      for (std::size_t from = 1; from < ranks; ++from) {
        const std::size_t at = job.count * from / ranks * per_index;
        const std::size_t end = job.count * (from + 1) / ranks * per_index;
        MPI_Recv(job.results.data() + at, static_cast<int>(end - at), MPI_BYTE,
                 static_cast<int>(from), 1, comm_, MPI_STATUS_IGNORE);
      }
    }
    return tally_;
  }
  void broadcast(std::span<std::byte> bytes) {
    MPI_Bcast(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, 0, comm_);
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int ranks_ = 1;
  bool owns_ = false;
  std::size_t threads_ = 1;
  std::size_t width_ = 1;
  std::unique_ptr<ThreadTeam> team_;
  Tally tally_;
  RankStatistics statistics_;
};

RankTeam::RankTeam(const RankTeamOptions& options) : ranks_(std::make_unique<Ranks>(options)) {}
RankTeam::~RankTeam() = default;
RankTeam::RankTeam(RankTeam&&) noexcept = default;
RankTeam& RankTeam::operator=(RankTeam&&) noexcept = default;

std::size_t RankTeam::rank() const noexcept { return static_cast<std::size_t>(ranks_->rank_); }
std::size_t RankTeam::ranks() const noexcept { return static_cast<std::size_t>(ranks_->ranks_); }
std::size_t RankTeam::threads() const noexcept { return ranks_->threads_; }
std::size_t RankTeam::width() const noexcept { return ranks_->width_; }
Tally RankTeam::tally() const noexcept { return ranks_->tally_; }
RankStatistics RankTeam::statistics() const noexcept { return ranks_->statistics_; }

Tally RankTeam::run_job(const detail::RankJob& job, const RankRunOptions& options) {
  return ranks_->run(job, options);
}
void RankTeam::broadcast_bytes(std::span<std::byte> bytes) { ranks_->broadcast(bytes); }

}}  // namespace handoff::HANDOFF_ABI
