// SPDX-License-Identifier: MIT
//
// Waiting for a child: its end and its pipes at once.
#include "running_child.hpp"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <handoff/core/misuse.hpp>
#include <utility>

#include "../core/internal/call_failed.hpp"
#include "../core/internal/escaped_text.hpp"
#include "../sync/internal/seen_sanitizer.hpp"
#include "pipe_wait.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

constexpr std::size_t kPipeBytes = std::size_t{64} << 10;  // what a pipe holds
constexpr unsigned kProcessGroup = 1U << 2;  // PIDFD_SIGNAL_PROCESS_GROUP, Linux 6.9

// What SYS_waitid fills in. It is the C library's rusage only where time_t is a long.
struct KernelUsage {
  struct Time {
    long seconds;
    long microseconds;
  };
  Time user;
  Time system;
  long resident_kib_max;
  long others[13];
};

long wait_by(int pidfd, siginfo_t& info, int options, KernelUsage* usage) noexcept {
  return ::syscall(SYS_waitid, P_PIDFD, pidfd, &info, options | __WALL, usage);
}

std::chrono::nanoseconds as_time(const KernelUsage::Time& time) noexcept {
  return std::chrono::seconds(time.seconds) + std::chrono::microseconds(time.microseconds);
}

// The kernel counts what the parent had when the program began. What is more than that is the
// child's own; the kernel's counts are a little behind, so it has to be clearly more.
std::uint64_t resident_bytes(long child_kib, long parent_kib) noexcept {
  const long unsure = parent_kib / 64 + 256;
  return child_kib > parent_kib + unsure ? static_cast<std::uint64_t>(child_kib) * 1024 : 0;
}

SubprocessExit exit_of(const siginfo_t& info) noexcept {
  SubprocessExit exit;
  if (info.si_code == CLD_EXITED) {
    exit.kind = SubprocessExit::Kind::exited;
    exit.code = info.si_status;
  } else {
    exit.kind = SubprocessExit::Kind::signalled;
    exit.signal = info.si_status;
    exit.core_dumped = info.si_code == CLD_DUMPED;
  }
  return exit;
}

// What Linux 6.15 tells of a process that somebody has reaped (PIDFD_GET_INFO), up to what is used.
struct PidfdInfo {
  std::uint64_t mask;
  std::uint64_t cgroup;
  std::uint32_t ids[11];
  std::int32_t exit_code;  // as wait(2) has it
};
static_assert(sizeof(PidfdInfo) == 64);
constexpr std::uint64_t kInfoExit = 1U << 3;
constexpr unsigned long kGetInfo = _IOWR(0xFF, 11, PidfdInfo);

SubprocessExit exit_of_reaped(int pidfd) noexcept {
  constexpr int tries = 100;  // it may be about to be reaped: a tenth of a second
  for (int i = 0; i < tries; ++i) {
    PidfdInfo info{};
    info.mask = kInfoExit;
    if (::ioctl(pidfd, kGetInfo, &info) != 0) break;
    if ((info.mask & kInfoExit) != 0) {
      siginfo_t told{};
      const int status = info.exit_code;
      told.si_code = WIFEXITED(status) ? CLD_EXITED : WCOREDUMP(status) ? CLD_DUMPED : CLD_KILLED;
      told.si_status = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
      return exit_of(told);
    }
    ::poll(nullptr, 0, 1);
  }
  return {};
}

// SIGPIPE comes to the thread that writes: it is held back, and taken before others see it.
class NoBrokenPipe {
 public:
  NoBrokenPipe() noexcept {
    sigemptyset(&set_);
    sigaddset(&set_, SIGPIPE);
    sigset_t pending;
    sigemptyset(&pending);
    sigpending(&pending);
    pending_before_ = sigismember(&pending, SIGPIPE) == 1;
    sigprocmask(SIG_BLOCK, &set_, &before_);
  }
  ~NoBrokenPipe() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  NoBrokenPipe(const NoBrokenPipe&) = delete;
  NoBrokenPipe& operator=(const NoBrokenPipe&) = delete;

