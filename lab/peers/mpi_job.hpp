// SPDX-License-Identifier: MIT
// A job of Open MPI whose ranks are a contender and its forks.
//
// Its launcher starts programs, and the lab's processes run already. So it starts stand-ins,
// which hand over what it has told them in their environment, and the processes take their places.
// The launcher is a session of its own: it ends when the stand-ins do, which is when the
// contender does, also by a kill; then its folder is removed. That lies in /dev/shm, and the ranks'
// shared memory in it. If its stand-ins end while it starts, the launcher may never end (4.1.4):
// it is killed two seconds after the contender has ended.
#pragma once

#include <sched.h>

#include "peers/threads.hpp"

namespace handoff::lab::peers {

class Pipe : Pinned {
 public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC | O_NONBLOCK) != 0) throw std::runtime_error("no pipe");
  }
  ~Pipe() {
    close(ends_[0]);
    close_writer();
  }

  void close_writer() {
    if (ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }
  // Adds what has come.
  void read_into(std::string& text) const {
    std::array<char, 4096> some{};
    for (ssize_t n; (n = read(ends_[0], some.data(), some.size())) > 0;) {
      text.append(some.data(), static_cast<std::size_t>(n));
    }
  }
  // By which any process of this user can open it, for as long as this one lives.
  [[nodiscard]] std::string path() const {
    return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(ends_[0]);
  }

 private:
  std::array<int, 2> ends_{};
};

// The launcher's job of so many ranks.
class MpiJob : Pinned {
 public:
  explicit MpiJob(std::size_t ranks) : places_(ranks), launcher_(start()) {
    constexpr auto patience = std::chrono::seconds(20);
    const bool came = retry_for(patience, [this] { return have_told() || has_ended(); });
    if (!came || has_ended()) throw std::runtime_error("Open MPI: no processes from orterun");
  }
  // When the other processes are dead.
  ~MpiJob() {
    held_.close_writer();
    while (!has_ended() && waitpid(launcher_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  // Makes this process one of the ranks, as far as Open MPI can tell.
  void take_place(std::size_t rank) const {
    const std::string_view all = places_[rank].environment;
    for (std::size_t begin = 0; all[begin] != '\n'; begin = all.find('\0', begin) + 1) {
      const std::string_view entry = all.data() + begin;
      const std::size_t equals = entry.find('=');
      if (equals == entry.npos) continue;
      setenv(std::string(entry.substr(0, equals)).c_str(), entry.data() + equals + 1, 1);
    }
  }

 private:
  struct Place {
    Pipe pipe;
    std::string environment;  // ends in a line feed
  };

  pid_t start() const {
    // $1 is the folder, $2 the number of ranks. The rest is what a stand-in is given; $3 is then
    // a file that is there while the contender lives.
    static constexpr const char* launch =
        "mkdir -m 700 \"$1\" || exit 1\n"
        "export TMPDIR=\"$1\" OMPI_MCA_orte_tmpdir_base=\"$1\"\n"
        "export OMPI_MCA_btl_vader_backing_directory=\"$1\"\n"
        "ranks=$2\n"
        "shift 2\n"
        "orterun -n $ranks --host localhost:$ranks --bind-to none sh -c \"$@\" &\n"
        "run=$!\n"
        "{ while [ -e \"$3\" ]; do sleep 1; done; sleep 2; kill -9 $run; } 2>/dev/null &\n"
        "watch=$!\n"
        "wait $run\n"
        "kill $watch\n"
        "rm -rf \"$TMPDIR\"\n";
    static constexpr const char* hold_place =
        "held=$1\n"
        "shift $((OMPI_COMM_WORLD_RANK + 1))\n"
        "{ cat /proc/self/environ; echo; } >\"$1\"\n"
        "exec cat \"$held\"\n";
    const std::string folder = "/dev/shm/handoff-lab-" + std::to_string(getpid());
    std::vector<std::string> words{"sh",       "-c",   launch,
                                   "sh",       folder, std::to_string(places_.size()),
                                   hold_place, "sh",   held_.path()};
    for (const Place& place : places_) words.push_back(place.pipe.path());
    const std::vector<char*> arguments = for_exec(words);
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("no process for Open MPI's launcher");
    if (child > 0) return child;
    leave_contender(places_.size());
    execvp("sh", arguments.data());
    _exit(127);
  }

  // In the launcher, which the lab must neither kill nor wait for.
  static void leave_contender(std::size_t ranks) {
    setsid();
    const int nothing = open("/dev/null", O_RDWR);
    for (const int descriptor : {0, 1, 2}) dup2(nothing, descriptor);
    close_range(3, ~0U, 0);
    if (chdir("/") != 0) _exit(127);
    // No network but this machine's own, and no scheduler of a cluster.
    setenv("OMPI_MCA_pml", "ob1", 1);
    setenv("OMPI_MCA_btl", "self,vader", 1);
    setenv("OMPI_MCA_plm", "isolated", 1);
    setenv("OMPI_MCA_oob_tcp_if_include", "lo", 1);
    setenv("OMPI_MCA_odls_base_sigkill_timeout", "0", 1);  // stand-ins have nothing to save
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    // Processes that spin on one CPU would hold each other up.
    cpu_set_t cpus;
    const bool are_few = sched_getaffinity(0, sizeof cpus, &cpus) == 0 &&
                         static_cast<std::size_t>(CPU_COUNT(&cpus)) < ranks;
    setenv("OMPI_MCA_mpi_yield_when_idle", are_few ? "1" : "0", 1);
  }

  bool have_told() {
    bool all = true;
    for (Place& place : places_) {
      place.pipe.read_into(place.environment);
      all = all && !place.environment.empty() && place.environment.back() == '\n';
    }
    return all;
  }
  bool has_ended() {
    ended_ = ended_ || waitpid(launcher_, nullptr, WNOHANG) == launcher_;
    return ended_;
  }

  Pipe held_;  // open for writing as long as the job lives: the stand-ins wait for its end
  std::vector<Place> places_;
  bool ended_ = false;
  pid_t launcher_;
};

}  // namespace handoff::lab::peers
