// SPDX-License-Identifier: MIT
//
// The fork server's own life, and the worker's.
//
// The server calls nothing that could wait for a lock which a thread of the program held when it
// was forked: no allocation, no stream but to throw its contents away.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <handoff/process/detail/claim_table.hpp>
#include <utility>

#include "descriptor_message.hpp"
#include "fork_server.hpp"
#include "handed_memory.hpp"
#include "kept_names.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

// No handler and no destructor of the program: those are for the program to call, once.
[[noreturn]] void leave_now(int status) noexcept {
  for (;;) (void)::syscall(SYS_exit_group, status);
}

// All but those of faults and limits: blocking them would only turn a crash into a hang. The
// program's Ctrl-C is the master's matter.
void block_signals() noexcept {
  sigset_t blocked;
  sigfillset(&blocked);
  for (const int kept :
       {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGXCPU, SIGXFSZ}) {
    sigdelset(&blocked, kept);
  }
  sigprocmask(SIG_SETMASK, &blocked, nullptr);
  // The program may ignore it, and then nobody could be waited for.
  struct sigaction usual{};
  usual.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &usual, nullptr);
}

// The program's group, of which workers are. The server is not: what kills the group, as a shell
// does with a job, leaves it time to take away the names.
pid_t the_programs_group = 0;  // written once, by the only thread there is

// A stream that the program has closed leads nowhere here: else a file that a kernel opens would
// get its number, and with it what is printed.
void fill_closed_streams() noexcept {
  int number = -1;
  do {
    // descriptor: it is to have the number of a stream, and to be there in what a kernel executes.
    number = ::open("/dev/null", O_RDWR);
  } while (number >= 0 && number <= STDERR_FILENO);
  if (number >= 0) ::close(number);
}

// The worker's end, and the master's.
using Door = std::array<int, 2>;

class Server {
 public:
  Server(const ServerPlan& plan, int socket) noexcept : plan_(plan), socket_(socket) {}

  [[noreturn]] void serve(pid_t master) noexcept;

 private:
  struct Child {
    int pidfd = -1;
    std::uint32_t serial = 0;
  };

  void get_ready(pid_t master) noexcept;
  void obey() noexcept;
  void start(const ServerRequest& request) noexcept;
  void take_spare(const ServerRequest& request) noexcept;
  void make_spare() noexcept;
  void bury_spare() noexcept;
  Child make_child(pid_t process, std::uint32_t serial) const noexcept;
  void end_unheard(std::uint32_t slot) noexcept;
  void bury(std::uint32_t slot) noexcept;
  static WorkerEnd reap(const Child& child) noexcept;
  void take_away_names() const noexcept;
  [[noreturn]] void end(bool asked) noexcept;
  bool answer(const ServerAnswer& answer, int passed, int second = -1) const noexcept;

  const ServerPlan& plan_;
  const int socket_;
  pid_t program_ = -1;  // the master's number, which is another's once the master is gone
  int master_ = -1;  // a pidfd
  Child children_[Claim::most_slots];  // by slot
  Child spare_;
  std::uint32_t spares_ = 0;  // so far
  // How the last ones ended that had no slot yet, by their numbers. Until the master's next
  // word there are no more: the one that it may have hired, and the one that was made once more.
  WorkerEnd spare_ends_[2];
  bool wants_spare_ = false;
  bool may_want_another_ = false;  // if the spare ends before it is hired: once for each request
};

bool Server::answer(const ServerAnswer& answer, int passed, int second) const noexcept {
  const int all[] = {passed, second};
  const std::size_t count = (passed >= 0 ? 1U : 0U) + (second >= 0 ? 1U : 0U);
  return send_message(socket_, &answer, sizeof answer, {all, count}, MayWait::yes) == 0;
}

