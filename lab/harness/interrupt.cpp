// SPDX-License-Identifier: MIT
#include "harness/interrupt.hpp"

#include <poll.h>
#include <sys/signalfd.h>

namespace handoff::lab {
namespace {

sigset_t ending_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  return signals;
}

int milliseconds_until(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<long long>(left, 0, std::numeric_limits<int>::max()));
}

}  // namespace

Interrupt::Interrupt() {
  const sigset_t signals = ending_signals();
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  signals_ = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals_ < 0) throw std::system_error(errno, std::generic_category(), "taking signals");
}

Interrupt::~Interrupt() { close(signals_); }

void Interrupt::check() {
  signalfd_siginfo info{};
  if (read(signals_, &info, sizeof info) == sizeof info) {
    throw Interrupted{static_cast<int>(info.ssi_signo)};
  }
}

bool Interrupt::wait_readable(int descriptor, Clock::time_point deadline) {
  std::array<pollfd, 2> waits{{{descriptor, POLLIN, 0}, {signals_, POLLIN, 0}}};
  for (;;) {
    const int ready = poll(waits.data(), waits.size(), milliseconds_until(deadline));
    if (ready < 0 && errno != EINTR) {
      throw std::system_error(errno, std::generic_category(), "waiting for a contender");
    }
    check();
    if (ready > 0 && waits[0].revents != 0) return true;
    if (ready == 0) return false;
  }
}

void restore_signals() {
  const sigset_t signals = ending_signals();
  sigprocmask(SIG_UNBLOCK, &signals, nullptr);
}

}  // namespace handoff::lab
