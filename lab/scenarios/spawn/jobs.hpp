// SPDX-License-Identifier: MIT
// Measures empty jobs in other processes: one after the other, and so many at a time. A contender's
// Way has
//
//   Way()                       makes what it keeps from one job to the next
//   void begin(Number number)   hands over the job of this number; at most kInFlight are under way
//   Answer end()                waits for the job that was begun first
//
// A job is to answer with its number and with its process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <sys/types.h>
#include <unistd.h>

#include "harness/contender.hpp"
#include "scenarios/spawn/work.hpp"

namespace handoff::lab::spawn {

using Number = std::uint64_t;
inline constexpr std::size_t kInFlight = 64;

struct Answer {
  Number number;
  pid_t worker;
};

inline Answer do_job(const Number& number) { return {number, getpid()}; }

template <class Way>
class Jobs {
 public:
  Jobs(std::uint64_t count, std::size_t in_flight) : count_(count), in_flight_(in_flight) {}

  void run(Burst& burst) {
    right_ = 0;
    std::uint64_t begun = 0;
    for (std::uint64_t ended = 0; ended < count_; ++ended) {
      while (begun < count_ && begun - ended < in_flight_) way_.begin(first_ + begun++);
      const Answer answer = way_.end();
      if (answer.number == first_ + ended && answer.worker != own_) ++right_;
    }
    first_ += count_;
    burst.items(static_cast<double>(count_));
  }
  std::uint64_t& right() { return right_; }

 private:
  const std::uint64_t count_;
  const std::size_t in_flight_;
  const pid_t own_ = getpid();
  Way way_;
  Number first_ = 1;
  std::uint64_t right_ = 0;
};

template <class Way>
Prepared measure_jobs(const Parameters& parameters) {
  const bool is_alone = parameters.text("metric") == "job";
  const auto all = is_alone ? std::make_shared<Jobs<Way>>(jobs_alone, 1)
                            : std::make_shared<Jobs<Way>>(jobs_together, kInFlight);
  return {[all](Burst& burst) { all->run(burst); },
          std::as_writable_bytes(std::span(&all->right(), 1))};
}

}  // namespace handoff::lab::spawn
