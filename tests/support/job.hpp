// SPDX-License-Identifier: MIT
//
// The coroutine of tests: it starts at once, and nobody waits for it. What it throws goes to the
// thread that resumed it.
#pragma once

#include <coroutine>

namespace handoff::test {

struct Job {
  struct promise_type {
    Job get_return_object() const noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const { throw; }
  };
};

}  // namespace handoff::test
