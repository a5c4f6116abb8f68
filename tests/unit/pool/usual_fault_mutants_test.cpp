// SPDX-License-Identifier: MIT
//
// The faults that usual_faults_test.cpp names, put into a pool on purpose: the check of each is
// true of the pool and false of the one with the fault.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <handoff/pool/thread_pool.hpp>
#include <memory>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>

#include "unit/pool/modes.hpp"

namespace usual_fault_mutants_test { namespace {

using namespace handoff;
using namespace std::chrono_literals;

class UsualFaultMutants : public test::ModeTest {};
HANDOFF_EACH_MODE(UsualFaultMutants);

// A pool, to be made wrong.
class Whole {
 public:
  explicit Whole(const ThreadPoolOptions& options) : pool_(options) {}

  template <class F>
  void post(F&& function) {
    pool_.post(std::forward<F>(function));
  }
  template <class F, class... Args>
    requires std::is_invocable_v<std::decay_t<F>, std::decay_t<Args>...>
  auto submit(F&& function, Args&&... args) {
    return pool_.submit(std::forward<F>(function), std::forward<Args>(args)...);
  }
  std::size_t worker_index() const { return pool_.worker_index().value(); }
  void wait() { pool_.wait(); }
  Tally close() { return pool_.close(); }
  std::size_t width() const { return pool_.width(); }

