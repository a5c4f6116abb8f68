// SPDX-License-Identifier: MIT
#include "program_workers.hpp"

#include <errno.h>
#include <fcntl.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <handoff/core/misuse.hpp>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "../core/internal/call_failed.hpp"
#include "../core/internal/escaped_text.hpp"
#include "descriptor_message.hpp"
#include "worker_hello.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

using namespace std::chrono_literals;

// Between the end of its socket and its own: then it has closed the socket, and goes on.
constexpr std::chrono::milliseconds kEndsSoon = 500ms;

std::string in_milliseconds(std::chrono::nanoseconds time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time).count()) +
         " ms";
}

std::string sizes_of(const KernelSignature& kernel) {
  return std::to_string(kernel.bytes) + " bytes, aligned to " + std::to_string(kernel.alignment) +
         ", of layout " + std::to_string(kernel.layout);
}

}  // namespace

ProgramWorkers::ProgramWorkers(const ProcessTeamOptions& options, const ProgramPlan& plan)
    : options_(options),
      plan_(plan),
      program_("the worker program \"" + escaped(options.program.front()) + "\"") {}

// Most often it has ended, and its pidfd will say so in a moment.
void ProgramWorker::hang_up() noexcept {
  socket_.close();
  deadline_ = std::min(deadline_, sync::deadline_after(kEndsSoon));
}

std::size_t ProgramWorker::hear(void* message, std::size_t size) noexcept {
  const ssize_t bytes = receive_message(socket(), message, size, {}, MayWait::no);
  if (bytes > 0) return static_cast<std::size_t>(bytes);
  if (bytes == 0 || errno != EAGAIN) hang_up();
  return 0;
}

int ProgramWorkers::say(int error, const std::string& why) noexcept {
  try {
    refusal_ = program_ + " " + why;
  } catch (const std::bad_alloc&) {
    refusal_.clear();
  }
  return error;
}

int ProgramWorkers::refuse(ProgramWorker& worker, int error, const std::string& why) {
  worker.state_ = ProgramWorker::State::refused;
  worker.socket_.close();
  worker.kill();
  return say(error, why);
}

int ProgramWorkers::start(std::uint32_t slot, std::unique_ptr<ProgramWorker>& worker) noexcept {
  try {
    return try_start(slot, worker);
  } catch (const std::system_error& error) {
    return say(error.code().value(), std::string("could not be started (") + error.what() + ")");
  } catch (const std::invalid_argument& error) {
    return say(EINVAL, std::string("cannot be asked for: ") + error.what());
  } catch (const std::bad_alloc&) {
    return say(ENOMEM, "could not be started");
  }
}

int ProgramWorkers::try_start(std::uint32_t slot, std::unique_ptr<ProgramWorker>& worker) {
  std::array<int, 2> ends{};
  if (descriptors::of_socket_pair(ends) != 0) {
    return say(errno, "could not be started (socketpair)");
  }
  Descriptor mine(ends[0]);
  const Descriptor its(ends[1]);
  SubprocessOptions options{.descriptors = {{.from = its.get(), .to = kWorkerSocket}}};
  if (!options_.cpus.empty()) options.cpus = {options_.cpus[slot % options_.cpus.size()]};
  worker.reset(new ProgramWorker(Subprocess::start(options_.program, options)));
  worker->socket_ = std::move(mine);
  worker->slot_ = slot;
  worker->deadline_ = sync::deadline_after(options_.start_limit);
  return 0;
}

