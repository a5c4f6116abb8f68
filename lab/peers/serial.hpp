// SPDX-License-Identifier: MIT
// No hand-over: the caller does all of it as it comes.
#pragma once

#include "harness/standard.hpp"

namespace handoff::lab::peers {

struct Serial {
  explicit Serial(std::size_t /*width*/ = 1) {}
  template <class Body>
  void loop(std::size_t count, const Body& body) {
    for (std::size_t i = 0; i < count; ++i) body(i);
  }
  template <class F>
  void enter(const F& root) {
    root();
  }
  struct Group {
    explicit Group(Serial& /*serial*/) {}
    template <class F>
    void run(const F& task) {
      task();
    }
    void wait() {}
  };
};

}  // namespace handoff::lab::peers
