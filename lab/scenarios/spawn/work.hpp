// SPDX-License-Identifier: MIT
// How much an operation starts. What a started thread does: it stores a word, by which its starter
// knows that it was another thread. What a job does: it answers with its number and its process.
#pragma once

#include "harness/standard.hpp"

namespace handoff::lab::spawn {

// Of one operation, one after the other.
inline constexpr std::uint64_t threads = 50;
inline constexpr std::uint64_t workers = 10;
inline constexpr std::uint64_t looks = 100;  // at memory of others
inline constexpr std::uint64_t jobs_alone = 50;
inline constexpr std::uint64_t jobs_together = 640;
inline constexpr std::size_t kInFlight = 64;  // of those, at a time
// Runs of one operation, and rows claimed at a time.
inline constexpr std::uint64_t claim_runs = 8;
inline constexpr std::size_t kBlock = 8;
// Memory that is attached to.
inline constexpr std::size_t kMemoryBytes = 1 << 20;
inline constexpr std::uint64_t kFirstWord = 0x68616E646F666621;

using Number = std::uint64_t;
struct Answer {
  Number number;
  pid_t worker;
};
inline Answer do_job(const Number& number) { return {number, getpid()}; }

class Word {
 public:
  // Not inlined: the word is where the caller's stack is.
  [[gnu::noinline]] void store() noexcept { stack_ = stack(); }

  // To be asked by the starter, at about the depth at which the thread was started.
  [[gnu::noinline, nodiscard]] bool is_of_another_stack() const noexcept {
    const std::uintptr_t own = stack();
    return stack_ != 0 && (own > stack_ ? own - stack_ : stack_ - own) > kDepth;
  }

 private:
  static constexpr std::uintptr_t kDepth = 64 << 10;  // more than a starter's calls take of a stack

  static std::uintptr_t stack() noexcept {
    return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  }

  std::uintptr_t stack_ = 0;
};

}  // namespace handoff::lab::spawn
