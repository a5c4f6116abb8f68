// SPDX-License-Identifier: MIT
// The job that the scenarios of pools hand over, and where it leaves a trace: each counts itself,
// by number, on the thread that runs it. A batch of them goes through a pool in whichever of two
// forms it has:
//
//   void batch(count, steps)    all at once
//   void begin(count)           told before a batch how large it will be, where it asks for that,
//   void execute(job)           then for each job: runs job() on some thread, once,
//   void wait()                 until all executed jobs are done
#pragma once

#include "harness/contender.hpp"
#include "peers/answer.hpp"
#include "peers/kernel.hpp"

namespace handoff::lab::peers {

// What one thread ran.
struct alignas(64) Slot {
  std::uint64_t runs = 0;
  std::uint64_t sum = 0;
  std::uint64_t seed = 1;
};

// Where each thread counts what it ran. A thread takes a slot with its first task and keeps it
// until it ends; then another thread may go on in it.
class Board {
 public:
  static Slot& mine() {
    if (slot_ == nullptr) [[unlikely]]
      slot_ = &take();
    return *slot_;
  }
  // Between batches only, by the thread that hands over: it has slot 0.
  static void clear() {
    static_cast<void>(mine());
    for (Slot& slot : slots_) slot.runs = slot.sum = 0;
  }
  // For members that are forks of this process and compute by one thread: they count in memory that
  // all of them share, each in the slot of its number, whichever its thread. share() comes before
  // the forks; enter() is called by each.
  static void share(std::size_t members) {
    const int how = MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED;
    if (mmap(slots_.data(), sizeof slots_, PROT_READ | PROT_WRITE, how, -1, 0) == MAP_FAILED) {
      throw Unavailable("there is no shared memory to count in");
    }
    taken_ = members;
  }
  static void enter(std::size_t member) { slot_ = slot_of_fork_ = &slots_[member]; }

  static Answer total(Burst& burst) {
    Answer total{0, 0};
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < taken_; ++i) {
      total.runs += slots_[i].runs;
      total.sum += slots_[i].sum;
      burst.executed(i, static_cast<double>(slots_[i].runs));
    }
    return total;
  }

 private:
  // A thread's hold on a slot. What it needs has no destructor: threads may outlive main().
  class Lease : Pinned {
   public:
    Lease() {
      const std::lock_guard lock(mutex_);
      index_ = returned_ > 0 ? free_[--returned_] : taken_++;
      if (index_ >= slots_.size()) std::terminate();  // more threads than any cell asks for
    }
    ~Lease() {
      const std::lock_guard lock(mutex_);
      free_[returned_++] = index_;
    }
    Slot& slot() const { return slots_[index_]; }

   private:
    std::size_t index_;
  };

  static Slot& take() {
    if (slot_of_fork_ != nullptr) return *slot_of_fork_;
    thread_local const Lease lease;
    return lease.slot();
  }

  alignas(4096) static inline std::array<Slot, 1024> slots_;  // whole pages, for share()
  static inline std::mutex mutex_;  // of the three below
  static inline std::size_t taken_ = 0;
  static inline std::array<std::size_t, 1024> free_{};  // the first `returned_` of them
  static inline std::size_t returned_ = 0;
  static inline Slot* slot_of_fork_ = nullptr;
  static inline thread_local Slot* slot_ = nullptr;
};

// One task. 16 bytes, so that every pool can keep it in place.
struct Job {
  std::uint64_t number;
  std::size_t steps;

  std::uint64_t operator()() const {
    Slot& slot = Board::mine();
    ++slot.runs;
    slot.sum += number;
    if (steps != 0) slot.seed = burn(slot.seed, steps);
    return number;
  }
};

// For pools that cannot be waited for: the last task of a batch tells.
class Outstanding {
 public:
  void begin(std::size_t count) { left_.store(count, std::memory_order_relaxed); }
  void done() {
    if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) left_.notify_one();
  }
  void wait() const {
    for (std::size_t left; (left = left_.load(std::memory_order_acquire)) != 0;) left_.wait(left);
  }

 private:
  std::atomic<std::size_t> left_{0};
};

template <class Pool>
concept RunsWholeBatches = requires(Pool& pool) { pool.batch(std::size_t{}, std::size_t{}); };
template <class Pool>
concept RunsBatches = RunsWholeBatches<Pool> || requires(Pool& pool) {
  pool.execute(Job{});
  pool.wait();
};

// The jobs 1 .. count, each with so many steps of work.
template <RunsBatches Pool>
void run_batch(Pool& pool, std::size_t count, std::size_t steps) {
  if constexpr (RunsWholeBatches<Pool>) {
    pool.batch(count, steps);
  } else {
    if constexpr (requires { pool.begin(count); }) pool.begin(count);
    for (std::size_t i = 1; i <= count; ++i) pool.execute(Job{i, steps});
    pool.wait();
  }
}

}  // namespace handoff::lab::peers
