// SPDX-License-Identifier: MIT
#include "team_crew.hpp"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <handoff/core/misuse.hpp>
#include <handoff/probe/internal/slice.hpp>
#include <handoff/process/detail/claim_table.hpp>
#include <handoff/sync/cpu_budget.hpp>
#include <string>

#include "../core/internal/call_failed.hpp"
#include "pipe_wait.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

using namespace std::chrono_literals;

// Until the second start of a program that was refused; twice as long each time.
constexpr std::chrono::milliseconds kFirstRetry = 50ms;
constexpr std::uint32_t kMostDoublings = 7;
// How long workers of another program may take to end by themselves.
constexpr std::chrono::milliseconds kEndPatienceOfPrograms = 300ms;
// More replacements in a second than can be started: the rate is no bound.
constexpr std::uint32_t kMostReplacements = 20'000;
// Descriptors that are polled beside the workers'.
constexpr std::size_t kPolledBefore = 3;

}  // namespace

void check_workers(const char* type, std::size_t& width, std::size_t max_width, std::uint32_t tries,
                   std::chrono::nanoseconds limit, std::uint32_t replacements_per_second,
                   const std::vector<int>& cpus) {
  const auto refuse = [type](const char* what) { misuse((std::string(type) + what).c_str()); };
  if (width == 0) width = sync::recent_cpu_budget().width();
  if (width > max_width) {
    misuse((std::string(type) + ": a width above " + type + "::max_width was asked for").c_str());
  }
  if (tries == 0 || tries > Claim::most_attempts) refuse(": `tries` is a number from 1 to 15");
  if (limit < 0ns) refuse(": `limit` is 0, which is none, or more");
  if (replacements_per_second == 0) refuse(": `replacements_per_second` is 1 or more");
  for (const int cpu : cpus) {
    if (cpu < 0 || cpu >= 1024) refuse(": no such CPU in `cpus`");
  }
}

TeamCrew::TeamCrew(const ProcessTeamOptions& options, WorkerLife& life, std::size_t blocks,
                   int memory)
    : owner_(::getpid()),
      life_(life),
      replaced_(std::min(options.replacements_per_second, kMostReplacements)) {
  event_ = Descriptor(descriptors::of_event(EFD_NONBLOCK));
  if (!event_.is_open()) raise(call_failed(errno, kNoServer));
  if (const int error = asks_.open(); error != 0) raise(call_failed(error, kNoServer));
  plan_ = {.life = &life,
           .width = static_cast<std::uint32_t>(options.width),
           .name = options.name,
           .cpus = options.cpus,
           .tap = options.tap,
           .event = event_.get(),
           .asks = asks_.workers_end()};
  workers_.resize(options.width);
  if (options.program.empty()) {
    start_forks(options.on_fewer);
    return;
  }
  programs_ = std::make_unique<ProgramWorkers>(
      options, ProgramPlan{.memory = memory,
                           .event = plan_.event,
                           .asks = plan_.asks,
                           .width = plan_.width,
                           .slots = plan_.width,
                           .blocks = static_cast<std::uint32_t>(blocks)});
  start_programs(options.on_fewer);
}

void TeamCrew::start_forks(OnFewerWorkers on_fewer) {
  if (const int error = start_server(); error != 0) {
    const bool is_support = error == ENOSYS || error == EPERM;
    raise(call_failed(error, is_support ? kNoPidfds : kNoServer));
  }
  const std::uint32_t width = plan_.width;
  for (std::uint32_t slot = 0; slot < width; ++slot) {
    const int error = start_worker(slot);
    if (error == 0) continue;
    if (slot == 0 || on_fewer == OnFewerWorkers::refuse) {
      life_.dismiss();  // else the server waits for those that have begun
      raise(call_failed(error, kNoWorker));
    }
    plan_.width = slot;  // the workers so far divide by the larger one: only where they begin
    break;
  }
}

