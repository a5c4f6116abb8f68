// SPDX-License-Identifier: MIT
#include "team_crew.hpp"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <handoff/core/misuse.hpp>
#include <handoff/process/detail/claim_table.hpp>
#include <handoff/sync/cpu_budget.hpp>
#include <string>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

bool is_ready(int descriptor) noexcept {
  pollfd polled{.fd = descriptor, .events = POLLIN, .revents = 0};
  return ::poll(&polled, 1, 0) > 0;
}

// Above the standard ones, which workers keep.
int open_event() noexcept {
  const Descriptor low(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  return low.is_open() ? ::fcntl(low.get(), F_DUPFD_CLOEXEC, 3) : -1;
}

}  // namespace

void check_workers(const char* type, std::size_t& width, std::size_t max_width, std::uint32_t tries,
                   const std::vector<int>& cpus) {
  const auto refuse = [type](const char* what) { misuse((std::string(type) + what).c_str()); };
  if (width == 0) width = sync::recent_cpu_budget().width();
  if (width > max_width) {
    misuse((std::string(type) + ": a width above " + type + "::max_width was asked for").c_str());
  }
  if (tries == 0 || tries > Claim::most_attempts) refuse(": `tries` is a number from 1 to 15");
  for (const int cpu : cpus) {
    if (cpu < 0 || cpu >= 1024) refuse(": no such CPU in `cpus`");
  }
}

TeamCrew::TeamCrew(const ProcessTeamOptions& options, std::size_t width, WorkerLife& life)
    : rate_(std::max<std::uint32_t>(options.replacements_per_second, 1)),
      owner_(::getpid()),
      life_(life),
      tokens_(rate_),
      tokens_at_(sync::clock::now()) {
  event_ = Descriptor(open_event());
  if (!event_.is_open()) throw ProcessTeamError(ProcessTeamStep::server, errno);
  plan_ = {.life = &life,
           .width = static_cast<std::uint32_t>(width),
           .name = options.name,
           .cpus = options.cpus,
           .tap = options.tap,
           .event = event_.get()};
  workers_.resize(width);
  if (const int error = server_.start(); error != 0) {
    const bool is_support = error == ENOSYS || error == EPERM;
    throw ProcessTeamError(is_support ? ProcessTeamStep::support : ProcessTeamStep::server, error);
  }
  for (std::uint32_t slot = 0; slot < width; ++slot) {
    const int error = start_worker(slot);
    if (error == 0) continue;
    if (slot == 0 || options.on_fewer == OnFewerWorkers::refuse) {
      throw ProcessTeamError(ProcessTeamStep::worker, error);
    }
    plan_.width = slot;  // the workers so far divide by the larger one: only where they begin
    break;
  }
}

TeamCrew::~TeamCrew() {
  if (::getpid() != owner_) {
    server_.forget();
    return;
  }
  life_.dismiss();
  server_.stop();
  // If the server was dead already its workers are so, or will be at once.
  for (const Worker& worker : workers_) {
    if (!worker.pidfd.is_open()) continue;
    (void)::syscall(SYS_pidfd_send_signal, worker.pidfd.get(), SIGKILL, nullptr, 0);
    pollfd polled{.fd = worker.pidfd.get(), .events = POLLIN, .revents = 0};
    (void)::poll(&polled, 1, 5000);
  }
}

std::size_t TeamCrew::alive() const noexcept {
  return static_cast<std::size_t>(
      std::count_if(workers_.begin(), workers_.begin() + plan_.width,
                    [](const Worker& worker) noexcept { return worker.pidfd.is_open(); }));
}

int TeamCrew::start_worker(std::uint32_t slot) noexcept {
  Worker& worker = workers_[slot];
  worker.overdue = false;
  for (int tries = 2;; --tries) {
    refused_ = server_.is_running() ? 0 : server_.start();
    if (refused_ != 0) return refused_;
    worker.serial = ++serial_;
    refused_ = server_.start_worker(slot, worker.serial, worker.pidfd);
    // A server that was just killed is no reason: there is another one.
    if (refused_ != EPIPE || tries == 1) return refused_;
  }
}

bool TeamCrew::take_token() noexcept {
  const sync::Deadline now = sync::clock::now();
  const std::chrono::duration<double> since = now - tokens_at_;
  tokens_ = std::min<double>(rate_, tokens_ + since.count() * rate_);
  tokens_at_ = now;
  if (tokens_ < 1) return false;
  tokens_ -= 1;
  return true;
}

int TeamCrew::refill() noexcept {
  for (std::uint32_t slot = 0; slot < plan_.width; ++slot) {
    if (is_alive(slot)) continue;
    if (!take_token()) return refused_;
    if (const int error = start_worker(slot); error != 0) return error;
  }
  return 0;
}

int TeamCrew::restart(std::uint32_t slot) noexcept { return start_worker(slot); }

sync::Deadline TeamCrew::next_refill() const noexcept {
  if (alive() == plan_.width) return sync::no_deadline;
  const std::chrono::duration<double> wait(std::max(0.0, 1 - tokens_) / rate_);
  return tokens_at_ + std::chrono::ceil<sync::clock::duration>(wait);
}

void TeamCrew::kill(std::uint32_t slot, bool overdue) noexcept {
  Worker& worker = workers_[slot];
  if (!worker.pidfd.is_open()) return;
  worker.overdue = worker.overdue || overdue;
  (void)::syscall(SYS_pidfd_send_signal, worker.pidfd.get(), SIGKILL, nullptr, 0);
}

void TeamCrew::wake() noexcept {
  const std::uint64_t one = 1;
  (void)!::write(event_.get(), &one, sizeof one);
}

// The deaths that there are by now.
void TeamCrew::look(std::vector<Death>& deaths) {
  if (server_.is_running() && is_ready(server_.pidfd())) server_.kill();
  for (std::uint32_t slot = 0; slot < plan_.width; ++slot) {
    Worker& worker = workers_[slot];
    if (!worker.pidfd.is_open() || !is_ready(worker.pidfd.get())) continue;
    WorkerEnd end = server_.end_of(slot, worker.serial);
    if (worker.overdue) end.kind = WorkerEnd::Kind::overdue;
    worker.pidfd.close();
    deaths.push_back({slot, end});
  }
}

void TeamCrew::wait(sync::Deadline deadline, std::vector<Death>& deaths) {
  deaths.clear();
  deaths.reserve(workers_.size());
  polled_.clear();
  polled_.push_back({.fd = event_.get(), .events = POLLIN, .revents = 0});
  polled_.push_back({.fd = server_.pidfd(), .events = POLLIN, .revents = 0});
  for (const Worker& worker : workers_) {
    polled_.push_back({.fd = worker.pidfd.get(), .events = POLLIN, .revents = 0});
  }
  timespec time{};
  if (deadline != sync::no_deadline) {
    const auto left = std::max(deadline - sync::clock::now(), sync::clock::duration::zero());
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    time = {static_cast<time_t>(seconds.count()), static_cast<long>((left - seconds).count())};
  }
  if (::ppoll(polled_.data(), polled_.size(), deadline == sync::no_deadline ? nullptr : &time,
              nullptr) <= 0) {
    return;
  }
  if (polled_[0].revents != 0) {
    std::uint64_t told = 0;
    (void)!::read(event_.get(), &told, sizeof told);
  }
  const bool is_death = std::any_of(polled_.begin() + 1, polled_.end(),
                                    [](const pollfd& one) noexcept { return one.revents != 0; });
  if (is_death) look(deaths);
}

}}}  // namespace handoff::HANDOFF_ABI::detail
