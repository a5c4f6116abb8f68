// SPDX-License-Identifier: MIT
//
// The master's end of the fork server.
#include "fork_server.hpp"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <handoff/sync/clock.hpp>
#include <utility>

#include "descriptor_message.hpp"
#include "kept_names.hpp"
#include "no_signals.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::seconds kServerPatience{5};  // with a server that does not answer
constexpr std::chrono::milliseconds kStopPatience{300};  // until it has heard that it should end
constexpr std::chrono::milliseconds kNudgePause = 20ms;  // until it is told to go on, again

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

// Waits as await() does. A server that does not answer may have been stopped, with or without
// intent: it is told to go on. That is no harm to one that is only slow.
bool await_nudging(int first, int pidfd, sync::Deadline late) noexcept {
  for (;;) {
    if (await(first, pidfd, std::min(late, sync::deadline_after(kNudgePause)))) return true;
    const bool is_dead = pidfd != first && await(pidfd, -1, sync::clock::now());
    if (is_dead || sync::clock::now() >= late) return false;
    (void)descriptors::send_signal(pidfd, SIGCONT);
  }
}

// A pidfd of a child that has not given its own yet. Its number is its own while it lives, or was
// not waited for; what is no child of this process is none of them.
Descriptor pidfd_of_child(pid_t child) noexcept {
  Descriptor pidfd(descriptors::of_process(child));
  siginfo_t info;
  if (pidfd.is_open() &&
      descriptors::wait_for(pidfd.get(), info, WEXITED | WNOHANG | WNOWAIT) != 0) {
    pidfd.close();
  }
  return pidfd;
}

bool send(int socket, const ServerRequest& request) noexcept {
  return send_message(socket, &request, sizeof request) == 0;
}

}  // namespace

int ForkServer::start() noexcept {
  std::array<int, 2> ends{};
  if (descriptors::of_socket_pair(ends) != 0) return errno;
  Descriptor mine(ends[0]);
  Descriptor its(ends[1]);
  const pid_t master = ::getpid();
  have_places_for_names();
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
  Forked passed;
  // Its pidfd comes from itself: by the time that we asked for one by its number the number might
  // be another's. Without a pidfd its end cannot be awaited; it ends with the socket.
  const bool spoke = await_first_word(server);
  const bool said = spoke && receive(answer, passed) && answer.kind == ServerAnswer::ready;
  if (!said || answer.error != 0 || !passed.pidfd.is_open()) {
    socket_.close();
    const sync::Deadline late = sync::deadline_after(kServerPatience);
    while (::waitpid(server, nullptr, WNOHANG) == 0 && sync::clock::now() < late) {
      (void)::poll(nullptr, 0, 1);
    }
    if (said && answer.error != 0) return answer.error;
    return spoke && !said ? EPIPE : ETIMEDOUT;
  }
  pidfd_ = std::move(passed.pidfd);
  first_serial_ = started_ = 0;
  return 0;
}

// What the server says first. If it says nothing it is killed.
bool ForkServer::await_first_word(pid_t server) const noexcept {
  if (await(socket_.get(), -1, sync::deadline_after(kNudgePause))) return true;
  const Descriptor pidfd = pidfd_of_child(server);
  const sync::Deadline late = sync::deadline_after(kServerPatience);
  if (!pidfd.is_open()) return await(socket_.get(), -1, late);
  if (await_nudging(socket_.get(), pidfd.get(), late)) return true;
  (void)descriptors::send_signal(pidfd.get(), SIGKILL);
  return false;
}

void ForkServer::stop() noexcept {
  if (!is_running()) return;
  (void)send(socket_.get(), {.kind = ServerRequest::stop});
  const auto has_ended = [this](sync::Deadline late) noexcept {
    return await_nudging(pidfd_.get(), pidfd_.get(), late);
  };
  if (!has_ended(sync::deadline_after(kStopPatience))) {
    // It may be telling of more deaths than the socket holds: nobody wants to know any more.
    (void)::shutdown(socket_.get(), SHUT_RD);
    (void)has_ended(sync::deadline_after(kServerPatience));
  }
  kill();
}

