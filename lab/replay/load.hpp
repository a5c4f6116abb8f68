// SPDX-License-Identifier: MIT
// What is replayed of a trace: its pieces on a scale of time that suits a measurement, and what no
// way can be faster than.
#pragma once

#include "harness/memory_file.hpp"
#include "replay/trace.hpp"
#include "scenarios/replay/load.hpp"

namespace handoff::lab::replay {

struct Bounds {
  std::uint64_t critical_path_ns = 0;  // arrivals, and pieces that wait for each other
  std::uint64_t work_ns = 0;           // of all pieces together
  std::uint64_t shared_work_ns = 0;  // from some arrival on, all work from then on by all threads
  std::uint64_t list_ns = 0;  // the first free thread starts the piece that was ready first

  [[nodiscard]] std::uint64_t lower_ns() const {
    return std::max(critical_path_ns, shared_work_ns);
  }
};

Bounds bounds_of(const LoadView& load, std::size_t width);

struct LoadChoice {
  std::size_t width = 2;
  bool keeps_arrivals = true;  // else all pieces are there at the beginning
  std::optional<double> speed;  // how much faster than the trace; nothing: as fast as is usual
};

class Load {
 public:
  // A replay takes so long at most, unless a speed was chosen; and then no longer than the other.
  static constexpr std::uint64_t usual_ns = 100'000'000;
  static constexpr std::uint64_t longest_ns = 60'000'000'000;

  // Throws UserError if a replay would take too long.
  Load(const Trace& trace, const LoadChoice& choice);

  [[nodiscard]] const MemoryFile& input() const { return input_; }
  [[nodiscard]] LoadView view() const { return load_in(input_.bytes()); }
  [[nodiscard]] std::size_t line(std::size_t piece) const { return lines_[piece]; }
  [[nodiscard]] double speed() const { return speed_; }
  [[nodiscard]] const Bounds& bounds() const { return bounds_; }

 private:
  void fill(const Trace& trace, bool keeps_arrivals);

  MemoryFile input_;
  std::vector<std::size_t> lines_;
  double speed_ = 1;
  Bounds bounds_;
};

}  // namespace handoff::lab::replay
