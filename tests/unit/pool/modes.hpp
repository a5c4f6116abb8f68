// SPDX-License-Identifier: MIT
//
// What the tests of the pool share: each mode in turn, and a gate to hold tasks at.
#pragma once

#include "support/test.hpp"
#include "support/threads_of_process.hpp"

namespace handoff::test {

inline const char* name_of(PoolMode mode) {
  switch (mode) {
    case PoolMode::stealing: return "stealing";
    case PoolMode::fixed: return "fixed";
    case PoolMode::active: return "active";
    case PoolMode::cached: return "cached";
  }
  return "unknown";
}

class ModeTest : public testing::TestWithParam<PoolMode> {
 protected:
  ThreadPoolOptions options(std::size_t width) const {
    ThreadPoolOptions given;
    given.mode = GetParam();
    given.width = width;
    given.core = 1;  // of `cached`, which has to grow
    return given;
  }
};

// `cached`, four wide: all but one of its workers end soon.
inline ThreadPoolOptions soon_alone() {
  ThreadPoolOptions given;
  given.mode = PoolMode::cached;
  given.width = 4;
  given.core = 1;
  given.idle_time = std::chrono::milliseconds(1);
  return given;
}

inline constexpr PoolMode each_mode[] = {PoolMode::stealing, PoolMode::fixed, PoolMode::active,
                                         PoolMode::cached};
inline const auto modes = testing::ValuesIn(each_mode);

inline std::string name_of_mode(const testing::TestParamInfo<PoolMode>& mode) {
  return name_of(mode.param);
}

// After the class of a suite.
#define HANDOFF_EACH_MODE(Suite) \
  INSTANTIATE_TEST_SUITE_P(Mode, Suite, handoff::test::modes, handoff::test::name_of_mode)

// Shut until somebody opens it.
class Gate {
 public:
  void open() { open_ = true; }
  void shut() { open_ = false; }
  void wait() const {
    while (!open_) std::this_thread::yield();
  }

 private:
  std::atomic<bool> open_{false};
};

// Where tasks are held: each says that it has begun, and waits until they may go on.
struct Hold {
  void operator()() {
    begun.open();
    gate.wait();
  }
  Gate begun;
  Gate gate;
};

// A worker of the pool is busy from here on, until the gate opens.
inline void hold(ThreadPool& pool, Gate& gate, const TaskOptions& options = {}) {
  Gate begun;
  const auto task = [&begun, &gate] {
    begun.open();
    gate.wait();
  };
  pool.post(task, options);
  begun.wait();
}

// Closes what has a worker that is held, and lets that go on once the close has said what to drop.
template <class Pool>
Tally close_a_held(Pool& pool, Gate& gate, const Closing& closing) {
  const std::jthread opener([&, closer = gettid()] {
    await_long_sleep(closer);
    gate.open();
  });
  return pool.close(closing);
}

}  // namespace handoff::test