// All at once: each takes a while until it is ready.
void TeamCrew::start_programs(OnFewerWorkers on_fewer) {
  int error = 0;
  for (std::uint32_t slot = 0; slot < plan_.width && error == 0; ++slot) error = start_worker(slot);
  std::vector<Death> deaths;
  while (is_any_starting() && (error == 0 || on_fewer == OnFewerWorkers::accept)) {
    wait(sync::no_deadline, deaths);
  }
  if (error == 0) error = refused_;
  const bool is_enough = on_fewer == OnFewerWorkers::accept ? alive() > 0 : alive() == plan_.width;
  if (is_enough) return begin_run();
  end_programs();
  raise(refusal(error));
}

TeamCrew::~TeamCrew() {
  if (::getpid() != owner_) {
    server_.forget();
    return;
  }
  life_.dismiss();
  end_programs();
  server_.stop();
  // If the server was dead already its workers are so, or will be at once.
  for (const Worker& worker : workers_) {
    if (!worker.pidfd.is_open()) continue;
    (void)descriptors::send_signal(worker.pidfd.get(), SIGKILL);
    (void)descriptors::is_ready(worker.pidfd.get(), 5000);
  }
}

// Those that have been dismissed get a moment to end by themselves.
void TeamCrew::end_programs() noexcept {
  const sync::Deadline late = sync::deadline_after(kEndPatienceOfPrograms);
  for (Worker& worker : workers_) {
    if (worker.program == nullptr || !worker.program->is_ready()) continue;
    while (sync::clock::now() < late && !descriptors::is_ready(worker.end(), 10)) {
    }
  }
  for (Worker& worker : workers_) {
    if (worker.program != nullptr) worker.program->kill();
  }
  for (Worker& worker : workers_) worker.program.reset();
}

std::size_t TeamCrew::alive() const noexcept {
  return static_cast<std::size_t>(
      std::count_if(workers_.begin(), workers_.begin() + plan_.width,
                    [](const Worker& worker) noexcept { return worker.is_alive(); }));
}

bool TeamCrew::is_any_starting() const noexcept {
  return std::any_of(workers_.begin(), workers_.end(), [](const Worker& worker) noexcept {
    return worker.is_there() && !worker.is_alive();
  });
}

void TeamCrew::begin_run() noexcept {
  if (!programs_) return;
  have_names_kept();
  refused_ = 0;
  refusals_ = 0;
  retry_at_ = {};
}

std::system_error TeamCrew::refusal(int error) const {
  const bool is_told = programs_ && !programs_->refusal().empty();
  return call_failed(error, kNoWorker + (is_told ? ": " + programs_->refusal() : ""));
}

int TeamCrew::start_server() noexcept {
  memories_ = memories_so_far();
  return server_.start();
}

int TeamCrew::start_worker(std::uint32_t slot) noexcept {
  Worker& worker = workers_[slot];
  worker.overdue = false;
  if (programs_) {
    const int error = plan_.tap == nullptr ? 0 : plan_.tap->before_start(slot);
    return refused(error != 0 ? error : programs_->start(slot, worker.program));
  }
  for (int tries = 3;; --tries) {
    refused_ = server_.is_running() ? 0 : start_server();
    if (refused_ == 0) {
      worker.serial = ++serial_;
      refused_ = server_.start_worker(slot, worker.serial, worker.pidfd);
    }
    // A server that was just killed is no reason: there is another one.
    if (refused_ != EPIPE || tries == 1) return refused_;
  }
}

// Why a program was refused; 0: it was not, but is not ready either.
int TeamCrew::refused(int error) noexcept {
  if (error == 0) return 0;
  refused_ = error;
  const sync::Deadline now = sync::clock::now();
  if (now < retry_at_) return error;  // another slot's, of the same moment
  retry_at_ = now + kFirstRetry * (1U << std::min(refusals_, kMostDoublings));
  ++refusals_;
  return error;
}

// Programs that are not ready yet.
void TeamCrew::attend_starts() noexcept {
  for (Worker& worker : workers_) {
    if (worker.program == nullptr || worker.program->is_ready()) continue;
    (void)refused(programs_->attend(*worker.program));
    if (worker.program->is_ready()) begin_run();
  }
}

