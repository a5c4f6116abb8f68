// SPDX-License-Identifier: MIT
// Each piece on the thread that has it, a task as a call.
#include "scenarios/loads/measure.hpp"

namespace handoff::lab::loads {
namespace {

struct Serial {
  explicit Serial(std::size_t /*width*/) {}
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

}  // namespace

Operation contender(const Task& task) { return measure<Serial>(task); }

}  // namespace handoff::lab::loads
