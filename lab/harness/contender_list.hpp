// SPDX-License-Identifier: MIT
// The contenders that the build knows, from the list it wrote next to their executables: those it
// built, and those it could not build with the package that would bring them.
#pragma once

#include "harness/scenario.hpp"

namespace handoff::lab {

// The parameter by which workers are killed: no contender applies with it that does not name it.
inline constexpr const char* kill_parameter = "kill";

struct Contender {
  std::string scenario;
  std::string name;
  // The same code in several layouts, of which each launch takes one. None: there is no such
  // program. A build tree makes them when they are needed (harness/build_tree).
  std::vector<std::filesystem::path> executables;
  std::string package;               // what it needs beside the compiler; may be empty
  // Where it applies, by parameter, of which `metric` is one; "any": with any value. A cell without
  // a parameter meets what is asked of it.
  std::map<std::string, std::vector<std::string>> when;
  // Of a queue: the order in which items come out: fifo, per producer, none; empty: it is none, or
  // nobody says.
  std::string order = {};
  std::string version = {};  // of that package, where the build knew it
  std::string argument = {};  // which contender a program is that is several

  [[nodiscard]] std::string kind() const;  // own, seed, peer, limit
  [[nodiscard]] bool built() const { return !executables.empty(); }  // or will be, if needed
  [[nodiscard]] bool is_there() const;  // in all layouts
  [[nodiscard]] std::string why_not_built() const;
  [[nodiscard]] bool survives_kills() const { return when.contains(kill_parameter); }
  [[nodiscard]] bool applies(const Cell& cell) const;
};

// Where the build has put its contenders, their list, and what else the program starts. Throws
// UserError.
std::filesystem::path folder_of_the_build();

// The list of the build, and those of `more` (what the tests add). Throws UserError.
std::vector<Contender> read_contenders(const std::vector<std::filesystem::path>& more);

// The build's canaries: contenders by their names, in layouts of their own, each for the cell that
// its `when` tells. Throws UserError.
std::vector<Contender> read_canaries();

// Those of one list, which a build wrote. Throws UserError.
std::vector<Contender> contenders_in(const std::filesystem::path& list);

// Those of `contenders` that match one of the patterns (own.*,peer.one?bb); no pattern: all of
// them. A pattern that matches nobody is a UserError.
std::vector<Contender> chosen(const std::vector<Contender>& contenders,
                              const std::vector<std::string>& patterns);

}  // namespace handoff::lab
