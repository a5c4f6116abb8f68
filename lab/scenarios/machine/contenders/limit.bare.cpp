// SPDX-License-Identifier: MIT
// The machine by itself: a chase of loads through memory, a cache line between two threads that
// stay on two CPUs, calls of the kernel.
#include <sys/syscall.h>

#include "harness/cpus.hpp"
#include "harness/ping_pong.hpp"
#include "scenarios/machine/chase.hpp"
#include "scenarios/machine/contender.hpp"

namespace handoff::lab::machine {
namespace {

struct alignas(line_bytes) Line {
  std::uint64_t next;
};

// On large pages where the kernel has some to spare: a line is to be missed, not its address.
class Lines : Pinned {
 public:
  explicit Lines(const Chase& chase) : bytes_(chase.lines() * sizeof(Line)) {
    void* const memory =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw Unavailable("there is no memory beyond the caches for it");
    madvise(memory, bytes_, MADV_HUGEPAGE);
    lines_ = static_cast<Line*>(memory);
    for (std::uint64_t i = 0; i < chase.lines(); ++i) lines_[i].next = chase.line_after(i);
  }
  ~Lines() { munmap(lines_, bytes_); }

  [[nodiscard]] std::uint64_t next(std::uint64_t line) const { return lines_[line].next; }

 private:
  std::size_t bytes_;
  Line* lines_;
};

// Each operation goes on where the one before it ended: what that one met is in the caches now.
Operation cache_miss() {
  const std::uint64_t bytes = chase_bytes();
  if (bytes < 2 * last_level_cache_bytes()) {
    throw Unavailable(
        "it needs memory far larger than the last cache; this machine has too little");
  }
  const Chase chase(bytes / line_bytes);
  return [lines = std::make_shared<const Lines>(chase), line = chase.line_at(0),
          before = std::uint64_t{0}](Burst&) mutable {
    for (std::uint64_t i = 0; i < loads; ++i) line = lines->next(line);
    const Answer answer{loads, before, line};
    before += loads;
    return answer;
  };
}

Operation line_transfer() {
  const std::vector<int> cpus = two_of(allowed_cpus());
  if (cpus.size() < 2) throw Unavailable("it needs two CPUs; this process may use one");
  if (!stay_on(cpus[0])) throw Unavailable("its threads cannot be kept to one CPU each");
  return [other_cpu = cpus[1]](Burst& burst) {
    alignas(128) std::atomic<int> turn = 0;
    std::atomic<bool> there = false;
    {
      const std::jthread other([&] {
        stay_on(other_cpu);
        there.store(true, std::memory_order_release);
        ping_pong(turn, 1, round_trips);
      });
      while (!there.load(std::memory_order_acquire)) std::this_thread::yield();
      burst.timed([&] { ping_pong(turn, 0, round_trips); });
    }
    return Answer{2 * round_trips, 0, static_cast<std::uint64_t>(turn.load())};
  };
}

Operation system_call() {
  return [](Burst&) {
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < calls; ++i)
      sum += static_cast<std::uint64_t>(syscall(SYS_getppid));
    return Answer{calls, 0, sum};
  };
}

}  // namespace

Operation contender(const std::string& metric) {
  if (metric == "cache_miss") return cache_miss();
  if (metric == "line_transfer") return line_transfer();
  return system_call();
}

}  // namespace handoff::lab::machine