void Server::get_ready(pid_t master) noexcept {
  block_signals();
  // One that forks nothing is there for the names (name_keeper.hpp).
  (void)::prctl(PR_SET_NAME, plan_.width == 0 ? "handoff-names" : "handoff-forks", 0, 0, 0);
  // If this server stands still when the master is killed it goes on, and sees that. The end of the
  // master's thread sends the same, which is no harm.
  (void)::prctl(PR_SET_PDEATHSIG, SIGCONT, 0, 0, 0);
  the_programs_group = ::getpgrp();
  (void)::setpgid(0, 0);
  int kept[] = {socket_, plan_.event, plan_.asks};
  std::sort(std::begin(kept), std::end(kept));
  close_all_but(std::begin(kept), std::end(kept));
  fill_closed_streams();
  program_ = master;
  __fpurge(stdout);  // what the program has not yet written is the program's to write
  master_ = descriptors::of_process(master);
  const int error = errno;
  // The number was the master's while it was the parent of this process.
  if (::getppid() != master) leave_now(0);
  const int self = master_ < 0 ? -1 : descriptors::of_process(::getpid());
  const bool heard = answer({.kind = ServerAnswer::ready,
                             .error = master_ < 0 ? error
                                      : self < 0  ? errno
                                                  : 0},
                            self);
  if (!heard || self < 0) leave_now(1);
  ::close(self);
}

void Server::serve(pid_t master) noexcept {
  get_ready(master);
  pollfd polled[3 + Claim::most_slots];
  std::uint32_t slots[3 + Claim::most_slots] = {};
  for (;;) {
    polled[0] = {.fd = socket_, .events = POLLIN, .revents = 0};
    polled[1] = {.fd = master_, .events = POLLIN, .revents = 0};
    polled[2] = {.fd = spare_.pidfd, .events = POLLIN, .revents = 0};
    nfds_t count = 3;
    for (std::uint32_t slot = 0; slot < plan_.width; ++slot) {
      if (children_[slot].pidfd < 0) continue;
      slots[count] = slot;
      polled[count++] = {.fd = children_[slot].pidfd, .events = POLLIN, .revents = 0};
    }
    const int ready = ::poll(polled, count, wants_spare_ ? 0 : -1);  // requests come first
    if (ready == 0) make_spare();
    if (ready <= 0) continue;
    if ((polled[1].revents & POLLIN) != 0) end(false);
    if (polled[2].revents != 0) {
      bury_spare();
      wants_spare_ = wants_spare_ || std::exchange(may_want_another_, false);
    }
    for (nfds_t i = 3; i < count; ++i) {
      if (polled[i].revents != 0) bury(slots[i]);
    }
    if (polled[0].revents != 0) obey();
  }
}

