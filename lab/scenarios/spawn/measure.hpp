// SPDX-License-Identifier: MIT
// Measures what is started, claimed and mapped in `spawn`. Each of these makes what a contender
// answers: how many did what they were to do.
//
//   measure_threads<start_one>  start_one(word) starts a thread that calls word.store() once, and
//                               returns when that thread has ended
//   measure_ready<Way>          Way() while the parent is small; pid_t start() starts a worker, and
//                               returns its number once it has told that it is ready; void end()
//                               ends that worker, and waits until it is gone; not timed
//   measure_jobs<Way>           Way() makes what it keeps from one job to the next; void
//                               begin(Number) hands over the job of this number, at most kInFlight
//                               are under way; Answer end() waits for the job that was begun first
//   measure_claims<Way>         Way(width) starts its workers, the table is mapped already; void
//                               run(const Rows&) has the workers do all rows, claimed kBlock at a
//                               time, and returns when all are done
//   measure_attach<Way>         Way() makes memory of kMemoryBytes, whose first word is kFirstWord;
//                               std::uint64_t look() opens it, maps it, reads that word, and lets
//                               go of it again
#pragma once

#include <fstream>

#include "peers/forks.hpp"
#include "scenarios/spawn/work.hpp"

namespace handoff::lab::spawn {

// A contender's own: what one of the functions below makes.
Prepared contender(const Parameters& parameters);

// Memory that the parent has written to. A fork copies its tables; so its pages are small ones, as
// they are where nobody asks for others.
class Touched : Pinned {
 public:
  explicit Touched(std::size_t gib) : bytes_(gib << 30) {
    if (bytes_ == 0) return;
    require_free(gib + 1);
    place_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place_ == MAP_FAILED) throw std::bad_alloc();
    madvise(place_, bytes_, MADV_NOHUGEPAGE);
    constexpr std::size_t page = 4096;
    auto* const bytes = static_cast<std::byte*>(place_);
    for (std::size_t at = 0; at < bytes_; at += page) bytes[at] = std::byte{1};
  }
  ~Touched() {
    if (bytes_ != 0) munmap(place_, bytes_);
  }

 private:
  static void require_free(std::size_t gib) {
    std::ifstream facts("/proc/meminfo");
    for (std::string word; facts >> word;) {
      std::size_t kib = 0;
      if (word != "MemAvailable:" || !(facts >> kib)) continue;
      if (kib >> 20 < gib) {
        throw Unavailable("it needs " + std::to_string(gib) + " GiB of memory that is free");
      }
      return;
    }
  }

  std::size_t bytes_;
  void* place_ = nullptr;
};

// The rows of a run, and which run it is: 1, 2, and so on. To be copied to other processes.
struct Rows {
  // What no row is after it was done once in each run.
  static constexpr std::uint64_t kWrong = ~std::uint64_t{0};

  std::uint64_t* table;  // in shared memory; a block of rows is a cache line
  std::size_t count;
  std::uint64_t run;

  // A row that a run left out or did twice is wrong from then on.
  void do_block(std::size_t first, std::size_t last) const {
    for (std::size_t i = first; i < last; ++i) table[i] = table[i] + 1 == run ? run : kWrong;
  }
};

// A name of shared memory that goes when this process ends, even if it is killed: a process that
// does nothing else waits for that, outside of the group that is killed with the contender.
class KeptName : Pinned {
 public:
  KeptName() : text_("/handoff-lab-attach-" + std::to_string(getpid())) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    keeper_ = fork();
    if (keeper_ == 0) keep(ends[0], ends[1]);
    close(ends[0]);
    alive_ = ends[1];
    if (keeper_ < 0) {
      close(alive_);
      throw std::runtime_error("no child");
    }
    setpgid(keeper_, keeper_);
  }
  ~KeptName() {
    shm_unlink(text_.c_str());
    peers::end_child(keeper_);
    close(alive_);
  }

  // With its slash.
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  // It outlives its parent, so it is no child as others are.
  [[noreturn]] void keep(int waits, int alive) const {
    close(alive);
    close(protocol::command_fd);  // the coordinator must see when the contender closes it
    char none = 0;
    peers::uninterrupted([&] { return read(waits, &none, 1); });
    shm_unlink(text_.c_str());
    _exit(0);
  }

  std::string text_;
  pid_t keeper_ = -1;
  int alive_ = -1;  // closed by the kernel when this process ends
};

template <auto start_one>
Prepared measure_threads(const Parameters& /*parameters*/) {
  return answering([](Burst& burst) {
    std::uint64_t ran = 0;
    for (std::uint64_t i = 0; i < threads; ++i) {
      Word word;
      start_one(word);
      if (word.is_of_another_stack()) ++ran;
    }
    burst.items(static_cast<double>(threads));
    return ran;
  });
}

template <class Way>
Prepared measure_ready(const Parameters& parameters) {
  const auto way = std::make_shared<Way>();
  const auto touched = std::make_shared<Touched>(parameters.number("gib"));
  return answering([way, touched, last = pid_t{0}](Burst& burst) mutable {
    std::uint64_t ready = 0;
    for (std::uint64_t i = 0; i < workers; ++i) {
      pid_t worker = 0;
      burst.timed([&] { worker = way->start(); });
      // Neither this process nor the worker before, which is gone.
      if (worker > 0 && worker != getpid() && worker != last) ++ready;
      last = worker;
      way->end();
    }
    burst.items(static_cast<double>(workers));
    return ready;
  });
}

template <class Way>
Prepared measure_jobs(const Parameters& parameters) {
  const bool is_alone = parameters.text("metric") == "job";
  const std::uint64_t count = is_alone ? jobs_alone : jobs_together;
  const std::size_t in_flight = is_alone ? 1 : kInFlight;
  return answering([count, in_flight, own = getpid(), way = std::make_shared<Way>(),
                    first = Number{1}](Burst& burst) mutable {
    std::uint64_t right = 0;
    std::uint64_t begun = 0;
    for (std::uint64_t ended = 0; ended < count; ++ended) {
      while (begun < count && begun - ended < in_flight) way->begin(first + begun++);
      const Answer answer = way->end();
      if (answer.number == first + ended && answer.worker != own) ++right;
    }
    first += count;
    burst.items(static_cast<double>(count));
    return right;
  });
}

template <class Way>
Prepared measure_claims(const Parameters& parameters) {
  const std::size_t rows = parameters.number("rows");
  const auto memory = std::make_shared<peers::SharedBytes>(rows * sizeof(std::uint64_t));
  const auto way = std::make_shared<Way>(parameters.number("width"));
  Rows next{static_cast<std::uint64_t*>(memory->get()), rows, 0};
  return answering([memory, way, next](Burst& burst) mutable {
    const auto run = [&] {
      ++next.run;
      way->run(next);
    };
    run();  // the rows come back from the core that has looked at them
    burst.timed([&] {
      for (std::uint64_t i = 0; i < claim_runs; ++i) run();
    });
    burst.items(static_cast<double>(claim_runs * next.count));
    return static_cast<std::uint64_t>(std::count(next.table, next.table + next.count, next.run));
  });
}

template <class Way>
Prepared measure_attach(const Parameters& /*parameters*/) {
  return answering([way = std::make_shared<Way>()](Burst& burst) {
    std::uint64_t right = 0;
    for (std::uint64_t i = 0; i < looks; ++i) right += way->look() == kFirstWord ? 1 : 0;
    burst.items(static_cast<double>(looks));
    return right;
  });
}

}  // namespace handoff::lab::spawn
