// SPDX-License-Identifier: MIT
// Open MPI: both processes are ranks of one job, which send and receive through shared memory.
//
// Its launcher starts programs, and the lab's two processes run already. So it starts two
// placeholders, which hand over what it has told them in their environment, and the processes take
// their places. The launcher is a session of its own: it ends when the placeholders do, which is
// when the contender does, also by a kill; then its folder is removed. That lies in /dev/shm, and
// the ranks' shared memory in it. If its placeholders end while it starts, the launcher may never
// end (4.1.4): it is killed two seconds after the contender has ended.
#include <sched.h>

#define OMPI_SKIP_MPICXX 1  // its C++ bindings are gone from the standard
#include <mpi.h>

#include "scenarios/processes/measure.hpp"

namespace handoff::lab::processes {
namespace {

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

// The launcher's job of two ranks.
class Job : Pinned {
 public:
  Job() : launcher_(start()) {
    constexpr auto patience = std::chrono::seconds(20);
    const bool came = peers::retry_for(patience, [this] { return have_told() || has_ended(); });
    if (!came || has_ended()) throw std::runtime_error("Open MPI: no two processes from orterun");
  }
  // When the other process is dead. This one does not finalize: that waits for the other one.
  ~Job() {
    held_.close_writer();
    while (!has_ended() && waitpid(launcher_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  // Makes this process one of the ranks, as far as Open MPI can tell.
  void take_place(int rank) const {
    const std::string_view all = places_[static_cast<std::size_t>(rank)].environment;
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

  pid_t start() {
    // $1 is the folder. The rest is what a placeholder is given; $3 is a file that is there while
    // the contender lives.
    static constexpr const char* launch =
        "mkdir -m 700 \"$1\" || exit 1\n"
        "export TMPDIR=\"$1\" OMPI_MCA_orte_tmpdir_base=\"$1\"\n"
        "export OMPI_MCA_btl_vader_backing_directory=\"$1\"\n"
        "shift\n"
        "orterun -n 2 --host localhost:2 --bind-to none sh -c \"$@\" &\n"
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
    const std::string held = held_.path();
    const std::array<std::string, 2> told{places_[0].pipe.path(), places_[1].pipe.path()};
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("no process for Open MPI's launcher");
    if (child > 0) return child;
    leave_contender();
    execlp("sh", "sh", "-c", launch, "sh", folder.c_str(), hold_place, "sh", held.c_str(),
           told[0].c_str(), told[1].c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }

  // In the launcher, which the lab must neither kill nor wait for.
  static void leave_contender() {
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
    setenv("OMPI_MCA_odls_base_sigkill_timeout", "0", 1);  // placeholders have nothing to save
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    // Two processes that spin on one CPU would hold each other up.
    cpu_set_t cpus;
    const bool is_one = sched_getaffinity(0, sizeof cpus, &cpus) == 0 && CPU_COUNT(&cpus) == 1;
    setenv("OMPI_MCA_mpi_yield_when_idle", is_one ? "1" : "0", 1);
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

  Pipe held_;  // open for writing as long as the job lives: the placeholders wait for its end
  std::array<Place, 2> places_;
  bool ended_ = false;
  pid_t launcher_;
};

template <class Message>
class Ranks {
 public:
  void open(Side side) {
    rank_ = side == Side::first ? 0 : 1;
    job_.take_place(rank_);
  }
  void meet() const {
    require(MPI_Init(nullptr, nullptr), "MPI_Init");
    int rank = -1;
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank != rank_ || size != 2) throw std::runtime_error("Open MPI: no job of two");
  }
  template <class Make>
  void send(Make&& make) {
    make(*place_);
    require(MPI_Send(place_.get(), sizeof(Message), MPI_BYTE, 1 - rank_, 0, MPI_COMM_WORLD),
            "MPI_Send");
  }
  template <class Take>
  void receive(Take&& take) {
    MPI_Status status;
    require(
        MPI_Recv(place_.get(), sizeof(Message), MPI_BYTE, 1 - rank_, 0, MPI_COMM_WORLD, &status),
        "MPI_Recv");
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    if (bytes != sizeof(Message)) throw std::runtime_error("Open MPI: half a message");
    take(*place_);
  }

 private:
  static void require(int error, const char* what) {
    if (error != MPI_SUCCESS) throw std::runtime_error(std::string("Open MPI: ") + what);
  }

  Job job_;
  int rank_ = -1;
  std::unique_ptr<Message> place_ = std::make_unique<Message>();
};

}  // namespace

Operation contender(const Task& task) { return measure<Ranks>(task); }

}  // namespace handoff::lab::processes
