// SPDX-License-Identifier: MIT
#include "scenarios/commands/articles.hpp"

#include <string>

namespace handoff::lab::commands {
namespace {

Cell cell_of(const char* metric, const char* threads) {
  Cell cell(metric);
  cell.set("threads", threads);
  cell.set("calls", "40000");
  cell.set("key_bits", "64");
  cell.set("work", "0");
  return cell;
}

constexpr auto title = "Stateless, layered, multi-threaded rendering, part 4 (i7-2600K): ";
constexpr auto work = "there with other work of each component, of unknown length";

Article adding_alone() {
  return {std::string(title) + "adding 40,000 commands on one thread",
          cell_of("add", "1"),
          {{"version 1 (ST, global new)", 6.65, work, "seed.v1", {}, {}},
           {"version 2 (ST, linear)", 4.55, work, "seed.v2", {}, {}}}};
}

Article adding_together() {
  const std::string cores = "8 threads on 4 cores there, 2 here";
  return {std::string(title) + "adding 40,000 commands on all threads",
          cell_of("add", "2"),
          {{"version 3 (MT, global new)", 1.85, work, "seed.v3", cores, {}},
           {"version 4 (MT, linear)", 1.72, work, "seed.v4", cores, {}},
           {"version 5 (MT, linear, size aligned to 64)", 1.65, work, "seed.v5", cores, {}},
           {"version 6 (MT, thread-local linear)", 1.45, work, "seed.v6", cores, {}},
           {"version 7 (MT, thread-local linear & bucket)", 1.25, work, "seed.v7", cores, {}}}};
}

Article dispatching() {
  return {std::string(title) + "dispatching 40,000 commands",
          cell_of("submit", "2"),
          {{"version 3 (MT, global new)", 0.7, "", "seed.v3", {}, {}},
           {"version 4 (MT, linear)", 0.7, "", "seed.v4", {}, {}},
           {"version 5 (MT, linear, size aligned to 64)", 0.9, "", "seed.v5", {}, {}},
           {"version 6 (MT, thread-local linear)", 0.7, "", "seed.v6", {}, {}},
           {"version 7 (MT, thread-local linear & bucket)", 0.7, "", "seed.v7", {}, {}}}};
}

}  // namespace

std::vector<Article> articles_of_commands() {
  return {adding_alone(), adding_together(), dispatching()};
}

// There a command took 7 ns by version 1 and 2.2 by version 2 on one thread; 49 by version 4 and 45
// by version 5 on two, which share the same word. The article's own times are of other work too,
// and on four cores; those of the other versions hang on how far apart two cores are.
std::vector<Calibration> calibrations_of_commands() {
  return {{"seed.v1", "seed.v2", cell_of("add", "1"), 7 / 2.2},
          {"seed.v5", "seed.v4", cell_of("add", "2"), 45.0 / 49}};
}

}  // namespace handoff::lab::commands