int TeamCrew::refill() noexcept {
  for (std::uint32_t slot = 0; slot < plan_.width; ++slot) {
    if (workers_[slot].is_there()) continue;
    if (programs_ && sync::clock::now() < retry_at_) return refused_;
    if (sync::clock::now() < replaced_[oldest_] + 1s) return refused_;
    if (const int error = start_worker(slot); error != 0) return error;
    replaced_[oldest_] = sync::clock::now();
    oldest_ = (oldest_ + 1) % replaced_.size();
  }
  return programs_ ? refused_ : 0;  // a program was refused until one is ready
}

sync::Deadline TeamCrew::next_refill() const noexcept {
  const bool is_full = std::all_of(workers_.begin(), workers_.begin() + plan_.width,
                                   [](const Worker& worker) noexcept { return worker.is_there(); });
  if (is_full) return sync::no_deadline;
  return std::max(retry_at_, replaced_[oldest_] + 1s);
}

void TeamCrew::kill(std::uint32_t slot, bool overdue) noexcept {
  Worker& worker = workers_[slot];
  if (!worker.is_there()) return;
  worker.overdue = worker.overdue || overdue;
  if (worker.program != nullptr) return worker.program->kill();
  (void)descriptors::send_signal(worker.pidfd.get(), SIGKILL);
}

void TeamCrew::wake() noexcept { descriptors::ring(event_.get()); }

// The deaths that there are by now.
void TeamCrew::look(std::vector<Death>& deaths) {
  if (server_.is_running() && descriptors::is_ready(server_.pidfd())) server_.kill();
  for (std::uint32_t slot = 0; slot < plan_.width; ++slot) {
    Worker& worker = workers_[slot];
    if (!worker.is_there() || !descriptors::is_ready(worker.end())) continue;
    const bool was_alive = worker.is_alive();
    WorkerEnd end;
    if (worker.program != nullptr) {
      int error = 0;
      end = programs_->end_of(*worker.program, error);
      (void)refused(error);
      worker.program.reset();
    } else {
      end = server_.end_of(slot, worker.serial);
      worker.pidfd.close();
    }
    if (worker.overdue) end.kind = WorkerEnd::Kind::overdue;
    if (was_alive) deaths.push_back({slot, end});
  }
}

// False: nothing was heard.
bool TeamCrew::poll_all(sync::Deadline deadline) noexcept {
  const auto add = [this](int descriptor) {
    polled_.push_back({.fd = descriptor, .events = POLLIN, .revents = 0});
  };
  polled_.clear();
  add(event_.get());
  add(asks_.own_end());
  add(server_.pidfd());
  for (const Worker& worker : workers_) add(worker.end());
  for (const Worker& worker : workers_) {
    if (worker.program == nullptr || worker.program->is_ready()) continue;
    add(worker.program->socket());
    deadline = std::min(deadline, worker.program->deadline());
  }
  timespec time{};
  if (deadline != sync::no_deadline) {
    time = as_timespec(std::max(deadline - sync::clock::now(), sync::clock::duration::zero()));
  }
  const probe::Slice asleep(probe::Kind::sleep, "wait");
  return ::ppoll(polled_.data(), polled_.size(), deadline == sync::no_deadline ? nullptr : &time,
                 nullptr) > 0;
}

bool TeamCrew::wait(sync::Deadline deadline, std::vector<Death>& deaths) {
  deaths.clear();
  deaths.reserve(workers_.size());
  polled_.reserve(kPolledBefore + 2 * workers_.size());
  const bool is_heard = poll_all(deadline);
  if (programs_) attend_starts();  // some may be late
  if (!is_heard) return false;
  const bool is_told = polled_[0].revents != 0;
  if (is_told) {
    std::uint64_t told = 0;
    (void)!::read(event_.get(), &told, sizeof told);
  }
  if (polled_[1].revents != 0) asks_.answer();
  const bool is_death = std::any_of(polled_.begin() + 2, polled_.end(),
                                    [](const pollfd& one) noexcept { return one.revents != 0; });
  if (is_death) look(deaths);
  return is_told;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
