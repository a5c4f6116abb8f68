// SPDX-License-Identifier: MIT
//
// The workers of a ProcessTeam or a ProcessPool as their master knows them: a pidfd a slot, and
// what makes new ones: a fork server, or another program that is run.
//
//   TC-1  A process of another program is alive() once it is ready. One that ended before had no
//         claim: it is no death, but a start that was refused.
//   TC-2  After a start of another program was refused, the next one waits, longer each time, until
//         one is ready or another run begins.
//
// Concurrency: one thread at a time.
#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <handoff/config.hpp>
#include <handoff/process/process_team_options.hpp>
#include <handoff/sync/clock.hpp>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "../sync/internal/descriptor.hpp"
#include "fork_server.hpp"
#include "handed_memory.hpp"
#include "program_workers.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// What the options of `type` say of its workers; what cannot be is misuse. A width of 0 becomes the
// number of CPUs that this process may use.
void check_workers(const char* type, std::size_t& width, std::size_t max_width, std::uint32_t tries,
                   std::chrono::nanoseconds limit, std::uint32_t replacements_per_second,
                   const std::vector<int>& cpus);

class TeamCrew {
 public:
  struct Death {
    std::uint32_t slot;
    WorkerEnd end;
  };

  // Starts all workers. The options outlive this; it reads those that say what a worker is and how
  // many there may be. `blocks`, `memory`: what workers of another program share, in a
  // file. Throws std::system_error.
  TeamCrew(const ProcessTeamOptions& options, WorkerLife& life, std::size_t blocks, int memory);
  ~TeamCrew();
  TeamCrew(const TeamCrew&) = delete;
  TeamCrew& operator=(const TeamCrew&) = delete;

  std::uint32_t width() const noexcept { return plan_.width; }
  std::size_t alive() const noexcept;

  // The kernels by name; null: workers are forks.
  const ProgramWorkers* programs() const noexcept { return programs_.get(); }
  // How many handles of memory there were when the forks were made.
  std::uint64_t memories() const noexcept { return memories_; }
  // Another run begins: what was refused may be in order by now.
  void begin_run() noexcept;
  // Why there is no worker, as the errno says it.
  std::system_error refusal(int error) const;

  // Sleeps until a worker has told of something or has ended, somebody has called wake(), or the
  // deadline has passed. Fills `deaths` with those since the last call. True if a worker has told.
  bool wait(sync::Deadline deadline, std::vector<Death>& deaths);

  // Ends a wait(). By any thread.
  void wake() noexcept;

  // Starts workers in the slots that have none, while the rate allows. What the last one refused
  // said, or 0.
  int refill() noexcept;
  // Starts a worker in a slot that has none, whatever the rate; 0, or the errno.
  int start_worker(std::uint32_t slot) noexcept;
  // When a slot is empty for want of rate: when it gets its worker. Else never.
  sync::Deadline next_refill() const noexcept;

  // Kills the worker of the slot. Its death will be among those of wait(), as `overdue` if so.
  void kill(std::uint32_t slot, bool overdue) noexcept;

 private:
  struct Worker {
    Descriptor pidfd;  // of a fork
    std::unique_ptr<ProgramWorker> program;
    std::uint32_t serial = 0;
    bool overdue = false;

    // The pidfd; -1: the slot is empty.
    int end() const noexcept { return program != nullptr ? program->pidfd() : pidfd.get(); }
    bool is_there() const noexcept { return end() >= 0; }
    bool is_alive() const noexcept {
      return is_there() && (program == nullptr || program->is_ready());
    }
  };

  void start_forks(OnFewerWorkers on_fewer);
  void start_programs(OnFewerWorkers on_fewer);
  void end_programs() noexcept;
  int start_server() noexcept;
  int refused(int error) noexcept;
  bool is_any_starting() const noexcept;
  void attend_starts() noexcept;
  bool poll_all(sync::Deadline deadline) noexcept;
  void look(std::vector<Death>& deaths);

  const std::int64_t owner_;  // the process that made it: forks of it end nothing
  WorkerLife& life_;
  Descriptor event_;
  MemoryAsks asks_;
  std::unique_ptr<ProgramWorkers> programs_;  // none: workers are forks
  std::uint64_t memories_ = 0;
  ServerPlan plan_;
  ForkServer server_{plan_};
  std::vector<Worker> workers_;
  std::vector<pollfd> polled_;
  std::uint32_t serial_ = 0;
  int refused_ = 0;  // by the last start
  std::uint32_t refusals_ = 0;  // of programs, in a row
  sync::Deadline retry_at_;  // no start of a program before
  std::vector<sync::Deadline> replaced_;  // when; as many as are allowed in a second
  std::size_t oldest_ = 0;  // of those
};

}}}  // namespace handoff::HANDOFF_ABI::detail