  void take() const noexcept {
    const timespec now{};
    while (!pending_before_ && sigtimedwait(&set_, nullptr, &now) < 0 && errno == EINTR) {
    }
  }

 private:
  sigset_t set_;
  sigset_t before_;
  bool pending_before_ = false;
};

// Bytes that were written; or a negative errno.
long write_quietly(int descriptor, std::string_view bytes) noexcept {
  const NoBrokenPipe quiet;
  const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
  const int error = errno;
  if (written >= 0) return written;
  if (error == EPIPE) quiet.take();
  return -error;
}

}  // namespace

// A process may not wait for itself: that it has no such child is the right answer.
int lack_of_pidfds() noexcept {
  const Descriptor self(descriptors::of_process(::getpid()));
  if (!self.is_open()) return errno;
  if (descriptors::send_signal(self.get(), 0) != 0) return errno;
  siginfo_t ignored{};
  if (wait_by(self.get(), ignored, WEXITED | WNOHANG, nullptr) == 0 || errno == ECHILD) return 0;
  return errno == EINVAL ? ENOSYS : errno;
}

RunningChild::RunningChild(const SubprocessOptions& options, const std::string& program)
    : program_(program), own_group_(options.own_group) {
  const std::array<const SubprocessOutput*, 2> outputs{&options.output, &options.error};
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (StreamAccess::kind(*outputs[i]) != StreamKind::captured) continue;
    captures_[i].limit = StreamAccess::limit(*outputs[i]);
    buffer_.resize(kPipeBytes);
  }
}

void RunningChild::begin(Spawned& spawned, ChildRequest& request) noexcept {
  owner_ = ::getpid();
  id_ = spawned.id;
  starters_resident_kib_ = spawned.resident_kib_max;
  pidfd_ = std::move(spawned.pidfd);
  input_ = std::move(request.own_end(STDIN_FILENO));
  captures_[0].pipe = std::move(request.own_end(STDOUT_FILENO));
  captures_[1].pipe = std::move(request.own_end(STDERR_FILENO));
}

RunningChild::~RunningChild() {
  if (!pidfd_.is_open() || exit_.has_value() || ::getpid() != owner_) return;
  kill();
  while (!exit_.has_value()) {
    if (descriptors::is_ready(pidfd_.get(), -1)) reap();
  }
}

void RunningChild::fail(const char* step, int error) const {
  raise(call_failed(error, "Subprocess " + escaped(program_) + ": " + step));
}

std::optional<SubprocessExit> RunningChild::wait(const Until& until) {
  if (exit_.has_value()) return exit_;
  PipeWait wait(until);
  while (turn(wait, false) && !exit_.has_value() && !wait.over()) {
  }
  return exit_;
}

std::size_t RunningChild::write(std::string_view bytes, const Until& until) {
  std::size_t done = 0;
  PipeWait wait(until);
  while (done < bytes.size() && input_.is_open()) {
    const long written = write_quietly(input_.get(), bytes.substr(done));
    if (written > 0) {
      done += static_cast<std::size_t>(written);
    } else if (written == -EPIPE) {
      close_input();
    } else if (written == -EAGAIN) {
      if (!turn(wait, true)) break;
    } else if (written != -EINTR) {
      fail("write to its input", static_cast<int>(-written));
    }
    if (done < bytes.size() && wait.over()) break;
  }
  return done;
}

std::string RunningChild::read(std::size_t which, const Until& until) {
  Capture& capture = captures_[which];
  PipeWait wait(until);
  while (capture.bytes.empty() && capture.pipe.is_open()) {
    if (!turn(wait, false) || wait.over()) break;
  }
  return std::exchange(capture.bytes, {});
}

