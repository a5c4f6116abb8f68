// SPDX-License-Identifier: MIT
// What handing work over costs, as a sum of parts: so much for each hand-over, item, byte, and so
// on. The parts are fitted to measured cells, none below 0, so that the relative errors are least.
// Each third of the cells is held out in turn from a fit of its own: how far that is off tells the
// range of what the model says, which is fitted to all. Few cells tell it by their own ranges.
#pragma once

#include "harness/coordinator.hpp"

namespace handoff::lab {

// Where cells do not tell two of them apart, the first one is meant.
enum class Term : std::size_t {
  item,        // items: indices, tasks, events, messages, commands, files
  fixed,       // hand-overs as a whole: a loop, a batch, a wave
  wake,        // of these, those that find the way asleep
  nested,      // tasks that another task handed over, which are no items
  byte,        // of all items together
  contention,  // items, times the threads that hand over beside the first one
  work,        // ns of work, if it is shared out evenly, that computes
  memory,      // the same of work that memory bounds
  late,        // ns that one thread does alone, if no other one wakes up in time
};
inline constexpr std::size_t kTerms = 9;
using Terms = std::array<double, kTerms>;

[[nodiscard]] std::string name_of(Term term);

// Of a figure, by the figure itself. NaN: nobody knows.
struct RelativeRange {
  double low = NAN;
  double high = NAN;
};

// A cell that was measured, for one way.
struct CostCell {
  Terms amounts{};
  double ns = 0;  // in all
  RelativeRange range;

  [[nodiscard]] double& operator[](Term term) { return amounts[static_cast<std::size_t>(term)]; }
};

// No fit sees more cells than these.
inline constexpr std::size_t kMostFitted = 40;

struct CostModel {
  Terms costs{};                       // ns, of one of each
  std::array<bool, kTerms> is_told{};  // whether a cell had any of it
  double late_ns = 0;                  // of `late` no wake-up costs more than this
  std::size_t fitted = 0;              // cells
  RelativeRange range;

  [[nodiscard]] double& operator[](Term term) { return costs[static_cast<std::size_t>(term)]; }
  [[nodiscard]] double operator[](Term term) const { return costs[static_cast<std::size_t>(term)]; }
  [[nodiscard]] bool tells(Term term) const { return is_told[static_cast<std::size_t>(term)]; }
  // Whether its range is that of half of its cells, held out; else it is theirs.
  [[nodiscard]] bool is_held_out() const { return fitted >= 6; }
  [[nodiscard]] double ns_of(const Terms& amounts) const;
};

[[nodiscard]] CostModel fitted_to(const std::vector<CostCell>& cells);

}  // namespace handoff::lab