int ProgramWorkers::attend(ProgramWorker& worker) noexcept {
  using State = ProgramWorker::State;
  try {
    if (worker.socket_.is_open() && descriptors::is_ready(worker.socket())) {
      const int error = worker.state_ == State::starts ? hear_hello(worker) : hear_ready(worker);
      if (error != 0 || worker.is_ready()) return error;
    }
    if (sync::clock::now() < worker.deadline()) return 0;
    if (!worker.socket_.is_open()) {
      return refuse(worker, EPROTO,
                    "has closed its descriptor 3 before it was ready: does its main() call "
                    "handoff::worker_main()?");
    }
    return refuse(worker, ETIMEDOUT,
                  "was not ready " + in_milliseconds(options_.start_limit) +
                      " after its start (ProcessTeamOptions::start_limit): does its main() call "
                      "handoff::worker_main()?");
  } catch (const std::bad_alloc&) {
    worker.state_ = State::refused;
    worker.kill();
    return say(ENOMEM, "could not be heard");
  }
}

int ProgramWorkers::hear_hello(ProgramWorker& worker) {
  WorkerHello hello;
  const std::size_t bytes = worker.hear(&hello, sizeof hello);
  if (bytes == 0) return 0;
  const std::string fault = fault_of(hello, bytes, kernels_);
  if (!fault.empty()) return refuse(worker, EPROTO, fault);
  if (!has_kernels_) {
    kernels_.assign(hello.kernels.begin(), hello.kernels.begin() + hello.count);
    has_kernels_ = true;
  }
  const WorkerWelcome welcome{
      .slot = worker.slot_, .width = plan_.width, .slots = plan_.slots, .blocks = plan_.blocks};
  const int passed[] = {plan_.memory, plan_.event, plan_.asks};
  static_assert(std::size(passed) == WorkerWelcome::descriptors);
  if (send_message(worker.socket(), &welcome, sizeof welcome, passed) != 0) {
    worker.hang_up();
    return 0;
  }
  worker.state_ = ProgramWorker::State::is_welcome;
  return 0;
}

int ProgramWorkers::hear_ready(ProgramWorker& worker) {
  WorkerReady ready;
  const std::size_t bytes = worker.hear(&ready, sizeof ready);
  if (bytes == 0) return 0;
  if (bytes != sizeof ready || ready.magic != kWorkerMagic) {
    return refuse(worker, EPROTO, "has not said that it is ready, but something else");
  }
  if (ready.error != 0) return refuse(worker, ready.error, "could not map the team's memory");
  worker.socket_.close();
  worker.state_ = ProgramWorker::State::ready;
  return 0;
}

WorkerEnd ProgramWorkers::end_of(ProgramWorker& worker, int& error) noexcept {
  WorkerEnd end;
  try {
    const std::optional<SubprocessExit> exit = worker.child_.wait(0ms);
    if (exit && exit->kind == SubprocessExit::Kind::exited) {
      end = {.kind = WorkerEnd::Kind::exited, .code = exit->code};
    } else if (exit && exit->kind == SubprocessExit::Kind::signalled) {
      end = {.kind = WorkerEnd::Kind::signalled, .signal = exit->signal};
    }
  } catch (const std::exception&) {  // then it is not known
  }
  error = 0;
  if (worker.state_ >= ProgramWorker::State::ready) return end;
  try {
    error = say(ECHILD, "ended before it was ready (" + end.text() +
                            "): does its main() return handoff::worker_main()?");
  } catch (const std::bad_alloc&) {
    error = ENOMEM;
  }
  return end;
}

void ProgramWorkers::check(const KernelSignature& wanted) const {
  const auto same = std::find_if(
      kernels_.begin(), kernels_.end(),
      [&](const KernelSignature& kernel) { return std::string_view(kernel.name) == wanted.name; });
  const std::string name = '"' + std::string(wanted.name) + '"';
  if (same == kernels_.end()) {
    raise(call_failed(ENOENT, "ProcessTeam: " + program_ + " has no kernel " + name + ", but " +
                                  names_of(kernels_)));
  }
  if (*same == wanted) return;
  raise(call_failed(EPROTO, "ProcessTeam: the arguments of kernel " + name + " are others in " +
                                program_ + " (" + sizes_of(*same) + ") than here (" +
                                sizes_of(wanted) + "): build both with the same declaration"));
}

}}}  // namespace handoff::HANDOFF_ABI::detail