// One sleep and what it was for. False: the time is up.
bool RunningChild::turn(PipeWait& wait, bool room) {
  wait.clear();
  wait.add(exit_.has_value() ? -1 : pidfd_.get(), POLLIN);
  for (const Capture& capture : captures_) wait.add(capture.pipe.get(), POLLIN);
  wait.add(room ? input_.get() : -1, POLLOUT);
  if (!wait.sleep()) return false;
  for (std::size_t i = 0; i < captures_.size(); ++i) {
    if (wait.is_ready(i + 1)) (void)take_some(captures_[i], kPipeBytes);
  }
  if (wait.is_ready(0)) finish();
  return true;
}

// Makes room first: what was read is never lost. 0: there is nothing now, or never again.
std::size_t RunningChild::take_some(Capture& capture, std::size_t most) {
  most = std::min(most, buffer_.size());
  const std::size_t room = capture.limit - std::min(capture.bytes.size(), capture.limit);
  capture.bytes.reserve(capture.bytes.size() + std::min(room, most));
  const ssize_t read = ::read(capture.pipe.get(), buffer_.data(), most);
  if (read < 0) {
    if (errno == EAGAIN || errno == EINTR) return 0;
    fail("read its output", errno);
  }
  if (read == 0) capture.pipe.close();
  const auto bytes = static_cast<std::size_t>(read);
  capture.bytes.append(buffer_, 0, std::min(room, bytes));
  capture.dropped += bytes - std::min(room, bytes);
  return bytes;
}

// What a child wrote is in the pipe when it has ended. What children of its own may still write is
// not waited for: it could be for ever.
void RunningChild::take_rest(Capture& capture) {
  int left = 0;
  if (!capture.pipe.is_open() || ::ioctl(capture.pipe.get(), FIONREAD, &left) != 0) return;
  while (left > 0 && capture.pipe.is_open()) {
    const std::size_t taken = take_some(capture, static_cast<std::size_t>(left));
    if (taken == 0) break;
    left -= static_cast<int>(taken);
  }
}

// The child has ended. Reaped last: if this throws, it can be done again.
void RunningChild::finish() {
  if (own_group_) signal_group(SIGKILL);
  for (Capture& capture : captures_) take_rest(capture);
  reap();
  if (!exit_.has_value()) return;
  for (Capture& capture : captures_) capture.pipe.close();
  close_input();
}

void RunningChild::reap() noexcept {
  siginfo_t info{};
  KernelUsage usage{};
  long error = 0;
  {
    const sync::SeenLock lock(mutex_);
    error = wait_by(pidfd_.get(), info, WEXITED | WNOHANG, &usage) == 0 ? 0 : errno;
    reaped_ = error == ECHILD || (error == 0 && info.si_pid != 0);
  }
  if (!reaped_) {  // a debugger has it, which sees the end first
    ::poll(nullptr, 0, 1);
    return;
  }
  if (error != 0) {
    exit_ = exit_of_reaped(pidfd_.get());
    return;
  }
  exit_ = exit_of(info);
  exit_->usage = {
      .user_time = as_time(usage.user),
      .system_time = as_time(usage.system),
      .resident_bytes_max = resident_bytes(usage.resident_kib_max, starters_resident_kib_)};
}

bool RunningChild::signal(int number) {
  if (descriptors::send_signal(pidfd_.get(), number) == 0) return true;
  if (errno != ESRCH) fail("send a signal", errno);
  return false;
}

void RunningChild::kill() noexcept {
  if (own_group_) signal_group(SIGKILL);
  (void)descriptors::send_signal(pidfd_.get(), SIGKILL);
}

bool RunningChild::signal_group(int number) noexcept {
  if (descriptors::send_signal(pidfd_.get(), number, kProcessGroup) == 0) return true;
  if (errno != EINVAL) return false;
  // A kernel that does it by number only.
  const sync::SeenLock lock(mutex_);
  return !is_reaped() && ::kill(-id_, number) == 0;
}

// ... by this object, or by others.
bool RunningChild::is_reaped() noexcept {
  siginfo_t ignored{};
  return reaped_ || wait_by(pidfd_.get(), ignored, WEXITED | WNOHANG | WNOWAIT, nullptr) != 0;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
