// SPDX-License-Identifier: MIT
//
// The workers of a ProcessTeam or a ProcessPool as their master knows them: a pidfd a slot, and the
// server that makes new ones.
//
// Concurrency: one thread at a time.
#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <handoff/config.hpp>
#include <handoff/process/process_team_options.hpp>
#include <handoff/sync/clock.hpp>
#include <optional>
#include <vector>

#include "descriptor.hpp"
#include "fork_server.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// What the options of `type` say of its workers; what cannot be is misuse. A width of 0 becomes the
// number of CPUs that this process may use.
void check_workers(const char* type, std::size_t& width, std::size_t max_width, std::uint32_t tries,
                   const std::vector<int>& cpus);

class TeamCrew {
 public:
  struct Death {
    std::uint32_t slot;
    WorkerEnd end;
  };

  // Starts all workers. Of the options those count that say what a worker is and how many there may
  // be. Throws ProcessTeamError.
  TeamCrew(const ProcessTeamOptions& options, std::size_t width, WorkerLife& life);
  ~TeamCrew();
  TeamCrew(const TeamCrew&) = delete;
  TeamCrew& operator=(const TeamCrew&) = delete;

  std::uint32_t width() const noexcept { return plan_.width; }
  std::size_t alive() const noexcept;
  bool is_alive(std::uint32_t slot) const noexcept { return workers_[slot].pidfd.is_open(); }

  // Sleeps until a worker has told of something or has ended, somebody has called wake(), or the
  // deadline has passed. Fills `deaths` with those since the last call.
  void wait(sync::Deadline deadline, std::vector<Death>& deaths);

  // Ends a wait(). By any thread.
  void wake() noexcept;

  // Starts workers in the slots that have none, while the rate allows. What the last one refused
  // said, or 0.
  int refill() noexcept;
  // Starts a worker in a slot that has none, whatever the rate; 0, or the errno. For one that ended
  // because it was to.
  int restart(std::uint32_t slot) noexcept;
  // When a slot is empty for want of rate: when it gets its worker. Else never.
  sync::Deadline next_refill() const noexcept;

  // Kills the worker of the slot. Its death will be among those of wait(), as `overdue` if so.
  void kill(std::uint32_t slot, bool overdue) noexcept;

 private:
  struct Worker {
    Descriptor pidfd;
    std::uint32_t serial = 0;
    bool overdue = false;
  };

  int start_worker(std::uint32_t slot) noexcept;
  bool take_token() noexcept;
  void look(std::vector<Death>& deaths);

  const std::uint32_t rate_;
  const std::int64_t owner_;  // the process that made it: forks of it end nothing
  WorkerLife& life_;
  Descriptor event_;
  ServerPlan plan_;
  ForkServer server_{plan_};
  std::vector<Worker> workers_;
  std::vector<pollfd> polled_;
  std::uint32_t serial_ = 0;
  int refused_ = 0;  // by the last start
  double tokens_;
  sync::Deadline tokens_at_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
