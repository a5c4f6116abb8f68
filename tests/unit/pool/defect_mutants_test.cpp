// SPDX-License-Identifier: MIT
//
// Some of the faults that defects_test.cpp names, put into a pool on purpose: the check of each is
// true of the pool and false of the one with the fault.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <handoff/pool/thread_pool.hpp>
#include <thread>
#include <utility>

#include "unit/pool/modes.hpp"

namespace {

using namespace handoff;
using namespace std::chrono_literals;

class DefectMutants : public test::ModeTest {};
HANDOFF_EACH_MODE(DefectMutants);

// A pool, to be made wrong.
class Whole {
 public:
  explicit Whole(const ThreadPoolOptions& options) : pool_(options) {}

  template <class F>
  Status execute(F&& function) {
    return pool_.execute(std::forward<F>(function));
  }
  template <class F>
  auto submit(F&& function) {
    return pool_.submit(std::forward<F>(function));
  }
  void wait() { (void)pool_.wait(); }
  Tally close() { return pool_.close(); }
  std::size_t width() const { return pool_.width(); }

 protected:
  ThreadPool pool_;
};

// 87
struct MeasuresTheHandOver : Whole {
  using Whole::Whole;
  void wait() {}
};
template <class Pool>
bool wait_means_all_have_run(const ThreadPoolOptions& options) {
  std::atomic<int> ran{0};
  test::Gate gate;
  Pool pool(options);
  (void)pool.execute([&] { gate.wait(); });
  for (int i = 0; i < 100; ++i) (void)pool.execute([&] { ++ran; });
  std::thread opener([&] {
    std::this_thread::sleep_for(100ms);
    gate.open();
  });
  pool.wait();
  const bool all = ran == 100;
  opener.join();
  (void)pool.close();
  return all;
}
TEST_P(DefectMutants, Defect87) {
  EXPECT_TRUE(wait_means_all_have_run<Whole>(options(1)));
  EXPECT_FALSE(wait_means_all_have_run<MeasuresTheHandOver>(options(1)));
}

// 91
struct CountsTooLate : Whole {
  explicit CountsTooLate(const ThreadPoolOptions& options) : Whole(options) {
    (void)pool_.execute([this] { ++finished; });
    (void)pool_.wait();
    finished = 0;  // set after the threads have begun to change it
  }
  template <class F>
  Status execute(F&& function) {
    return pool_.execute([this, function = std::forward<F>(function)] {
      function();
      ++finished;
    });
  }
  Tally close() {
    Tally tally = pool_.close();
    tally.done = finished;
    return tally;
  }
  std::atomic<std::uint64_t> finished{0};
};
template <class Pool>
bool the_count_is_exact(const ThreadPoolOptions& options) {
  Pool pool(options);
  for (int i = 0; i < 3; ++i) (void)pool.execute([] {});
  return pool.close().balanced();
}
TEST_P(DefectMutants, Defect91) {
  EXPECT_TRUE(the_count_is_exact<Whole>(options(3)));
  EXPECT_FALSE(the_count_is_exact<CountsTooLate>(options(3)));
}

// 92
struct InventsResults : Whole {
  using Whole::Whole;
  template <class F>
  auto submit(F&& function) {
    try {
      return pool_.submit(std::forward<F>(function));
    } catch (const NotRun&) {
      ThreadPool other({.width = 1});
      return other.submit(F([] { return 0; }));
    }
  }
};
template <class Pool>
bool a_refusal_is_no_result(const ThreadPoolOptions& options) {
  Pool pool(options);
  (void)pool.close();
  try {
    return pool.submit(+[] { return 5; }).get() == 5;
  } catch (const NotRun& refused) {
    return refused.status() == Status::closed;
  }
}
TEST_P(DefectMutants, Defect92) {
  EXPECT_TRUE(a_refusal_is_no_result<Whole>(options(1)));
  EXPECT_FALSE(a_refusal_is_no_result<InventsResults>(options(1)));
}

// 93
struct DropsWhatWaits : Whole {
  using Whole::Whole;
  ~DropsWhatWaits() { (void)pool_.close(abandon); }
};
template <class Pool>
bool the_destructor_drains(const ThreadPoolOptions& options) {
  std::atomic<int> ran{0};
  {
    Pool pool(options);
    (void)pool.execute([] { std::this_thread::sleep_for(100ms); });
    for (int i = 0; i < 100; ++i) (void)pool.execute([&] { ++ran; });
  }
  return ran == 100;
}
TEST_P(DefectMutants, Defect93) {
  EXPECT_TRUE(the_destructor_drains<Whole>(options(1)));
  EXPECT_FALSE(the_destructor_drains<DropsWhatWaits>(options(1)));
}

// 95
struct BindsTasksToWorkers : Whole {
  using Whole::Whole;
  template <class F>
  Status execute(F&& function) {
    return pool_.execute_on(next++ % pool_.width(), std::forward<F>(function));
  }
  std::size_t next = 0;
};
template <class Pool>
bool no_task_is_stuck(const ThreadPoolOptions& options) {
  std::atomic<int> ran{0};
  test::Gate gate;
  Pool pool(options);
  (void)pool.execute([&] { gate.wait(); });
  for (int i = 0; i < 100; ++i) (void)pool.execute([&] { ++ran; });
  int before = -1;  // until nothing has moved for long
  for (int still = 0; ran < 100 && still < 200; ++still) {
    if (ran != std::exchange(before, ran.load())) still = 0;
    std::this_thread::sleep_for(1ms);
  }
  const bool none = ran == 100;
  gate.open();
  (void)pool.close();
  return none;
}
TEST_P(DefectMutants, Defect95) {
  EXPECT_TRUE(no_task_is_stuck<Whole>(options(2)));
  EXPECT_FALSE(no_task_is_stuck<BindsTasksToWorkers>(options(2)));
}

}  // namespace