 protected:
  ThreadPool pool_;
};

// Whether a number that others count up gets there, before it stands still for long.
bool becomes(const std::atomic<int>& number, int goal) {
  int before = -1;
  for (int still = 0; number < goal && still < 200; ++still) {
    if (number != std::exchange(before, number.load())) still = 0;
    std::this_thread::sleep_for(1ms);
  }
  return number == goal;
}

struct PromisesAnotherType : Whole {
  using Whole::Whole;
  template <class F>
  auto submit(F&& function) {
    return pool_.submit([=] { return static_cast<double>(function()); });
  }
};
template <class Pool>
bool the_future_has_the_type_of_the_result(const ThreadPoolOptions& options) {
  Pool pool(options);
  auto future = pool.submit([] { return 7; });
  return future.get() == 7 && std::is_same_v<decltype(future), Future<int>>;
}
TEST_P(UsualFaultMutants, TheFutureHasTheTypeOfTheResult) {
  EXPECT_TRUE(the_future_has_the_type_of_the_result<Whole>(options(1)));
  EXPECT_FALSE(the_future_has_the_type_of_the_result<PromisesAnotherType>(options(1)));
}

struct MeasuresTheHandOver : Whole {
  using Whole::Whole;
  void wait() {}
};
template <class Pool>
bool wait_means_all_have_run(const ThreadPoolOptions& options) {
  std::atomic<int> ran{0};
  test::Gate gate;
  Pool pool(options);
  pool.post([&] { gate.wait(); });
  for (int i = 0; i < 100; ++i) pool.post([&] { ++ran; });
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
TEST_P(UsualFaultMutants, WaitMeansThatAllHaveRun) {
  EXPECT_TRUE(wait_means_all_have_run<Whole>(options(1)));
  EXPECT_FALSE(wait_means_all_have_run<MeasuresTheHandOver>(options(1)));
}

struct LosesAWorker : Whole {  // which began too early, and left again
  explicit LosesAWorker(ThreadPoolOptions options) : Whole(options) {
    pool_.post([this] { gate.wait(); });
  }
  void let_it_end() { gate.open(); }
  test::Gate gate;
};
struct NumbersAcrossPools : Whole {
  using Whole::Whole;
  static std::size_t worker_index() {
    static std::atomic<std::size_t> next{0};
    thread_local const std::size_t mine = next++;
    return mine;
  }
};
template <class Pool>
bool workers_stay_and_are_numbered_per_pool(const ThreadPoolOptions& options) {
  Pool first(options);
  Pool second(options);
  std::atomic<int> met{0};
  std::atomic<bool> in_range{true};
  test::Gate gate;
  for (Pool* const pool : {&first, &second}) {
    for (std::size_t i = 0; i < pool->width(); ++i) {
      pool->post([&, pool] {
        if (pool->worker_index() >= pool->width()) in_range = false;
        ++met;
        gate.wait();  // so each of them takes a worker
      });
    }
  }
  const bool all = becomes(met, static_cast<int>(first.width() + second.width()));
  gate.open();
  if constexpr (requires { first.let_it_end(); }) {
    first.let_it_end();
    second.let_it_end();
  }
  (void)first.close();
  (void)second.close();
  return all && in_range;
}
TEST_P(UsualFaultMutants, WorkersStayAndAreNumberedPerPool) {
  EXPECT_TRUE(workers_stay_and_are_numbered_per_pool<Whole>(options(2)));
  EXPECT_FALSE(workers_stay_and_are_numbered_per_pool<LosesAWorker>(options(2)));
  EXPECT_FALSE(workers_stay_and_are_numbered_per_pool<NumbersAcrossPools>(options(2)));
}

struct TellsOfTheOneBefore : Whole {  // the last task lies there until another one comes
  using Whole::Whole;
  template <class F>
  void post(F&& function) {
    const auto before = std::exchange(last, std::forward<F>(function));
    if (before) pool_.post(before);
  }
  std::function<void()> last;
};
template <class Pool>
bool no_task_is_left_asleep(const ThreadPoolOptions& options) {
  std::atomic<int> ran{0};
  Pool pool(options);
  for (int i = 1; i <= 3; ++i) {
    pool.post([&] { ++ran; });
    if (!becomes(ran, i)) return false;
  }
  return true;
}
TEST_P(UsualFaultMutants, NoTaskIsLeftAsleep) {
  EXPECT_TRUE(no_task_is_left_asleep<Whole>(options(2)));
  EXPECT_FALSE(no_task_is_left_asleep<TellsOfTheOneBefore>(options(2)));
}

struct LeavesWorkersBehind : Whole {  // detached, they end when they like
  using Whole::Whole;
  ~LeavesWorkersBehind() {
    late() = std::thread([pool = std::move(pool_)]() mutable {
      std::this_thread::sleep_for(100ms);
      (void)pool.close();
    });
  }
  static std::thread& late() {
    static std::thread thread;
    return thread;
  }
};
template <class Pool>
bool its_end_is_that_of_all_workers(ThreadPoolOptions options) {
  std::atomic<int> begun{0};
  std::atomic<int> ended{0};
  options.on_start = [&begun](std::size_t) { ++begun; };
  options.on_stop = [&ended](std::size_t) { ++ended; };
  {
    Pool pool(options);
    pool.post([] {});
    pool.wait();
    (void)becomes(begun, 1);  // the caller may have run it, before a worker began
  }
  const bool all = begun > 0 && begun == ended;
  if constexpr (requires { Pool::late(); }) Pool::late().join();
  return all;
}
TEST_P(UsualFaultMutants, EndsAtAnyMoment) {
  EXPECT_TRUE(its_end_is_that_of_all_workers<Whole>(options(3)));
  EXPECT_FALSE(its_end_is_that_of_all_workers<LeavesWorkersBehind>(options(3)));
}

struct CountsTooLate : Whole {
  explicit CountsTooLate(const ThreadPoolOptions& options) : Whole(options) {
    pool_.post([this] { ++finished; });
    pool_.wait();
    finished = 0;  // set after the threads have begun to change it
  }
  template <class F>
  void post(F&& function) {
    pool_.post([this, function = std::forward<F>(function)] {
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
  for (int i = 0; i < 3; ++i) pool.post([] {});
  return pool.close().balanced();
}
TEST_P(UsualFaultMutants, TheCountIsExactFromTheFirstMoment) {
  EXPECT_TRUE(the_count_is_exact<Whole>(options(3)));
  EXPECT_FALSE(the_count_is_exact<CountsTooLate>(options(3)));
}

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
TEST_P(UsualFaultMutants, ARefusalIsNoResult) {
  EXPECT_TRUE(a_refusal_is_no_result<Whole>(options(1)));
  EXPECT_FALSE(a_refusal_is_no_result<InventsResults>(options(1)));
}

struct DropsWhatWaits : Whole {
  using Whole::Whole;
  ~DropsWhatWaits() { (void)pool_.close(Closing::abandon); }
};
template <class Pool>
bool the_destructor_drains(const ThreadPoolOptions& options) {
  std::atomic<int> ran{0};
  {
    Pool pool(options);
    pool.post([] { std::this_thread::sleep_for(100ms); });
    for (int i = 0; i < 100; ++i) pool.post([&] { ++ran; });
  }
  return ran == 100;
}
TEST_P(UsualFaultMutants, TheDestructorDrains) {
  EXPECT_TRUE(the_destructor_drains<Whole>(options(1)));
  EXPECT_FALSE(the_destructor_drains<DropsWhatWaits>(options(1)));
}

struct BindsTasksToWorkers : Whole {
  using Whole::Whole;
  template <class F>
  void post(F&& function) {
    pool_.post(std::forward<F>(function), {.worker = next++ % pool_.width()});
  }
  std::size_t next = 0;
};
template <class Pool>
bool no_task_is_stuck(const ThreadPoolOptions& options) {
  std::atomic<int> ran{0};
  test::Gate gate;
  Pool pool(options);
  pool.post([&] { gate.wait(); });
  for (int i = 0; i < 100; ++i) pool.post([&] { ++ran; });
  const bool none = becomes(ran, 100);
  gate.open();
  (void)pool.close();
  return none;
}
TEST_P(UsualFaultMutants, NoTaskIsStuckBehindALongOne) {
  EXPECT_TRUE(no_task_is_stuck<Whole>(options(2)));
  EXPECT_FALSE(no_task_is_stuck<BindsTasksToWorkers>(options(2)));
}

struct BindsArguments : Whole {  // they become lvalues, to be copied
  using Whole::Whole;
  template <class F, class... Args>
    requires requires(F function, Args&... args) { function(args...); }
  auto submit(F function, Args... args) {
    return pool_.submit([=]() mutable { return function(args...); });
  }
};
struct NeedsADefault : Whole {
  using Whole::Whole;
  template <class F, class... Args>
    requires std::is_default_constructible_v<std::invoke_result_t<F, Args...>>
  auto submit(F&& function, Args&&... args) {
    return Whole::submit(std::forward<F>(function), std::forward<Args>(args)...);
  }
};
struct MakesNoPool {
  explicit MakesNoPool(const ThreadPoolOptions& options) {
    try {
      pool = std::make_unique<ThreadPool>(options);
    } catch (const std::logic_error&) {
    }
  }
  std::unique_ptr<ThreadPool> pool;
};
struct NoDefault {
  explicit NoDefault(int v) : value(v) {}
  int read() const { return value; }
  int value;
};
template <class Pool>
constexpr bool takes_every_callable =
    requires(Pool& pool, int (*by_move)(std::unique_ptr<int>), std::unique_ptr<int> number) {
      pool.submit(by_move, std::move(number));
    } && requires(Pool& pool, NoDefault object) {
      pool.submit(&NoDefault::read, std::move(object));
    } && requires(Pool& pool, NoDefault (*make)()) { pool.submit(make); };
template <class Pool>
bool refuses_an_unknown_mode(ThreadPoolOptions options) {
  options.mode = PoolMode{99};
  try {
    const Pool pool(options);
    return false;
  } catch (const std::logic_error&) {
    return true;
  }
}
TEST_P(UsualFaultMutants, TakesEveryCallableAndNoUnknownMode) {
  EXPECT_TRUE(takes_every_callable<Whole>);
  EXPECT_FALSE(takes_every_callable<BindsArguments>);
  EXPECT_FALSE(takes_every_callable<NeedsADefault>);
  EXPECT_TRUE(refuses_an_unknown_mode<Whole>(options(1)));
  EXPECT_FALSE(refuses_an_unknown_mode<MakesNoPool>(options(1)));
}

}}  // namespace usual_fault_mutants_test
