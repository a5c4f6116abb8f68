// SPDX-License-Identifier: MIT
//
// ProcessTeam: its calls, and what it throws.
#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <handoff/core/misuse.hpp>
#include <handoff/process/process_team.hpp>
#include <handoff/sync/backoff.hpp>
#include <handoff/sync/cpu_budget.hpp>
#include <handoff/sync/mutex.hpp>
#include <utility>
#include <vector>

#include "../core/internal/call_failed.hpp"
#include "../sync/internal/seen_sanitizer.hpp"
#include "handed_memory.hpp"
#include "loaded_code.hpp"
#include "process_master.hpp"
#include "team_life.hpp"
#include "team_run.hpp"

namespace handoff { inline namespace HANDOFF_ABI {
namespace {

ProcessTeamOptions checked(ProcessTeamOptions options) {
  detail::check_workers("ProcessTeam", options.width, ProcessTeam::max_width, options.tries,
                        options.limit, options.replacements_per_second, options.cpus);
  if (options.start_limit <= std::chrono::nanoseconds(0)) {
    misuse("ProcessTeam: `start_limit` is more than 0: a program that says nothing never ends");
  }
  return options;
}

// Whether two workers are held on one CPU, so that one that spins keeps another from its work.
bool shares_a_cpu(const ProcessTeamOptions& options) {
  if (options.cpus.empty()) return false;
  std::vector<int> cpus = options.cpus;
  std::sort(cpus.begin(), cpus.end());
  return cpus.size() < options.width || std::adjacent_find(cpus.begin(), cpus.end()) != cpus.end();
}

// As many early workers as can run at a time. They spin where each has a CPU of its own, and the
// caller of run() has one as well: the last that ends leaves it its own if there is no other.
detail::TeamWaits waits_of(const ProcessTeamOptions& options) {
  std::size_t cpus = sync::recent_cpu_budget().width();
  const bool may_spin =
      sync::spin_policy() == sync::Spin::allowed && options.width <= cpus && !shares_a_cpu(options);
  const auto patience = !may_spin              ? detail::Patience::none
                        : options.width < cpus ? detail::Patience::all
                                               : detail::Patience::but_the_last;
  if (!options.cpus.empty()) cpus = std::min(cpus, options.cpus.size());
  return {static_cast<std::uint32_t>(std::min(cpus, options.width)), patience};
}

}  // namespace

class ProcessTeam::Master {
 public:
  explicit Master(ProcessTeamOptions options)
      : options_(checked(std::move(options))),
        owner_(::getpid()),
        waits_(waits_of(options_)),
        life_(detail::ArenaSizes::of_team(options_.width, max_blocks), !options_.program.empty(),
              waits_),
        workers_(options_, life_, max_blocks, life_.arena().file()) {}

  std::size_t width() const noexcept { return workers_.width(); }
  Tally tally() const noexcept { return tally_; }
  const std::vector<LostWork>& lost() const noexcept { return lost_; }

  Tally run(std::size_t count, BlockCall call, const void* arguments, std::size_t bytes,
            const RunOptions& options) {
    if (workers_.programs() != nullptr) {
      misuse("ProcessTeam: workers of another program have kernels by name: run(\"name\", ...)");
    }
    const auto kernel = std::bit_cast<std::uintptr_t>(call);
    return run_checked(count, kernel, arguments, bytes, options, [&] {
      if (!code_.has(kernel)) {
        raise(detail::call_failed(ENOENT,
                                  "ProcessTeam: the kernel's code was loaded after the team was "
                                  "made: load it first"));
      }
      if (detail::points_into_later_memory(arguments, bytes, workers_.memories())) {
        raise(detail::call_failed(EFAULT,
                                  "ProcessTeam: the arguments point into shared memory that came "
                                  "after the team: hand it a SharedSpan"));
      }
    });
  }

  Tally run(std::size_t count, const detail::KernelSignature& kernel, const void* arguments,
            const RunOptions& options) {
    if (workers_.programs() == nullptr) {
      misuse("ProcessTeam: workers that are forks have no kernels by name: run<kernel>(...)");
    }
    return run_checked(count, kernel.id(), arguments, kernel.bytes, options, [&] {
      workers_.programs()->check(kernel);
      if (detail::points_into_later_memory(arguments, kernel.bytes, 0)) {
        raise(detail::call_failed(EFAULT,
                                  "ProcessTeam: the arguments point into shared memory, which lies "
                                  "elsewhere in another program: hand it a SharedSpan"));
      }
    });
  }

 private:
  template <class Check>
  Tally run_checked(std::size_t count, std::uint64_t kernel, const void* arguments,
                    std::size_t bytes, const RunOptions& options, const Check& check) {
    if (::getpid() != owner_) misuse("ProcessTeam: run() in a fork of the program that made it");
    const sync::SeenLock turn(turn_);
    check();
    lost_.clear();
    tally_ = {};
    if (count == 0) return tally_;
    const detail::TeamJob job{
        .count = count, .block = block_for(count, options), .kernel = kernel, .bytes = bytes};
    detail::TeamRun run(workers_, life_.arena(), options_, options.until, waits_.early, number_,
                        lost_);
    tally_ = run.lead(job, arguments);
    if (tally_.first_failure != nullptr) std::rethrow_exception(tally_.first_failure);
    return tally_;
  }

  // Small enough that members finish together and a death costs little; each is worth its claim.
  std::size_t block_for(std::size_t count, const RunOptions& options) const noexcept {
    constexpr std::size_t blocks_each = 32;
    const auto divided = [count](std::size_t by) noexcept { return (count - 1) / by + 1; };
    const std::size_t wanted = options.block > 1    ? options.block
                               : options.block == 1 ? 1
                                                    : divided(workers_.width() * blocks_each);
    return std::max(wanted, divided(max_blocks));
  }

  const ProcessTeamOptions options_;
  const std::int64_t owner_;
  const detail::LoadedCode code_;  // before the fork
  const detail::TeamWaits waits_;
  detail::TeamLife life_;
  detail::ProcessMaster workers_;
  sync::Mutex turn_;  // one run at a time
  std::uint64_t number_ = 0;
  Tally tally_;
  std::vector<LostWork> lost_;
};

ProcessTeam::ProcessTeam(const ProcessTeamOptions& options)
    : master_(std::make_unique<Master>(options)) {}
ProcessTeam::~ProcessTeam() = default;
ProcessTeam::ProcessTeam(ProcessTeam&&) noexcept = default;
ProcessTeam& ProcessTeam::operator=(ProcessTeam&&) noexcept = default;

std::size_t ProcessTeam::width() const noexcept { return master_->width(); }
Tally ProcessTeam::tally() const noexcept { return master_->tally(); }
const std::vector<LostWork>& ProcessTeam::lost() const noexcept { return master_->lost(); }

Tally ProcessTeam::run_named(std::size_t count, const detail::KernelSignature& kernel,
                             const void* arguments, const RunOptions& options) {
  if (detail::is_team_worker()) misuse("ProcessTeam: run() from inside a kernel");
  return master_->run(count, kernel, arguments, options);
}

Tally ProcessTeam::run_blocks(std::size_t count, BlockCall call, const void* arguments,
                              std::size_t bytes, const RunOptions& options) {
  // There the team may be half made: it was when its workers were forked.
  if (detail::is_team_worker()) misuse("ProcessTeam: run() from inside a kernel");
  return master_->run(count, call, arguments, bytes, options);
}

}}  // namespace handoff::HANDOFF_ABI
