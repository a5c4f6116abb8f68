// SPDX-License-Identifier: MIT
#include <errno.h>

#include <algorithm>
#include <exception>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/mpi/rank_team.hpp>
#include <handoff/team/thread_team.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "../core/internal/call_failed.hpp"
#include "outbox.hpp"
#include "rank_checkpoint.hpp"
#include "rank_link.hpp"
#include "rank_run.hpp"

namespace handoff { inline namespace HANDOFF_ABI {
namespace {

using detail::CallWords;
using detail::RankJob;
using detail::RankRunPlan;
using detail::RankVerdict;
using detail::StopCause;

enum CallKind : std::uint64_t { kRun, kBroadcast };

// What rank 0 alone knows when a run begins with a checkpoint; or what is wrong there.
struct Opening {
  int error = 0;
  detail::RankText text = {};
  std::uint64_t holes = 0;  // ranges that are left
};

std::uint64_t stop_of(const Until& until) {
  if (until.stop_requested()) return static_cast<std::uint64_t>(StopCause::stopped);
  const bool is_late = until.has_deadline() && sync::clock::now() >= until.deadline();
  return static_cast<std::uint64_t>(is_late ? StopCause::expired : StopCause::none);
}

std::size_t bytes_per_index(const RankJob& job) {
  if (job.value_bytes == 0 || job.count == 0) return 0;
  const std::size_t values = job.results.size() / job.value_bytes;
  if (values == 0 || values % job.count != 0) {
    raise(detail::call_failed(EINVAL, "RankTeam: rank 0 has room for " + std::to_string(values) +
                                          " results of " + std::to_string(job.count) +
                                          " indices: give the same number for each"));
  }
  return values / job.count * job.value_bytes;
}

// Where blocks are written down, each thread has some: the loss of one costs little.
std::size_t largest_block(const RankJob& job, const RankRunPlan& plan, std::size_t width) {
  constexpr std::size_t recorded_blocks_each = 16;
  const std::size_t largest = detail::largest_block(plan.bytes_per_index);
  if (!plan.is_recorded) return largest;
  return std::clamp<std::size_t>(job.count / (recorded_blocks_each * width), 1, largest);
}

}  // namespace

class RankTeam::Ranks {
 public:
  explicit Ranks(const RankTeamOptions& options)
      : patience_(options.patience),
        link_(options),
        outbox_(link_.bell()),
        team_({.name = "handoff-rank", .width = link_.threads() + 1}) {
    // The caller calls MPI, and the others compute: one at least.
    link_.agree(EAGAIN, team_.width() < 2 ? "the system refused the threads" : "");
  }

  const detail::RankLink& link() const noexcept { return link_; }
  std::size_t threads() const noexcept { return team_.width() - 1; }
  Tally tally() const noexcept { return tally_; }
  RankStatistics statistics() const noexcept { return statistics_; }

  Tally run(const RankJob& job, const RankRunOptions& options) {
    if (is_running_) misuse("RankTeam: run() from inside a block");
    tally_ = {};
    statistics_ = {};
    CallWords call{.words = {kRun, job.count, options.block, job.value_bytes,
                             options.checkpoint.empty() ? 0U : 1U, options.input},
                   .stop = stop_of(options.until),
                   .can_end = options.until.can_end() ? 1U : 0U};
    Opening opening;
    if (link_.rank() == 0) {
      try_to(opening, [&] { call.bytes_per_index = bytes_per_index(job); });
    }
    call.has_opening = opening.error != 0 || !options.checkpoint.empty() ? 1 : 0;
    link_.meet(call);
    const auto cause = static_cast<StopCause>(call.stop);
    RankRunPlan plan;
    plan.number = ++runs_;
    plan.bytes_per_index = call.bytes_per_index;
    plan.left = {{0, job.count}};
    plan.is_recorded = !options.checkpoint.empty();
    plan.reports = job.value_bytes != 0 || plan.is_recorded;
    plan.can_end = call.can_end != 0;
    plan.patience = patience_;
    std::optional<detail::RankCheckpoint> checkpoint;
    if (call.has_opening != 0) open(job, options, opening, plan, checkpoint);
    std::size_t left = 0;
    for (const IndexRange range : plan.left) left += range.size();
    plan.plans = {.count = left,
                  .nodes = link_.nodes(),
                  .width = link_.widest_node(),
                  .smallest = std::max(options.block, left / kMostBlocks + 1),
                  .largest = largest_block(job, plan, link_.width())};
    detail::RankRun run(link_, team_, outbox_, job, std::move(plan), options.until, cause,
                        checkpoint ? &*checkpoint : nullptr);
    const RankVerdict verdict = lead(run);
    return settle(job.count, left, verdict);
  }

