// SPDX-License-Identifier: MIT
// This library's team of processes, made while the parent is small: its fork server starts a worker
// in the place of one that was killed, and the team's next run is that worker's first.
#include <cerrno>
#include <chrono>
#include <csignal>
#include <stdexcept>

#include <sys/types.h>
#include <unistd.h>
#include <handoff/process/process_team.hpp>
#include <handoff/process/shared_memory.hpp>

#include "peers/polling.hpp"
#include "scenarios/spawn/workers.hpp"

namespace handoff::lab::spawn { namespace {

struct Note {
  pid_t* worker;  // in shared memory
};
void tell(IndexRange /*range*/, const Note& note) { *note.worker = getpid(); }

class Team {
 public:
  Team() {
    start();
    end();
  }

  pid_t start() {
    static_cast<void>(team_.run<tell>(1, Note{worker_}));
    return *worker_;
  }

  // Gone is a worker whose number is free again: the fork server has waited for it.
  void end() {
    const pid_t worker = *worker_;
    if (kill(worker, SIGKILL) != 0) throw std::runtime_error("the worker has ended by itself");
    const bool is_gone = peers::retry_for(std::chrono::seconds(10),
                                          [&] { return kill(worker, 0) != 0 && errno == ESRCH; });
    if (!is_gone) throw std::runtime_error("the worker does not end");
  }

 private:
  SharedMemory memory_ = SharedMemory::create({.bytes = sizeof(pid_t)});
  pid_t* const worker_ = reinterpret_cast<pid_t*>(memory_.bytes().data());
  ProcessTeam team_{{.width = 1, .replacements_per_second = 1'000'000}};
};

}}  // namespace handoff::lab::spawn

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte> /*input*/) {
  return spawn::measure_ready<spawn::Team>(parameters);
}