void Server::obey() noexcept {
  ServerRequest request;
  const ssize_t bytes = ::recv(socket_, &request, sizeof request, MSG_DONTWAIT);
  if (bytes < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (bytes != static_cast<ssize_t>(sizeof request)) end(false);  // the master closed its end
  if (request.kind == ServerRequest::stop) end(true);
  if (request.kind == ServerRequest::hired) {
    take_spare(request);
  } else {
    start(request);
  }
  // The master may know already that the last one has ended.
  if (descriptors::is_ready(spare_.pidfd)) bury_spare();
  may_want_another_ = request.wants_spare != 0;
  wants_spare_ = request.wants_spare != 0 && spare_.pidfd < 0;
}

void Server::start(const ServerRequest& request) noexcept {
  const std::uint32_t slot = request.slot;
  ServerAnswer said{.kind = ServerAnswer::started, .slot = slot, .serial = request.serial};
  Door door{-1, -1};
  if (slot >= plan_.width) {
    said.error = EINVAL;
  } else {
    end_unheard(slot);
    if (plan_.tap != nullptr) said.error = plan_.tap->before_start(slot);
  }
  if (said.error == 0 && descriptors::of_socket_pair(door) != 0) said.error = errno;
  if (said.error == 0) {
    const pid_t server = ::getpid();
    const pid_t worker = ::fork();
    if (worker == 0) be_worker(plan_, slot, door[0], server);
    children_[slot] = make_child(worker, request.serial);
    if (children_[slot].pidfd < 0) said.error = errno;
    if (plan_.tap != nullptr) plan_.tap->forked(slot);
  }
  const int passed = said.error == 0 ? children_[slot].pidfd : -1;
  const bool heard = answer(said, passed, said.error == 0 ? door[1] : -1);
  ::close(door[0]);
  ::close(door[1]);
  if (!heard) end(false);
}

// The master asks for a worker of a slot that has none. If there is one it has no descriptor for
// it, which closed that worker's door.
void Server::end_unheard(std::uint32_t slot) noexcept {
  if (children_[slot].pidfd < 0) return;
  (void)descriptors::send_signal(children_[slot].pidfd, SIGKILL);
  (void)descriptors::is_ready(children_[slot].pidfd, -1);
  bury(slot);
}

// The worker of the slot is gone: the master knows that, or it would not have hired another one.
void Server::take_spare(const ServerRequest& request) noexcept {
  if (request.slot >= plan_.width) return;
  Child& child = children_[request.slot];
  if (child.pidfd >= 0) bury(request.slot);
  if (spare_.pidfd >= 0 && spare_.serial == request.spare) {
    child = {spare_.pidfd, request.serial};
    spare_ = {};
    return;
  }
  // It has ended meanwhile.
  if (!answer({.kind = ServerAnswer::ended,
               .slot = request.slot,
               .serial = request.serial,
               .end = spare_ends_[request.spare % std::size(spare_ends_)]},
              -1)) {
    end(false);
  }
}

void Server::bury_spare() noexcept {
  const Child gone = std::exchange(spare_, {});
  spare_ends_[gone.serial % std::size(spare_ends_)] = reap(gone);
}

// If there is none to be had the next worker is forked when it is asked for.
void Server::make_spare() noexcept {
  wants_spare_ = false;
  Door door{};
  if (descriptors::of_socket_pair(door) != 0) return;
  const pid_t server = ::getpid();
  const pid_t worker = ::fork();
  if (worker == 0) be_spare(plan_, door[0], server);
  ::close(door[0]);
  spare_ = make_child(worker, ++spares_);
  const ServerAnswer told{.kind = ServerAnswer::spare, .serial = spares_};
  if (spare_.pidfd >= 0 && !answer(told, spare_.pidfd, door[1])) {
    end(false);
  }
  ::close(door[1]);
}

// What fork() has made, or refused: then there is no pidfd, and errno says why.
Server::Child Server::make_child(pid_t process, std::uint32_t serial) const noexcept {
  if (process < 0) return {};
  // It is ours and not yet waited for: nobody else's.
  const int pidfd = descriptors::of_process(process);
  if (pidfd >= 0) return {pidfd, serial};
  const int error = errno;
  (void)::kill(process, SIGKILL);
  while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
  }
  errno = error;
  return {};
}

// Reaps the worker, and says how it ended.
void Server::bury(std::uint32_t slot) noexcept {
  const Child gone = std::exchange(children_[slot], {});
  const ServerAnswer said{
      .kind = ServerAnswer::ended, .slot = slot, .serial = gone.serial, .end = reap(gone)};
  if (!answer(said, -1)) end(false);
}

// It does not empty the child's place: to read a place's index, and then change it in the call
// whose result goes there, is what g++ 12 gets wrong when it optimises (it reads the index
// afterwards).
WorkerEnd Server::reap(const Child& child) noexcept {
  siginfo_t info{};
  const int result = descriptors::wait_for(child.pidfd, info, WEXITED | WNOHANG);
  ::close(child.pidfd);
  if (result == 0 && info.si_code == CLD_EXITED) {
    return {.kind = WorkerEnd::Kind::exited, .code = info.si_status};
  }
  if (result == 0 && (info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED)) {
    return {.kind = WorkerEnd::Kind::signalled, .signal = info.si_status};
  }
  return {};
}

// The master closes its socket a moment before it is gone; if it is not it has them still.
void Server::take_away_names() const noexcept {
  if (descriptors::is_ready(master_, 1000)) take_away_names_of(program_);
}