void ForkServer::kill() noexcept {
  if (!is_running()) return;
  (void)descriptors::send_signal(pidfd_.get(), SIGKILL);
  (void)await(pidfd_.get(), -1, sync::deadline_after(kServerPatience));
  siginfo_t info;
  // If the program ignores SIGCHLD, or has waited for any child, there is nothing to reap.
  (void)descriptors::wait_for(pidfd_.get(), info, WEXITED | WNOHANG);
  forget();
  ends_.clear();
}

// Its spare ends with it.
void ForkServer::forget() noexcept {
  socket_.close();
  pidfd_.close();
  spare_ = {};
}

bool ForkServer::receive(ServerAnswer& answer, Forked& passed) noexcept {
  Descriptor all[2];
  if (receive_message(socket_.get(), &answer, sizeof answer, all, MayWait::no) !=
      static_cast<ssize_t>(sizeof answer)) {
    return false;
  }
  passed = {.pidfd = std::move(all[0]), .door = std::move(all[1])};
  // Without both it is none; it ends when its door is closed.
  if (answer.kind == ServerAnswer::spare && passed.is_whole()) {
    spare_ = std::move(passed);
    spare_serial_ = answer.serial;
  }
  return true;
}

// What was not waited for.
void ForkServer::keep(const ServerAnswer& answer) noexcept {
  if (answer.kind == ServerAnswer::ended && ends_.size() < most_ends()) ends_.push_back(answer);
}

bool ForkServer::has_spare() noexcept {
  ServerAnswer answer;
  Forked passed;
  while (receive(answer, passed)) keep(answer);  // what it has said by now
  if (spare_.door.is_open() && await(spare_.pidfd.get(), -1, sync::clock::now())) spare_ = {};
  return spare_.door.is_open();
}

// False: it was gone, and has no slot.
bool ForkServer::hire(std::uint32_t slot, std::uint32_t serial, Descriptor& pidfd) noexcept {
  Forked spare = std::move(spare_);
  // If it ends before it has heard this it is a worker that has ended at no block.
  if (send_message(spare.door.get(), &slot, sizeof slot) != 0) return false;
  const ServerRequest told{.kind = ServerRequest::hired,
                           .slot = slot,
                           .serial = serial,
                           .spare = spare_serial_,
                           .wants_spare = 1};
  // A server that has just died hears nothing. The worker has its slot all the same, and may claim
  // a block before it ends with the server: so it counts, and its pidfd says when what it had is
  // free.
  (void)send(socket_.get(), told);
  pidfd = std::move(spare.pidfd);
  return true;
}

int ForkServer::start_worker(std::uint32_t slot, std::uint32_t serial, Descriptor& pidfd) noexcept {
  if (!is_running()) return EPIPE;
  // As many as there are slots: so this one takes the place of another.
  const bool replaces = started_ >= plan_.width;
  if (replaces && has_spare()) {
    const int error = plan_.tap == nullptr ? 0 : plan_.tap->before_start(slot);
    if (error != 0) return error;
    if (hire(slot, serial, pidfd)) return 0;
  }
  if (!send(socket_.get(), {.kind = ServerRequest::start,
                            .slot = slot,
                            .serial = serial,
                            .wants_spare = replaces ? 1U : 0U})) {
    kill();
    return EPIPE;
  }
  if (first_serial_ == 0) first_serial_ = serial;
  const sync::Deadline late = sync::deadline_after(kServerPatience);
  bool dead = false;
  while (await_nudging(socket_.get(), pidfd_.get(), late)) {
    ServerAnswer answer;
    Forked passed;
    dead = !receive(answer, passed);  // its end is closed, a moment before it is gone
    if (dead) break;
    if (answer.kind == ServerAnswer::started && answer.serial == serial) {
      if (answer.error != 0) return answer.error;
      if (!passed.is_whole()) return EMFILE;  // this process has no descriptors left for it
      // If it has ended by now it is a worker that has ended at no block.
      (void)send_message(passed.door.get(), &slot, sizeof slot);
      pidfd = std::move(passed.pidfd);
      ++started_;
      return 0;
    }
    keep(answer);
  }
  dead = dead || await(pidfd_.get(), -1, sync::clock::now());
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
  while (is_running() && await_nudging(socket_.get(), pidfd_.get(), late)) {
    ServerAnswer answer;
    Forked passed;
    if (!receive(answer, passed)) break;
    if (answer.kind == ServerAnswer::ended && is_it(answer)) return answer.end;
    keep(answer);
  }
  return {};
}

}}}  // namespace handoff::HANDOFF_ABI::detail
