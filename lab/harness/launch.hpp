// SPDX-License-Identifier: MIT
// One contender's process: started, spoken with, stopped while others are measured, and never left
// behind. It has a process group of its own; the kernel kills it when the coordinator dies.
#pragma once

#include "harness/contender_list.hpp"
#include "harness/interrupt.hpp"
#include "harness/layout.hpp"
#include "harness/row_status.hpp"

namespace handoff::lab {

// A contender that cannot go on, and why.
struct Dropped {
  RowStatus status;
  std::string reason;
};

// In the reason of one that hung: how to wait longer, for a command that says it in other words.
inline constexpr const char* kWaitsLonger = "more --time-budget waits longer";

// What a launch took beside its bursts.
struct Phases {
  double start_ns = 0;  // to prepare: start threads, copy the input
  double stop_ns = 0;   // to give all of it back
  double peak_memory_bytes = 0;
};

class Launch : Pinned {
 public:
  Launch(const Contender& contender, const Problem& problem, const std::vector<Variable>& variables,
         const Layout& layout, Interrupt& interrupt);
  ~Launch();  // kills the group and waits for its end

  // These throw Dropped when the contender says that it cannot, ends, crashes, answers nonsense, or
  // is silent for longer than `patience`.
  void prepare(const Cell& cell, std::chrono::nanoseconds patience);
  Phases finish(std::chrono::nanoseconds patience);  // no bursts after this
  // It ends as a program does that is told to: what it writes at its end is there then. After
  // finish(); the same failures.
  void leave(std::chrono::nanoseconds patience);
  Reading burst(std::chrono::nanoseconds least, std::chrono::nanoseconds patience);

  void pause();  // returns once it stands still
  void resume();  // from where it stopped

  [[nodiscard]] std::span<const std::byte> answer() const { return answer_.bytes(); }

 private:
  void start(const Contender& contender, int input, const std::vector<Variable>& variables,
             const Layout& layout);
  void send(std::string line);
  double receive_time(std::string_view word, std::chrono::nanoseconds patience, const char* doing);
  std::string receive(std::chrono::nanoseconds patience, const char* doing);
  Dropped ended(const char* doing);
  int reap();
  std::string last_words();

  Interrupt& interrupt_;
  MemoryFile answer_;
  MemoryFile output_;  // what it prints; its last line goes into the reason of a failure
  int socket_ = -1;
  pid_t process_ = -1;
  std::string received_;
  double start_ns_ = 0;
};

}  // namespace handoff::lab
