// SPDX-License-Identifier: MIT
// The ladder: one rung for each kind of hand-over, from the call of a listener to a pool that is
// started and a file that is written. A rung is a cell of a scenario, and four ways at most: this
// library's, at most two peers, what people write without a library, and the limit. They are named
// here, by full runs of named machines (`./run --all`), and not chosen by what an overview
// measures: so all of its launches count.
#pragma once

#include "harness/scenario.hpp"

namespace handoff::lab {

struct RungKind {
  std::string name;  // one word, as in results.json
  std::string title;
  std::string scenario;
  Cell cell;
  bool latency = false;  // how long one takes on its way; false: what one of many costs
  std::string own;       // what the guide of its type shows first
  // Of these the first two that are built. What Debian does not package stands first: it is there
  // only where somebody has installed it.
  std::vector<std::string> peers;
  std::string today = {};  // one of the peers, or another way
  std::string limit = {};
  bool leaves_files = false;  // which must be removed: no launches beyond the least
};

// About from the cheapest to the dearest. A new room adds its own.
[[nodiscard]] const std::vector<RungKind>& rung_kinds();

// The same in the order in which people ask for them: an overview measures them in this one.
[[nodiscard]] std::vector<const RungKind*> rung_kinds_by_interest();

[[nodiscard]] std::vector<std::string> rung_names();

// Nothing: there is none of that name.
[[nodiscard]] const RungKind* rung_kind_named(const std::string& name);

// What an overview measures beside the rungs: the grey lines of the picture (what the machine
// itself takes for a cache miss, a line's way between two cores, a system call), efficiency against
// the size of a task, and what advice needs.
struct OverviewCell {
  std::string scenario;
  Cell cell;
  std::vector<std::string> contenders;
};
[[nodiscard]] const std::vector<OverviewCell>& cells_beside_the_rungs();

// Which rung of an overview gets the next launch once each has its least: the one whose range is
// the widest, wherever it lies. A rung that more launches hardly help is kept from taking all the
// time.
// How far a rung is.
struct RungState {
  std::size_t launches = 0;  // of each of its ways
  double range = 0;  // how wide it is by now, as a logarithm; infinity: nothing is known
  double seconds = 0;  // that its next launch will take, about
  double spent = 0;  // seconds, so far
};

// Nothing: none of them fits into the time left. `share`: no rung takes more seconds than that.
[[nodiscard]] std::optional<std::size_t> next_rung(const std::vector<RungState>& rungs,
                                                   double seconds_left, double share);

}  // namespace handoff::lab
