// SPDX-License-Identifier: MIT
// Workers that stay, as many as CPUs, each fed by a socket pair of its own, one after the other:
// what is written by hand where a process per job is too dear. A worker that dies takes its jobs
// with it.
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness/protocol.hpp"
#include "scenarios/spawn/children.hpp"
#include "scenarios/spawn/jobs.hpp"

namespace handoff::lab::spawn { namespace {

template <class T>
bool take(int socket, T& value) {
  ssize_t n = 0;
  do {
    n = recv(socket, &value, sizeof value, 0);
  } while (n < 0 && errno == EINTR);
  return n == sizeof value;
}
template <class T>
bool give(int socket, const T& value) {
  ssize_t n = 0;
  do {
    n = send(socket, &value, sizeof value, MSG_NOSIGNAL);
  } while (n < 0 && errno == EINTR);
  return n == sizeof value;
}

class Fed {
 public:
  Fed() {
    cpu_set_t cpus;
    const bool is_known = sched_getaffinity(0, sizeof cpus, &cpus) == 0;
    workers_.resize(is_known ? static_cast<std::size_t>(CPU_COUNT(&cpus)) : 1);
    for (Worker& worker : workers_) start(worker);
  }
  ~Fed() {
    for (const Worker& worker : workers_) {
      close(worker.socket);
      end_child(worker.process);
    }
  }
  Fed(const Fed&) = delete;
  Fed& operator=(const Fed&) = delete;

  void begin(Number number) {
    if (!give(workers_[begun_++ % workers_.size()].socket, number)) {
      throw std::runtime_error("a worker is gone");
    }
  }
  Answer end() {
    Answer answer{};
    static_cast<void>(take(workers_[ended_++ % workers_.size()].socket, answer));
    return answer;
  }

 private:
  struct Worker {
    pid_t process = -1;
    int socket = -1;
  };

  static void start(Worker& worker) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
      throw std::runtime_error("no socket pair");
    }
    worker.process = fork();
    if (worker.process == 0) work(ends[1]);
    close(ends[1]);
    if (worker.process < 0) throw std::runtime_error("no child");
    worker.socket = ends[0];
  }
  [[noreturn]] static void work(int socket) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(protocol::command_fd);  // the coordinator must see when the contender closes it
    for (Number number = 0; take(socket, number) && give(socket, do_job(number));) {
    }
    _exit(0);
  }

  std::vector<Worker> workers_;
  std::size_t begun_ = 0;
  std::size_t ended_ = 0;
};

}}  // namespace handoff::lab::spawn

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte> /*input*/) {
  return spawn::measure_jobs<spawn::Fed>(parameters);
}
