// SPDX-License-Identifier: MIT
//
// A process that does nothing but fork workers: a copy of the program as it was when the team or
// the pool was made, with one thread and without its descriptors.
//
// A fork of it costs the same however large the program has become, and finds no lock held by a
// thread that is not there. The master asks over a socket that keeps messages apart and gets a
// pidfd for each worker, made by the worker's parent before anybody could have reaped it: no number
// of a process is ever used for a signal or a wait.
//
// Invariants
//   FS-1  The pidfd is the fact of a death. What the server says of it is only the reason, and may
//         never come.
//   FS-2  A worker ends with the server (PR_SET_PDEATHSIG; the server has one thread, so the trap
//         of the thread that ends does not exist), and the server with the master (its pidfd).
//   FS-3  Every wait for the server has an end: a server that does not answer is told to go on
//         (it may have been stopped), and then killed.
//   FS-4  Once a worker had to be replaced, a spare stands by: forked already, it waits for the
//         number of its slot. The master hires it by a message to it, without the server, which
//         hears of it afterwards and forks the next one when it has nothing else to do. There is
//         never more than one, and a team that loses nobody has none. Each has a number, by which
//         the server knows which one was hired: it may have ended since, and the next one may stand
//         by already.
//   FS-5  A worker does nothing in its slot before the master has its pidfd: it waits at its door
//         for the master's word. So one whose server died before it told of it, or whose pidfd the
//         master has no descriptor for, has claimed nothing, and its slot may be given to another.
//
// Concurrency: one thread at a time, the master's.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <handoff/config.hpp>
#include <handoff/core/work_failed.hpp>
#include <handoff/process/process_team_options.hpp>
#include <string>
#include <vector>

#include "../sync/internal/descriptor.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

struct ServerPlan;

// What std::system_error says where there are no workers.
inline constexpr char kNoTeamMemory[] = "worker processes: get the memory that they share";
inline constexpr char kNoServer[] = "worker processes: start the fork server";
inline constexpr char kNoPidfds[] =
    "worker processes: find pidfds (Linux 5.4; a filter of system calls may forbid them)";
inline constexpr char kNoWorker[] = "worker processes: start one";
inline constexpr char kAllWorkersEnd[] = "worker processes: all end before they have done anything";

// What all workers of a server are there for. It stands still while the server lives.
class WorkerLife {
 public:
  // All that the worker of a slot does; it ends when this returns. In the worker.
  virtual void live(const ServerPlan& plan, std::uint32_t slot) noexcept = 0;
  // Brings all workers to that end, as soon as each has done what it is at. By the master.
  virtual void dismiss() noexcept = 0;

 protected:
  ~WorkerLife() = default;
};

// What the server and the workers need to know. It stands still while the server lives; each of
// them has a copy at the same address.
struct ServerPlan {
  WorkerLife* life = nullptr;
  std::uint32_t width = 0;
  std::string name;
  std::vector<int> cpus;
  TeamTap* tap = nullptr;
  int event = -1;  // an eventfd, by which workers tell the master
  int asks = -1;  // a socket, by which they ask it for memory

  // By a worker.
  void tell_master() const noexcept { descriptors::ring(event); }
  void tell_step(const char* step, std::uint32_t slot) const noexcept {
    if (tap != nullptr) tap->at(step, slot);
  }
};

// What goes over the socket.
struct ServerRequest {
  enum Kind : std::uint32_t {
    start,
    hired,  // the spare is the worker of the slot
    stop,
  } kind = start;
  std::uint32_t slot = 0;
  std::uint32_t serial = 0;  // of the worker: each has another
  std::uint32_t spare = 0;  // which one is hired
  std::uint32_t wants_spare = 0;  // whether to have one from now on
};
struct ServerAnswer {
  enum Kind : std::uint32_t {
    ready,  // with the server's own pidfd, or an error
    started,  // with the worker's pidfd and door, or an error
    ended,
    spare,  // with its pidfd and door
  } kind = ready;
  std::uint32_t slot = 0;
  std::uint32_t serial = 0;  // of the worker; or of the spare, which are counted by themselves
  std::int32_t error = 0;
  WorkerEnd end = {};
};

// The server's life, and the worker's. They do not return.
[[noreturn]] void be_server(const ServerPlan& plan, int socket, pid_t master) noexcept;
// `door`: a socket, by which the master tells it its slot.
[[noreturn]] void be_worker(const ServerPlan& plan, std::uint32_t slot, int door,
                            pid_t server) noexcept;
// A worker that does not know its slot yet.
[[noreturn]] void be_spare(const ServerPlan& plan, int door, pid_t server) noexcept;

// Whether this process is a worker of a team.
bool is_team_worker() noexcept;

// Closes all descriptors above standard error but those in [first, last), which are sorted.
void close_all_but(const int* first, const int* last) noexcept;

class ForkServer {
 public:
  explicit ForkServer(const ServerPlan& plan) noexcept : plan_(plan) {}
  ~ForkServer() { stop(); }
  ForkServer(const ForkServer&) = delete;
  ForkServer& operator=(const ForkServer&) = delete;

  // 0, or the errno; ENOSYS or EPERM where there are no pidfds, EPIPE: it was killed at once.
  int start() noexcept;
  // Ends the workers and the server, and waits for that.
  void stop() noexcept;
  // The same without asking: after its death, or if it does not answer.
  void kill() noexcept;

  bool is_running() const noexcept { return pidfd_.is_open(); }
  // Readable once the server is gone.
  int pidfd() const noexcept { return pidfd_.get(); }

  // Starts a worker, with a larger serial than all before; 0, or the errno. ETIMEDOUT, EPIPE: the
  // server has been killed, or was dead.
  int start_worker(std::uint32_t slot, std::uint32_t serial, Descriptor& pidfd) noexcept;

  // Why a worker ended whose pidfd says that it is gone.
  WorkerEnd end_of(std::uint32_t slot, std::uint32_t serial) noexcept;

  // In a fork of the master: forgets the server, whose end is none of its business.
  void forget() noexcept;

 private:
  struct Forked {
    Descriptor pidfd;
    Descriptor door;  // by which it is told its slot
    bool is_whole() const noexcept { return pidfd.is_open() && door.is_open(); }
  };

  bool await_first_word(pid_t server) const noexcept;
  bool receive(ServerAnswer& answer, Forked& passed) noexcept;
  void keep(const ServerAnswer& answer) noexcept;
  bool has_spare() noexcept;
  bool hire(std::uint32_t slot, std::uint32_t serial, Descriptor& pidfd) noexcept;
  std::size_t most_ends() const noexcept { return std::size_t{2} * plan_.width; }

  const ServerPlan& plan_;
  Descriptor socket_;
  Descriptor pidfd_;
  std::uint32_t first_serial_ = 0;  // of this server; 0: it has started none
  std::uint32_t started_ = 0;  // by this server
  Forked spare_;
  std::uint32_t spare_serial_ = 0;
  std::vector<ServerAnswer> ends_;  // heard while something else was waited for
};

}}}  // namespace handoff::HANDOFF_ABI::detail
