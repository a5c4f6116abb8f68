// SPDX-License-Identifier: MIT
// Replays a load with a pool. A contender's Pool is made from a number of threads, the caller not
// among them, and has
//
//   void execute(job)       runs job() on some thread, once; called by the caller and by jobs
//   void execute(job, key)  instead of it, where it keeps pieces of a key in order by itself
//   void begin(count)       told before a replay how many there will be, where it asks for that
//   void enter(submit)      calls submit() and returns once all jobs are done, where it has
//                           `calls_enter`; else the caller submits and sleeps until they are
//
// The caller hands over each piece when it arrives, late or not: the load is open, and a latency is
// counted from the arrival that was intended. A piece that waits for others is handed over by the
// last of those, or as it arrives.
#pragma once

#include "peers/job.hpp"
#include "peers/threads.hpp"
#include "scenarios/replay/load.hpp"

namespace handoff::lab::replay {

struct Task {
  LoadView load;
  std::size_t width;  // threads that execute pieces
  double step_ns;  // of burn()
  std::span<PieceAnswer> output;
};

// A piece: computes until the thread has had a CPU for so many ns. Steps that are counted in
// advance would be as much work, but not as much time: CPUs change their speed by a third within
// tenths of a second, and what a way takes would be what its CPUs did in that moment. `step_ns` is
// of burn().
void work(std::uint64_t seed, std::uint64_t ns, double step_ns);

// A contender's own, usually `return measure<Pool>(task);`. The task outlives it.
Operation contender(const Task& task);

template <class Pool>
class Replayer {
 public:
  explicit Replayer(const Task& task) : task_(task), waits_(pieces().size()), pool_(threads()) {}

  void operator()(Burst& burst) {
    begin();
    burst.timed([this] { replay(); });
    Histogram& latencies = burst.latencies();
    for (std::size_t i = 0; i < pieces().size(); ++i) {
      latencies.record(task_.output[i].end_ns - pieces()[i].arrival_ns);
    }
  }

 private:
  struct Job {  // 16 bytes, so that every pool can keep it in place
    Replayer* replayer;
    std::size_t piece;
    void operator()() const { replayer->run(piece); }
  };
  static constexpr bool calls_enter = requires { Pool::calls_enter; };

  [[nodiscard]] std::span<const LoadPiece> pieces() const { return task_.load.pieces; }

  // A pool whose caller helps while it waits counts it among its threads. Here the caller sleeps.
  static constexpr bool counts_caller = requires(Pool& pool) { pool.run_and_wait(peers::Job{}); };

  // A caller that joins in is one of the threads, unless it sleeps between arrivals.
  [[nodiscard]] std::size_t threads() const {
    const bool joins_in = calls_enter && pieces().back().arrival_ns == 0;
    return task_.width + ((calls_enter || counts_caller) && !joins_in ? 1 : 0);
  }

  void begin() {
    for (std::size_t i = 0; i < pieces().size(); ++i) {
      waits_[i].store(pieces()[i].parents + 1, std::memory_order_relaxed);
      task_.output[i] = {0, 0, 0};
    }
    outstanding_.begin(pieces().size());
    if constexpr (requires(Pool& pool) { pool.begin(std::size_t{}); }) pool_.begin(pieces().size());
  }

  void replay() {
    start_ns_ = peers::clock_ns();
    if constexpr (calls_enter) {
      pool_.enter([this] { submit(); });
    } else {
      submit();
      outstanding_.wait();
    }
  }

  void submit() {
    for (std::size_t i = 0; i < pieces().size(); ++i) {
      wait_until(start_ns_ + pieces()[i].arrival_ns);
      let_go(i);
    }
  }

  static void wait_until(std::uint64_t time_ns) {
    const std::uint64_t now = peers::clock_ns();
    if (now < time_ns) std::this_thread::sleep_for(std::chrono::nanoseconds(time_ns - now));
  }

  // It has arrived, or one that it waited for has ended. What those wrote the last one sees.
  void let_go(std::size_t piece) {
    if (waits_[piece].fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    if constexpr (requires(Pool& pool, Job job) { pool.execute(job, std::uint64_t{}); }) {
      pool_.execute(Job{this, piece}, pieces()[piece].key);
    } else {
      pool_.execute(Job{this, piece});
    }
  }

  void run(std::size_t piece) {
    const LoadPiece& load = pieces()[piece];
    PieceAnswer& answer = task_.output[piece];
    answer.begin_ns = peers::clock_ns() - start_ns_;
    work(piece, load.work_ns, task_.step_ns);
    answer.end_ns = peers::clock_ns() - start_ns_;
    ++answer.runs;
    for (const std::uint32_t child : task_.load.children_of(piece)) let_go(child);
    outstanding_.done();
  }

  const Task& task_;
  std::vector<std::atomic<std::uint32_t>> waits_;
  peers::Outstanding outstanding_;
  std::uint64_t start_ns_ = 0;
  Pool pool_;  // its threads end first
};

template <class Pool>
Operation measure(const Task& task) {
  return [replayer = std::make_shared<Replayer<Pool>>(task)](Burst& burst) { (*replayer)(burst); };
}

}  // namespace handoff::lab::replay
