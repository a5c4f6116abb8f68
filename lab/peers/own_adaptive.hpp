// SPDX-License-Identifier: MIT
// This library's adaptive loop: it chooses among the caller alone, a team and a pool as it runs.
#pragma once

#include <cstddef>

#include <handoff/choice/adaptive_loop.hpp>

namespace handoff::lab::peers {

class OwnAdaptive {
 public:
  explicit OwnAdaptive(std::size_t width)
      : team_({.width = width}), pool_({.width = width}), loop_(team_, pool_) {}

  template <class Body>
  void loop(std::size_t count, const Body& body) {
    static_cast<void>(loop_.run(count, body));
  }

 private:
  ThreadTeam team_;
  ThreadPool pool_;
  AdaptiveLoop loop_;
};

}  // namespace handoff::lab::peers