// Workers that have been dismissed get a moment to end by themselves.
void Server::end(bool asked) noexcept {
  if (spare_.pidfd >= 0) (void)descriptors::send_signal(spare_.pidfd, SIGKILL);
  int patience = asked ? 100 : 0;  // milliseconds
  for (std::uint32_t slot = 0; slot < plan_.width; ++slot) {
    const int pidfd = children_[slot].pidfd;
    if (pidfd < 0) continue;
    if (!descriptors::is_ready(pidfd, patience)) {
      patience = 0;
      (void)descriptors::send_signal(pidfd, SIGKILL);
    }
  }
  if (!asked) take_away_names();
  const auto await_end = [](int pidfd) noexcept {
    siginfo_t info;
    if (pidfd >= 0) (void)descriptors::wait_for(pidfd, info, WEXITED);
  };
  for (std::uint32_t slot = 0; slot < plan_.width; ++slot) await_end(children_[slot].pidfd);
  await_end(spare_.pidfd);
  leave_now(0);
}

// ---- The worker --------------------------------------------------------------------------------

// exit() in a kernel: only what the worker itself has printed is written.
void leave(int status, void*) noexcept {
  (void)::fflush(stdout);
  leave_now(status);
}

bool this_is_a_worker = false;  // written once, by the only thread there is

void set_name(const char* name) noexcept { (void)::prctl(PR_SET_NAME, name, 0, 0, 0); }

void prepare_worker(const ServerPlan& plan, int door, pid_t server) noexcept {
  (void)::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  this_is_a_worker = true;
  (void)::setpgid(0, the_programs_group);
  if (::getppid() != server) leave_now(0);  // it died before it was watched
  int kept[] = {plan.event, plan.asks, door};
  std::sort(std::begin(kept), std::end(kept));
  close_all_but(std::begin(kept), std::end(kept));
  ask_for_memory_by(plan.asks);
  (void)::on_exit(&leave, nullptr);
}

void pin(const ServerPlan& plan, std::uint32_t slot) noexcept {
  if (plan.cpus.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(plan.cpus[slot % plan.cpus.size()]), &set);
  if (::sched_setaffinity(0, sizeof set, &set) != 0) leave_now(errno);
}

// The slot, once the master has said it; it never will if it has closed its end.
std::uint32_t told_at(int door) noexcept {
  std::uint32_t slot = 0;
  ssize_t bytes = -1;
  do {
    bytes = ::recv(door, &slot, sizeof slot, 0);
  } while (bytes < 0 && errno == EINTR);
  if (bytes != static_cast<ssize_t>(sizeof slot)) leave_now(0);
  ::close(door);
  return slot;
}

[[noreturn]] void work_in(const ServerPlan& plan, std::uint32_t slot) noexcept {
  plan.tell_step("started", slot);
  plan.life->live(plan, slot);
  leave_now(0);
}

}  // namespace

bool is_team_worker() noexcept { return this_is_a_worker; }

void close_all_but(const int* first, const int* last) noexcept {
  unsigned next = 3;
  const auto close_up_to = [](unsigned from, unsigned to) noexcept {
    if (from > to || ::syscall(SYS_close_range, from, to, 0) == 0) return;
    // Older kernels: as many as there can be.
    const long limit = ::sysconf(_SC_OPEN_MAX);
    const unsigned most = limit > 0 ? static_cast<unsigned>(limit) : 65536;
    for (unsigned number = from; number <= std::min(to, most); ++number) {
      ::close(static_cast<int>(number));
    }
  };
  for (; first != last; ++first) {
    if (*first < 0) continue;
    const auto kept = static_cast<unsigned>(*first);
    if (kept > next) close_up_to(next, kept - 1);
    next = std::max(next, kept + 1);
  }
  close_up_to(next, ~0U);
}

void be_server(const ServerPlan& plan, int socket, pid_t master) noexcept {
  Server(plan, socket).serve(master);
}

void be_worker(const ServerPlan& plan, std::uint32_t slot, int door, pid_t server) noexcept {
  prepare_worker(plan, door, server);
  set_name(plan.name.c_str());
  pin(plan, slot);
  work_in(plan, told_at(door));
}

void be_spare(const ServerPlan& plan, int door, pid_t server) noexcept {
  prepare_worker(plan, door, server);
  set_name("handoff-spare");
  const std::uint32_t slot = told_at(door);
  set_name(plan.name.c_str());
  pin(plan, slot);
  work_in(plan, slot);
}

}}}  // namespace handoff::HANDOFF_ABI::detail