  void broadcast(std::span<std::byte> bytes) {
    if (is_running_) misuse("RankTeam: broadcast() from inside a block");
    CallWords call{.words = {kBroadcast, bytes.size()}};
    link_.meet(call);
    link_.broadcast(bytes);
  }

 private:
  // A counter of a node has 32 bits; some of them for threads that ask in vain.
  static constexpr std::size_t kMostBlocks = std::size_t{1} << 30;

  template <class Call>
  static void try_to(Opening& opening, const Call& call) {
    if (opening.error != 0) return;
    try {
      call();
    } catch (const std::system_error& error) {
      opening.error = error.code().value();
      opening.text = detail::rank_text(error.what());
    } catch (const std::exception& error) {
      opening.error = ENOMEM;
      opening.text = detail::rank_text(error.what());
    }
  }

  // Rank 0 tells all the others.
  void open(const RankJob& job, const RankRunOptions& options, Opening& opening, RankRunPlan& plan,
            std::optional<detail::RankCheckpoint>& checkpoint) {
    if (link_.rank() == 0) {
      try_to(opening, [&] {
        const detail::RankCheckpoint::Input input{job.count, plan.bytes_per_index, options.input};
        checkpoint.emplace(options.checkpoint, input, job.results);
        plan.left = checkpoint->left();
        opening.holes = plan.left.size();
      });
    }
    link_.broadcast(std::as_writable_bytes(std::span(&opening, 1)));
    fail_if(opening.error, opening.text);
    plan.left.resize(opening.holes);
    link_.broadcast(std::as_writable_bytes(std::span(plan.left)));
  }

  RankVerdict lead(detail::RankRun& run) {
    is_running_ = true;
    RankVerdict verdict;
    detail::call_or([&] { verdict = run.lead(); }, [&]() noexcept { is_running_ = false; });
    is_running_ = false;
    // All ranks have left the counters.
    if (link_.is_first_of_node()) link_.node().open(link_.nodes() == 1);
    if (link_.rank() == 0 && link_.nodes() > 1) link_.reset_world();
    return verdict;
  }

  Tally settle(std::size_t count, std::size_t left, const RankVerdict& verdict) {
    fail_if(verdict.error, verdict.text);
    tally_.accepted = count;
    tally_.done = count - left + verdict.figures.done;
    tally_.failed = verdict.figures.failed;
    const std::uint64_t rest = count - tally_.done - tally_.failed;
    (verdict.cause == StopCause::expired ? tally_.expired : tally_.cancelled) = rest;
    statistics_ = verdict.figures.statistics;
    statistics_.restored = count - left;
    if (tally_.failed != 0) {
      tally_.first_failure = std::make_exception_ptr(WorkFailed(verdict.text.data()));
      link_.thrown_on_all();
      std::rethrow_exception(tally_.first_failure);
    }
    return tally_;
  }

  void fail_if(int error, const detail::RankText& text) {
    if (error == 0) return;
    link_.thrown_on_all();
    detail::raise_told(error, text.data());
  }

  const std::chrono::nanoseconds patience_;
  detail::RankLink link_;
  detail::Outbox outbox_;
  ThreadTeam team_;
  std::uint64_t runs_ = 0;
  bool is_running_ = false;  // read in blocks, which the run orders
  Tally tally_;
  RankStatistics statistics_;
};

RankTeam::RankTeam(const RankTeamOptions& options) : ranks_(std::make_unique<Ranks>(options)) {}
RankTeam::~RankTeam() = default;
RankTeam::RankTeam(RankTeam&&) noexcept = default;
RankTeam& RankTeam::operator=(RankTeam&&) noexcept = default;

std::size_t RankTeam::rank() const noexcept {
  return static_cast<std::size_t>(ranks_->link().rank());
}
std::size_t RankTeam::ranks() const noexcept {
  return static_cast<std::size_t>(ranks_->link().ranks());
}
std::size_t RankTeam::threads() const noexcept { return ranks_->threads(); }
std::size_t RankTeam::width() const noexcept { return ranks_->link().width(); }
Tally RankTeam::tally() const noexcept { return ranks_->tally(); }
RankStatistics RankTeam::statistics() const noexcept { return ranks_->statistics(); }

Tally RankTeam::run_job(const detail::RankJob& job, const RankRunOptions& options) {
  return ranks_->run(job, options);
}
void RankTeam::broadcast_bytes(std::span<std::byte> bytes) { ranks_->broadcast(bytes); }

}}  // namespace handoff::HANDOFF_ABI
