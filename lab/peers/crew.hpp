// SPDX-License-Identifier: MIT
// Threads that a contender is given, the same for all of a scenario: they are called, wait at a
// line on which they spin, and then claim tasks until none is left. The calling thread is one of
// them. Between operations they sleep.
#pragma once

#include "peers/threads.hpp"

namespace handoff::lab::peers {

class Crew : Pinned {
 public:
  explicit Crew(std::size_t threads) : threads_(threads) {
    for (std::size_t member = 1; member < threads; ++member) {
      others_.emplace_back([this, member] { live(member); });
    }
  }
  ~Crew() {
    call();
    quit_.store(true, std::memory_order_relaxed);  // now nobody is at the end of an earlier call
    dismiss();
  }

  std::size_t threads() const { return threads_; }

  // Everybody is at the line when this returns; and asleep, or about to be.
  void call() {
    there_.store(0, std::memory_order_relaxed);
    called_.fetch_add(1, std::memory_order_release);
    called_.notify_all();
    retry([this] { return there_.load(std::memory_order_acquire) + 1 == threads_; });
  }
  void dismiss() { run_job({}); }

  // body(member, first, last) for blocks of [0, count) of so many at most, between the two.
  template <class Body>
  void run(std::size_t count, std::size_t block, const Body& body) {
    const auto call = [](const void* with, std::size_t member, std::size_t first,
                         std::size_t last) {
      (*static_cast<const Body*>(with))(member, first, last);
    };
    run_job({.call = call, .with = &body, .count = count, .block = block});
  }

  // Claims of blocks since it was asked last: each is a read-modify-write that members share.
  std::uint64_t claims() { return claims_.exchange(0, std::memory_order_relaxed); }

 private:
  struct Job {
    void (*call)(const void* with, std::size_t member, std::size_t first,
                 std::size_t last) = nullptr;
    const void* with = nullptr;
    std::size_t count = 0;
    std::size_t block = 1;
  };

  void run_job(const Job& job) {
    job_ = job;
    next_.store(0, std::memory_order_relaxed);
    done_.store(0, std::memory_order_relaxed);
    word_.fetch_add(1, std::memory_order_release);
    if (job.call == nullptr) return;
    work(0);
    retry([this] { return done_.load(std::memory_order_acquire) + 1 == threads_; });
  }

  void work(std::size_t member) {
    std::uint64_t claims = 0;
    for (;;) {
      const std::size_t first = next_.fetch_add(job_.block, std::memory_order_relaxed);
      ++claims;
      if (first >= job_.count) break;
      const std::size_t left = job_.count - first;
      job_.call(job_.with, member, first, first + (left < job_.block ? left : job_.block));
    }
    claims_.fetch_add(claims, std::memory_order_relaxed);
  }

  void live(std::size_t member) {
    std::uint32_t called = 0;
    std::uint32_t word = 0;
    for (;;) {
      called_.wait(called, std::memory_order_acquire);
      ++called;
      there_.fetch_add(1, std::memory_order_release);
      for (;;) {
        retry([&] { return word_.load(std::memory_order_acquire) != word; });
        ++word;
        if (job_.call == nullptr) break;
        work(member);
        done_.fetch_add(1, std::memory_order_release);
      }
      if (quit_.load(std::memory_order_relaxed)) return;
    }
  }

  const std::size_t threads_;
  std::atomic<bool> quit_{false};
  std::atomic<std::uint32_t> called_{0};
  Job job_{};
  alignas(kApart) std::atomic<std::uint32_t> word_{0};  // how many jobs there were
  alignas(kApart) std::atomic<std::size_t> there_{0};
  alignas(kApart) std::atomic<std::size_t> next_{0};
  alignas(kApart) std::atomic<std::size_t> done_{0};
  std::atomic<std::uint64_t> claims_{0};
  std::vector<std::jthread> others_;
};

}  // namespace handoff::lab::peers
