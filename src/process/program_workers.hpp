// SPDX-License-Identifier: MIT
//
// The processes of another program that work for a team: how the team starts them, gets to know
// them, and what it says of those that will not do. worker_hello.hpp has what is said.
//
// Concurrency: one thread at a time. Blocks: start(), until the program runs or could not be run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <handoff/config.hpp>
#include <handoff/core/work_failed.hpp>
#include <handoff/process/detail/kernel_signature.hpp>
#include <handoff/process/process_team_options.hpp>
#include <handoff/process/subprocess.hpp>
#include <handoff/sync/clock.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../sync/internal/descriptor.hpp"
#include "name_keeper.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// What each of them is given. The descriptors stay the team's.
struct ProgramPlan {
  int memory = -1;
  int event = -1;
  int asks = -1;
  std::uint32_t width = 0;
  std::uint32_t slots = 0;
  std::uint32_t blocks = 0;
};

// One of them.
class ProgramWorker {
 public:
  [[nodiscard]] bool is_ready() const noexcept { return state_ == State::ready; }
  // Readable once it is gone.
  [[nodiscard]] int pidfd() const noexcept { return pidfd_; }
  // Readable when it has said something; -1: nothing is to come.
  [[nodiscard]] int socket() const noexcept { return socket_.get(); }
  // When it must be ready.
  [[nodiscard]] sync::Deadline deadline() const noexcept {
    return state_ < State::ready ? deadline_ : sync::no_deadline;
  }
  void kill() noexcept { child_.kill(); }

 private:
  friend class ProgramWorkers;
  enum class State : std::uint8_t { starts, is_welcome, ready, refused };

  explicit ProgramWorker(Subprocess child) : child_(std::move(child)) {
    pidfd_ = child_.descriptor();
  }

  void hang_up() noexcept;
  // Bytes of a message that is there; 0: none is, yet or ever.
  std::size_t hear(void* message, std::size_t size) noexcept;

  Subprocess child_;
  int pidfd_ = -1;
  Descriptor socket_;
  sync::Deadline deadline_ = sync::no_deadline;
  std::uint32_t slot_ = 0;
  State state_ = State::starts;
};

class ProgramWorkers {
 public:
  ProgramWorkers(const ProcessTeamOptions& options, const ProgramPlan& plan);

  // 0, or the errno, and refusal().
  int start(std::uint32_t slot, std::unique_ptr<ProgramWorker>& worker) noexcept;
  // Hears what it has said, and looks at the time. What will not do is killed: 0, or the errno, and
  // refusal().
  int attend(ProgramWorker& worker) noexcept;
  // How it ended whose pidfd says that it is gone. If it was not ready before: an errno and
  // refusal(), if there was none before.
  WorkerEnd end_of(ProgramWorker& worker, int& error) noexcept;

  // Why the last one that would not do did not; a part of a sentence.
  [[nodiscard]] const std::string& refusal() const noexcept { return refusal_; }

  // Throws std::system_error unless they have it.
  void check(const KernelSignature& wanted) const;

 private:
  int try_start(std::uint32_t slot, std::unique_ptr<ProgramWorker>& worker);
  int hear_hello(ProgramWorker& worker);
  int hear_ready(ProgramWorker& worker);
  int refuse(ProgramWorker& worker, int error, const std::string& why);
  int say(int error, const std::string& why) noexcept;

  const NameKeeper keeper_;
  const ProcessTeamOptions& options_;
  const ProgramPlan plan_;
  std::string program_;  // as texts name it
  std::vector<KernelSignature> kernels_;  // that all have: those of the first that was ready
  bool has_kernels_ = false;
  std::string refusal_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
