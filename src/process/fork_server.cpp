// SPDX-License-Identifier: MIT
//
// The master's end of the fork server.
#include "fork_server.hpp"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <handoff/sync/clock.hpp>
#include <utility>

#include "no_signals.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::seconds kServerPatience{5};  // with a server that does not answer

int milliseconds_until(sync::Deadline deadline) noexcept {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - sync::clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1'000'000));
}

// Waits until one of the two is readable, the first at best; false: too late, or the second only.
bool await(int first, int second, sync::Deadline deadline) noexcept {
  for (;;) {
    pollfd polled[2] = {{.fd = first, .events = POLLIN, .revents = 0},
                        {.fd = second, .events = POLLIN, .revents = 0}};
    const int ready = ::poll(polled, 2, milliseconds_until(deadline));
    if (ready > 0) return (polled[0].revents & POLLIN) != 0;
    if (ready == 0 || errno != EINTR) return false;
  }
}

bool send(int socket, const ServerRequest& request) noexcept {
  for (;;) {
    const ssize_t sent = ::send(socket, &request, sizeof request, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent == static_cast<ssize_t>(sizeof request)) return true;
    if (errno != EINTR) return false;
  }
}

}  // namespace

int ForkServer::start() noexcept {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return errno;
  Descriptor mine(ends[0]);
  Descriptor its(ends[1]);
  const pid_t master = ::getpid();
  pid_t server = -1;
  int error = 0;
  {
    const NoSignals held;
    server = ::fork();
    if (server == 0) be_server(plan_, its.get(), master);
    error = errno;
  }
  if (server < 0) return error;
  its.close();
  socket_ = std::move(mine);
  ServerAnswer answer;
  Descriptor passed;
  // Its pidfd comes from itself: by the time that we asked for one by its number the number might
  // be another's. Without a pidfd its end cannot be awaited; it ends with the socket.
  const bool said = await(socket_.get(), -1, sync::deadline_after(kServerPatience)) &&
                    receive(answer, passed) && answer.kind == ServerAnswer::ready;
  if (!said || answer.error != 0 || !passed.is_open()) {
    socket_.close();
    const sync::Deadline late = sync::deadline_after(kServerPatience);
    while (::waitpid(server, nullptr, WNOHANG) == 0 && sync::clock::now() < late) {
      (void)::poll(nullptr, 0, 1);
    }
    return said && answer.error != 0 ? answer.error : ETIMEDOUT;
  }
  pidfd_ = std::move(passed);
  first_serial_ = 0;
  return 0;
}

void ForkServer::stop() noexcept {
  if (!is_running()) return;
  (void)send(socket_.get(), {.kind = ServerRequest::stop});
  (void)await(pidfd_.get(), -1, sync::deadline_after(kServerPatience));
  kill();
}

void ForkServer::kill() noexcept {
  if (!is_running()) return;
  (void)::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
  (void)await(pidfd_.get(), -1, sync::deadline_after(kServerPatience));
  reap();
  socket_.close();
  pidfd_.close();
  ends_.clear();
}

// If the program ignores SIGCHLD, or has waited for any child, there is nothing to reap.
void ForkServer::reap() noexcept {
  siginfo_t info;
  while (::waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(pidfd_.get()), &info,
                  WEXITED | WNOHANG) != 0 &&
         errno == EINTR) {
  }
}

void ForkServer::forget() noexcept {
  socket_.close();
  pidfd_.close();
}

bool ForkServer::receive(ServerAnswer& answer, Descriptor& passed) noexcept {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  iovec part{&answer, sizeof answer};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t bytes = -1;
  do {
    bytes = ::recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  } while (bytes < 0 && errno == EINTR);
  if (bytes != static_cast<ssize_t>(sizeof answer)) return false;
  const cmsghdr* const head = CMSG_FIRSTHDR(&message);
  if (head != nullptr && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS) {
    int number = -1;
    std::memcpy(&number, CMSG_DATA(head), sizeof number);
    passed = Descriptor(number);
  }
  return true;
}

int ForkServer::start_worker(std::uint32_t slot, std::uint32_t serial, Descriptor& pidfd) noexcept {
  if (!is_running()) return EPIPE;
  if (!send(socket_.get(), {.kind = ServerRequest::start, .slot = slot, .serial = serial})) {
    kill();
    return EPIPE;
  }
  if (first_serial_ == 0) first_serial_ = serial;
  const sync::Deadline late = sync::deadline_after(kServerPatience);
  while (await(socket_.get(), pidfd_.get(), late)) {
    ServerAnswer answer;
    Descriptor passed;
    if (!receive(answer, passed)) break;
    if (answer.kind == ServerAnswer::started && answer.serial == serial) {
      if (answer.error != 0) return answer.error;
      if (!passed.is_open()) return EMFILE;  // this process has no descriptor left for it
      pidfd = std::move(passed);
      return 0;
    }
    if (answer.kind == ServerAnswer::ended && ends_.size() < most_ends()) {
      ends_.push_back(answer);
    }
  }
  const bool dead = await(pidfd_.get(), -1, sync::clock::now());
  kill();
  return dead ? EPIPE : ETIMEDOUT;
}

WorkerEnd ForkServer::end_of(std::uint32_t slot, std::uint32_t serial) noexcept {
  const auto is_it = [&](const ServerAnswer& answer) noexcept {
    return answer.slot == slot && answer.serial == serial;
  };
  const auto heard = std::find_if(ends_.begin(), ends_.end(), is_it);
  if (heard != ends_.end()) {
    const WorkerEnd end = heard->end;
    ends_.erase(heard);
    return end;
  }
  // A worker that ended with its server: nobody will say.
  if (first_serial_ == 0 || serial < first_serial_) return {};
  const sync::Deadline late = sync::deadline_after(1s);
  while (is_running() && await(socket_.get(), pidfd_.get(), late)) {
    ServerAnswer answer;
    Descriptor passed;
    if (!receive(answer, passed)) break;
    if (answer.kind != ServerAnswer::ended) continue;
    if (is_it(answer)) return answer.end;
    if (ends_.size() < most_ends()) ends_.push_back(answer);
  }
  return {};
}

}}}  // namespace handoff::HANDOFF_ABI::detail
