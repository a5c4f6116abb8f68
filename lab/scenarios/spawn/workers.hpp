// SPDX-License-Identifier: MIT
// Measures how long a parent waits for a worker process. A contender's Way has
//
//   Way()          while the parent is small
//   pid_t start()  starts a worker, and returns its number once it has told that it is ready
//   void end()     ends that worker, and waits until it is gone; not timed
//
// and is destroyed with its last worker ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <string>

#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include "harness/contender.hpp"
#include "scenarios/spawn/work.hpp"

namespace handoff::lab::spawn {

// Memory that the parent has written to. A fork copies its tables; so its pages are small ones, as
// they are where nobody asks for others.
class Touched {
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
  Touched(const Touched&) = delete;
  Touched& operator=(const Touched&) = delete;

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

template <class Way>
class Parent {
 public:
  explicit Parent(std::size_t gib) : touched_(gib) {}

  void start_workers(Burst& burst) {
    ready_ = 0;
    for (std::uint64_t i = 0; i < workers; ++i) {
      pid_t worker = 0;
      burst.timed([&] { worker = way_.start(); });
      // Neither this process nor the worker before, which is gone.
      if (worker > 0 && worker != getpid() && worker != last_) ++ready_;
      last_ = worker;
      way_.end();
    }
    burst.items(static_cast<double>(workers));
  }

  std::uint64_t& ready() { return ready_; }

 private:
  Way way_;
  Touched touched_;
  pid_t last_ = 0;
  std::uint64_t ready_ = 0;
};

template <class Way>
Prepared measure_ready(const Parameters& parameters) {
  const auto parent = std::make_shared<Parent<Way>>(parameters.number("gib"));
  return {[parent](Burst& burst) { parent->start_workers(burst); },
          std::as_writable_bytes(std::span(&parent->ready(), 1))};
}

}  // namespace handoff::lab::spawn
