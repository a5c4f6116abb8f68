// SPDX-License-Identifier: MIT
// This library's team: members who claim blocks of a loop's indices.
#include <handoff/team/thread_team.hpp>

#include "scenarios/loads/measure.hpp"

namespace handoff::lab::loads {
namespace {

class Team {
 public:
  explicit Team(std::size_t width) : team_({.width = width}) {}

  template <class Body>
  void loop(std::size_t count, const Body& body) {
    static_cast<void>(team_.run(count, [&body](IndexRange range) {
      for (const std::size_t i : range) body(i);
    }));
  }

 private:
  ThreadTeam team_;
};

}  // namespace

Operation contender(const Task& task) { return measure<Team>(task); }

}  // namespace handoff::lab::loads
