// SPDX-License-Identifier: MIT
// `loads`: a load drawn at random under every way that can do it. What it costs shows whether
// advice is right; it is no part of an overview.
#include "peers/answer.hpp"
#include "scenarios/loads/draw.hpp"
#include "scenarios/loads/work.hpp"
#include "scenarios/registry.hpp"
#include "scenarios/rules.hpp"

namespace handoff::lab::loads { namespace {

// Where the computation ends after so many steps, in as many turns as their number has bits: two
// steps in a row are one of another multiplier and addend.
std::uint64_t computed(std::uint64_t start, std::uint64_t steps) {
  std::uint64_t multiplier = 6364136223846793005U;
  std::uint64_t addend = 1442695040888963407U;
  for (std::uint64_t x = start;;) {
    if (steps % 2 == 1) x = x * multiplier + addend;
    steps /= 2;
    if (steps == 0) return x;
    addend = addend * multiplier + addend;
    multiplier *= multiplier;
  }
}

std::uint64_t walked(std::uint64_t start, std::size_t lines, std::size_t shift) {
  std::uint64_t sum = 0;
  std::size_t line = first_line_of(start, shift);
  for (std::size_t i = 0; i < lines; ++i) {
    sum += content_of(line);
    line = line + 1 == kLines ? 0 : line + 1;
  }
  return sum;
}

Answer right_answer(const Load& load, std::size_t shift) {
  Answer right{0, 0, shift};
  for (const Piece& piece : pieces_of(load)) {
    const std::uint64_t start = start_of(++right.runs, piece.kind);
    right.sum += peers::fold(load.by_memory ? walked(start, piece.work, shift)
                                            : computed(start, piece.work));
  }
  return right;
}

std::shared_ptr<const Problem> drawn(const Cell& cell) {
  constexpr std::uint64_t slowest_piece_ns = 20'000;
  constexpr std::uint64_t slowest_wave_ns = 10'000'000;
  constexpr double slow = 10;
  const Load load = draw(cell.number("seed"), cell.number("draw"));
  const double work_ns = slow * load.piece_ns * static_cast<double>(load.count);
  return problem_by<Answer>(
      {.fault = [load, unshifted = right_answer(load, 0)](const Answer& answer) -> Wrong {
         if (answer.runs != unshifted.runs) {
           return fmt::format("ran {} pieces of {}", answer.runs, unshifted.runs);
         }
         if (answer.shift >= kLines) return "its pieces walked beyond the memory";
         const Answer right = answer.shift == 0 ? unshifted : right_answer(load, answer.shift);
         if (answer.sum == right.sum) return {};
         return fmt::format("the digest of its pieces is {:#x}, not {:#x}", answer.sum, right.sum);
       },
       .metric = [](const Reading& reading) { return reading.wall_ns / reading.operations; },
       .slowest_operation =
           std::chrono::seconds(2) +  // ranks that spin, among others' work
           std::chrono::nanoseconds(load.count * slowest_piece_ns + load.waves * slowest_wave_ns +
                                    static_cast<std::uint64_t>(work_ns))});
}

}}  // namespace handoff::lab::loads

handoff::lab::ScenarioTable handoff::lab::loads_scenario() {
  using namespace loads;
  return {
      .name = "loads",
      .summary = "random loads: which way is best, and does advice predict it?",
      .metrics = {{"time", "ns", false,
                   "all pieces of the load; pauses between its waves are left out"}},
      .parameters =
          {{"seed", "of the draws", {"1"}, {}, 0, 1'000'000'000},
           {"draw", "its number; every fifth load is bound by memory", {"0"}, {}, 0, 1'000'000'000},
           {"width", "threads that execute, the caller included where it helps", {"2"}, {}, 1, 64}},
      .problem = drawn};
}
