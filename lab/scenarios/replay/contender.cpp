// SPDX-License-Identifier: MIT
// Turns the lab's parameters and the load into a task.
#include "scenarios/replay/measure.hpp"

#include <sys/prctl.h>
#include <time.h>

namespace handoff::lab::replay {
namespace {

double cpu_ns_of_this_thread() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

double burned(std::uint64_t seed, double steps) {
  const std::uint64_t result = peers::burn(seed, static_cast<std::size_t>(steps));
  asm volatile("" : : "r"(result));
  return steps;
}

}  // namespace

// A look at that clock takes some tenths of a microsecond, so there are three of them: at the
// beginning, near the end, and nearer. What is left then is too short for a wrong speed to show.
void work(std::uint64_t seed, std::uint64_t ns, double step_ns) {
  constexpr double ahead = 0.9;
  constexpr double short_ns = 2000;
  constexpr double most_apart = 4;  // of two speeds of one CPU
  const auto wanted = static_cast<double>(ns);
  double left = wanted;
  double step = step_ns;
  double steps = 0;
  if (left > 5 * short_ns) {
    const double start = cpu_ns_of_this_thread();
    while (left > short_ns) {
      steps += burned(seed, left * ahead / step);
      const double had = cpu_ns_of_this_thread() - start;
      step = std::clamp(had / steps, step_ns / most_apart, step_ns * most_apart);
      left = wanted - had;
    }
  }
  if (left > 0) burned(seed, left / step);
}

}  // namespace handoff::lab::replay

handoff::lab::Prepared handoff::lab::prepare(const Parameters& parameters,
                                             std::span<const std::byte> input) {
  struct Bench {
    std::vector<replay::LoadPiece> pieces;
    std::vector<std::uint32_t> children;
    std::vector<replay::PieceAnswer> output;
    replay::Task task;
  };
  prctl(PR_SET_TIMERSLACK, 1UL);  // arrivals are waited for asleep, and are to be on time
  auto bench = std::make_shared<Bench>();
  const replay::LoadView load = replay::load_in(input);
  bench->pieces.assign(load.pieces.begin(), load.pieces.end());
  bench->children.assign(load.children.begin(), load.children.end());
  bench->output.resize(load.pieces.size());
  bench->task = {{bench->pieces, bench->children},
                 parameters.number("width"),
                 peers::burn_step_ns(),
                 bench->output};
  return {[bench, operation = replay::contender(bench->task)](Burst& burst) { operation(burst); },
          std::as_writable_bytes(std::span(bench->output))};
}
