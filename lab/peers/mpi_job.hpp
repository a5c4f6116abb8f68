// SPDX-License-Identifier: MIT
// A job of Open MPI whose ranks are a contender and its forks.
//
// Its launcher starts programs, and the lab's processes run already. So it starts stand-ins,
// which write what it has told them in their environment into its folder, and the processes take
// their places.
// The launcher is a session of its own: it ends when the stand-ins do, which is when the
// contender does, also by a kill; then its folder is removed. That lies in /dev/shm, and the ranks'
// shared memory in it. If its stand-ins end while it starts, the launcher may never end (4.1.4):
// it is killed two seconds after the contender has ended.
#pragma once

#include <sched.h>

#include <filesystem>
#include <fstream>

#include "peers/threads.hpp"

namespace handoff::lab::peers {

// The launcher's job of so many ranks.
class MpiJob : Pinned {
 public:
  explicit MpiJob(std::size_t ranks) : launcher_(start(ranks)) {
    constexpr auto patience = std::chrono::seconds(20);
    const bool came = retry_for(patience, [&] { return have_told(ranks) || has_ended(); });
    if (!came || has_ended()) throw std::runtime_error("Open MPI: no processes from orterun");
  }
  // When the other processes are dead.
  ~MpiJob() {
    close(held_[1]);
    while (!has_ended() && waitpid(launcher_, nullptr, 0) < 0 && errno == EINTR) {
    }
    close(held_[0]);
  }

  // Makes this process one of the ranks, as far as Open MPI can tell.
  void take_place(std::size_t rank) const {
    std::ifstream environment(place_of(rank));
    for (std::string entry; std::getline(environment, entry, '\0');) {
      const std::size_t equals = entry.find('=');
      if (equals == entry.npos) continue;
      setenv(entry.substr(0, equals).c_str(), entry.c_str() + equals + 1, 1);
    }
  }

 private:
  // Where a stand-in leaves its environment.
  [[nodiscard]] std::string place_of(std::size_t rank) const {
    return folder_ + "/" + std::to_string(rank);
  }

  pid_t start(std::size_t ranks) {
    // $1 is the folder, $2 the number of ranks. $3 is what a stand-in does; $4, the end of a pipe
    // that is open while the contender lives.
    static constexpr const char* launch =
        "mkdir -m 700 \"$1\" || exit 1\n"
        "export TMPDIR=\"$1\" OMPI_MCA_orte_tmpdir_base=\"$1\"\n"
        "export OMPI_MCA_btl_vader_backing_directory=\"$1\"\n"
        "orterun -n $2 --host localhost:$2 --bind-to none sh -c \"$3\" sh \"$4\" &\n"
        "run=$!\n"
        "{ while [ -e \"$4\" ]; do sleep 1; done; sleep 2; kill -9 $run; } 2>/dev/null &\n"
        "watch=$!\n"
        "wait $run\n"
        "kill $watch\n"
        "rm -rf \"$TMPDIR\"\n";
    static constexpr const char* hold_place =
        "place=$TMPDIR/$OMPI_COMM_WORLD_RANK\n"
        "cat /proc/self/environ >\"$place.new\" && mv \"$place.new\" \"$place\"\n"
        "exec cat \"$1\"\n";
    if (pipe2(held_.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    const std::string held =
        "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(held_[0]);
    std::vector<std::string> words{"sh",       "-c", launch, "sh", folder_, std::to_string(ranks),
                                   hold_place, held};
    const std::vector<char*> arguments = for_exec(words);
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("no process for Open MPI's launcher");
    if (child > 0) return child;
    leave_contender(ranks);
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

  [[nodiscard]] bool have_told(std::size_t ranks) const {
    std::size_t told = 0;
    while (told < ranks && std::filesystem::exists(place_of(told))) ++told;
    return told == ranks;
  }
  bool has_ended() {
    ended_ = ended_ || waitpid(launcher_, nullptr, WNOHANG) == launcher_;
    return ended_;
  }

  const std::string folder_ = "/dev/shm/handoff-lab-" + std::to_string(getpid());
  std::array<int, 2> held_{};  // the stand-ins wait for the end of this pipe
  bool ended_ = false;
  pid_t launcher_;
};

}  // namespace handoff::lab::peers
