// SPDX-License-Identifier: MIT
// mpi4py.futures: Python's executor over the ranks of an Open MPI job, which call this lab's work.
#pragma once

#include <filesystem>

#include "peers/forks.hpp"
#include "peers/job.hpp"
#include "peers/mpi_job.hpp"

namespace handoff::lab::peers {

// The master, rank 0, is told by a pipe what to do, and so many workers do it.
class Mpi4py : Pinned {
 public:
  Mpi4py(std::size_t workers, const std::string& kind, const std::vector<std::string>& more)
      : python_(python()), job_(workers + 1) {
    std::vector<std::string> words{python_,
                                   "-m",
                                   "mpi4py.futures",
                                   folder() / "mpi4py_master.py",
                                   kind,
                                   std::to_string(workers)};
    words.insert(words.end(), more.begin(), more.end());
    int to[2];
    int from[2];
    if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) {
      throw std::runtime_error("no pipe");
    }
    for (std::size_t rank = 0; rank <= workers; ++rank) {
      const pid_t child = fork();
      if (child < 0) throw std::runtime_error("no process for a rank");
      if (child == 0) live(rank, words, to[0], from[1]);
      ranks_.push_back(child);
    }
    close(to[0]);
    close(from[1]);
    to_ = fdopen(to[1], "w");
    from_ = fdopen(from[0], "r");
    static_cast<void>(answer());  // all are there
  }
  ~Mpi4py() {
    std::fclose(to_);
    std::fclose(from_);
    for (const pid_t rank : ranks_) wait_for(rank);
  }

  // What it answers to an order of two numbers, and of data where it takes some.
  std::uint64_t ask(std::size_t count, std::size_t more, const void* data = nullptr,
                    std::size_t bytes = 0) {
    std::fprintf(to_, "%zu %zu\n", count, more);
    if (bytes > 0) std::fwrite(data, 1, bytes, to_);
    std::fflush(to_);
    return answer();
  }

  // Debian's module is Debian's interpreter's, which need not be the first one in the path.
  static std::string python() {
    for (const char* const name : {"python3", "/usr/bin/python3"}) {
      const std::string ask = std::string(name) + " -c 'import numpy, mpi4py.futures' 2>/dev/null";
      if (std::system(ask.c_str()) == 0) return name;
    }
    throw Unavailable("python3-mpi4py or python3-numpy is not installed");
  }

  // Where the shared objects are with the lab's work, and the master.
  static std::filesystem::path folder() {
    return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "lib";
  }

 private:
  std::uint64_t answer() {
    unsigned long long said = 0;
    if (std::fscanf(from_, "%llu", &said) != 1) throw std::runtime_error("mpi4py has ended");
    return said;
  }

  [[noreturn]] void live(std::size_t rank, std::vector<std::string>& words, int in, int out) const {
    live_as_child();
    job_.take_place(rank);
    if (rank == 0) dup2(in, 0);
    if (rank == 0) dup2(out, 1);
    execvp(words[0].c_str(), for_exec(words).data());
    _exit(127);
  }

  std::string python_;
  MpiJob job_;
  std::vector<pid_t> ranks_;
  std::FILE* to_ = nullptr;
  std::FILE* from_ = nullptr;
};

// As a pool of `grain`, whose tasks are numbered, and of `loads`, where each has a piece besides.
class Mpi4pyTasks {
 public:
  static constexpr bool kOwnMemory = true;  // so its workers have none to walk
  explicit Mpi4pyTasks(std::size_t width)
      : pool_(width, "tasks",
              {Mpi4py::folder() / "libhandoff_peers_work.so", "_ZN7handoff3lab5peers4burnEmm",
               Mpi4py::folder() / "libhandoff_loads_work.so",
               "_ZN7handoff3lab5loads7computeEmRKNS1_5PieceE"}) {}

  void batch(std::size_t count, std::size_t steps) { add(count, pool_.ask(count, steps)); }

  void begin(std::size_t /*count*/) { numbers_.clear(); }
  template <class Run>
  void post(const Run& run) {
    const auto& piece = run.task->pieces[run.index];
    numbers_.insert(numbers_.end(), {run.index + 1, piece.work, piece.kind});
  }
  void wait() {
    const std::size_t count = numbers_.size() / 3;
    add(count, pool_.ask(count, 0, numbers_.data(), numbers_.size() * sizeof numbers_[0]));
  }

 private:
  static void add(std::size_t count, std::uint64_t sum) {
    Slot& slot = Board::mine();
    slot.sum += sum;
    slot.runs += count;
  }

  std::vector<std::uint64_t> numbers_;
  Mpi4py pool_;
};

}  // namespace handoff::lab::peers
