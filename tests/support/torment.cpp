// SPDX-License-Identifier: MIT
//
// The tormentor's thread and the handler that sleeps.
#include "support/torment.hpp"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <random>

#include "support/support.hpp"
#include "support/threads_of_process.hpp"

namespace handoff::test {
namespace {

std::atomic<std::uint64_t> delivered{0};

// Only what a signal handler may do: the length comes from the count, mixed; errno is kept.
void stall(int) {
  const int error = errno;
  const std::uint64_t mixed = (delivered.fetch_add(1) + 1) * 0x9E3779B97F4A7C15U;
  // Mostly short: 10 us to 0.7 ms, one in sixteen up to 20 ms.
  const std::uint64_t longest_us = (mixed >> 60) == 0 ? 20'000 : 700;
  const timespec length{0, static_cast<long>(1000 * (10 + (mixed >> 20) % longest_us))};
  nanosleep(&length, nullptr);
  errno = error;
}

void let_all_run_on(const cpu_set_t& cpus, pid_t except) {
  for (const pid_t id : threads_of_process()) {
    if (id != except) sched_setaffinity(id, sizeof cpus, &cpus);
  }
}

}  // namespace

Torment::Torment(TormentOptions options) {
  struct sigaction action{};
  action.sa_handler = stall;
  action.sa_flags = options.restart ? SA_RESTART : 0;
  sigaction(SIGSYS, &action, nullptr);
  thread_ = std::thread([this, options] { work(options); });
}

Torment::~Torment() {
  quit_ = true;
  thread_.join();
}

std::uint64_t Torment::stalls() noexcept { return delivered; }

void Torment::work(TormentOptions options) {
  const auto self = static_cast<pid_t>(syscall(SYS_gettid));
  auto random = test::random(0x70124);
  cpu_set_t all;
  sched_getaffinity(0, sizeof all, &all);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
  const auto period = std::chrono::microseconds(1'000'000 / options.stalls_per_second);
  const unsigned stalls_per_flip =
      options.flips_per_second == 0 ? ~0U : options.stalls_per_second / options.flips_per_second;
  bool together = false;
  for (unsigned i = 1; !quit_; ++i) {
    const auto threads = threads_of_process();
    const pid_t victim = threads[random() % threads.size()];
    if (victim != self) syscall(SYS_tgkill, getpid(), victim, SIGSYS);
    if (i % stalls_per_flip == 0) {
      together = !together;
      let_all_run_on(together ? one : all, self);
    }
    std::this_thread::sleep_for(period);
  }
  let_all_run_on(all, self);
}

}  // namespace handoff::test
