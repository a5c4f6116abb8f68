// SPDX-License-Identifier: MIT
// This library's team: members that claim blocks of a loop's indices.
#pragma once

#include <handoff/team/thread_team.hpp>

#include "harness/standard.hpp"

namespace handoff::lab::peers {

class OwnTeam {
 public:
  explicit OwnTeam(std::size_t width) : team_({.width = width}) {}

  template <class Body>
  void loop(std::size_t count, const Body& body) {
    static_cast<void>(team_.run(count, [&body](IndexRange range) {
      for (const std::size_t i : range) body(i);
    }));
  }

 private:
  ThreadTeam team_;
};

}  // namespace handoff::lab::peers
