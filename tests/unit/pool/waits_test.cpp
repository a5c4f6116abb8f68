// SPDX-License-Identifier: MIT
//
// Whatever a task waits for comes, on one worker too: each mode, with and without a capacity, on
// one worker and on two, with sources of each priority, queued by the waiting task, by another one
// and from outside, behind the waiting task where the mode has an order; and each kind of wait.
//
// A wait that hangs is a failure with the name of its combination. Its pool is left as it is, and
// the next combination gets another one.
#include <future>

#include "support/job.hpp"
#include "support/test.hpp"
#include "unit/pool/modes.hpp"

namespace waits_test { namespace {

using namespace handoff;
using namespace std::chrono_literals;

enum class Queued { by_the_waiter, by_another_task, from_outside };

std::string name_of(Queued queued) {
  switch (queued) {
    case Queued::by_the_waiter: return "by_the_waiter";
    case Queued::by_another_task: return "by_another_task";
    case Queued::from_outside: return "from_outside";
  }
  return "unknown";
}

struct Combination {
  PoolMode mode;
  std::size_t capacity;
  std::size_t width;
  Priority priority;
  Queued queued;
};

std::string name_of(const Combination& of, const char* wait) {
  constexpr std::array priorities = {"urgent", "high", "normal", "low"};
  return std::string(wait) + ", " + test::name_of(of.mode) + ", capacity " +
         std::to_string(of.capacity) + ", width " + std::to_string(of.width) + ", " +
         priorities[static_cast<std::size_t>(of.priority)] + ", queued " + name_of(of.queued);
}

// A pool and the sources of one round.
class Round {
 public:
  static constexpr int kSources = 3;  // 1, 2 and 3
  static constexpr int kSum = 6;

  Round(ThreadPool& on, const Combination& combination)
      : pool(on), priority(combination.priority) {}

  void queue_sources() {
    for (int i = 1; i <= kSources; ++i) {
      sources.push_back(pool.submit([i] { return i; }, {.priority = priority}));
    }
  }

  ThreadPool& pool;
  const Priority priority;
  std::vector<Future<int>> sources;
};

int same(int n) { return n; }

// ---- What is waited for: each of these runs in a task, and returns the sum of the sources ------

int each(Round& round) {
  int sum = 0;
  for (Future<int>& source : round.sources) sum += source.get();
  return sum;
}

int continuations(Round& round) {
  int sum = 0;
  for (Future<int>& source : round.sources) sum += std::move(source).then(same).get();
  return sum;
}

int continuations_of_continuations(Round& round) {
  int sum = 0;
  for (Future<int>& source : round.sources) {
    sum += std::move(source).then(same).then(same).then(same).get();
  }
  return sum;
}

int sum_of(std::vector<Future<int>> ready) {
  int sum = 0;
  for (Future<int>& future : ready) sum += future.get();
  return sum;
}

int all(Round& round) { return sum_of(when_all(std::move(round.sources)).get()); }

// All of: a continuation, all of two continuations, and what follows those.
int all_of_continuations(Round& round) {
  std::vector<Future<int>> inner;
  inner.push_back(std::move(round.sources[1]).then(same));
  inner.push_back(std::move(round.sources[2]).then(same).then(same));
  std::vector<Future<int>> outer;
  outer.push_back(std::move(round.sources[0]).then(same));
  outer.push_back(when_all(std::move(inner)).then(sum_of).then(same));
  return when_all(std::move(outer)).then(sum_of).get();
}

int group(Round& round) {
  std::atomic<int> sum{0};
  TaskGroup tasks(round.pool);
  for (Future<int>& source : round.sources) {
    tasks.run([&sum, &source] { sum += std::move(source).then(same).get(); });
  }
  tasks.wait();
  return sum;
}

int loops(Round& round) {
  std::atomic<int> sum{0};
  parallel_for(round.pool, 0, 1, [&](std::size_t) {
    parallel_for(round.pool, 0, round.sources.size(),
                 [&](std::size_t i) { sum += std::move(round.sources[i]).then(same).get(); });
  });
  return sum;
}

test::Job sum_up(Round& round, std::promise<int>& sum) {
  int here = 0;
  for (Future<int>& source : round.sources) {
    co_await round.pool.schedule(round.priority);
    here += std::move(source).then(same).get();
  }
  sum.set_value(here);
}

// A coroutine goes on as a task. A task that waits for its end in a way that the pool does not know
// of says so by blocking().
int coroutine(Round& round) {
  std::promise<int> sum;
  sum_up(round, sum);
  return blocking([&sum] { return sum.get_future().get(); });
}

int timer(Round& round) {
  std::promise<Future<int>> sum;
  (void)round.pool.post_after(
      0s, [&] { sum.set_value(when_all(std::move(round.sources)).then(sum_of)); });
  return blocking([&sum] { return sum.get_future().get(); }).get();
}

int inside_blocking(Round& round) {
  return blocking([&round] { return all_of_continuations(round); });
}

// On a seat in another pool, which is no task.
int seat_elsewhere(Round& round) {
  ThreadPool other({.width = 1});
  TaskGroup there(other);
  return all_of_continuations(round);
}

int standard_futures(Round& round) {
  int sum = 0;
  for (Future<int>& source : round.sources) {
    std::future<int> standard = std::move(source).then(same).to_std();
    sum += blocking([&standard] { return standard.get(); });
  }
  return sum;
}

struct Wait {
  const char* name;
  int (*run)(Round& round);

  friend std::ostream& operator<<(std::ostream& out, const Wait& wait) { return out << wait.name; }
};

constexpr std::array waits = {
    Wait{"each", each},
    Wait{"continuations", continuations},
    Wait{"continuations_of_continuations", continuations_of_continuations},
    Wait{"all", all},
    Wait{"all_of_continuations", all_of_continuations},
    Wait{"group", group},
    Wait{"loops", loops},
    Wait{"coroutine", coroutine},
    Wait{"timer", timer},
    Wait{"inside_blocking", inside_blocking},
    Wait{"seat_elsewhere", seat_elsewhere},
    Wait{"standard_futures", standard_futures},
};

// ---- Running them -------------------------------------------------------------------------------

// What the waiting task found, for a thread outside that does not help.
class Found {
 public:
  void set(int value) {
    const std::lock_guard lock(mutex_);
    value_ = value;
    there_ = true;
    news_.notify_all();
  }
  // False if nothing came in a time in which anything comes.
  bool await() {
    std::unique_lock lock(mutex_);
    return news_.wait_for(lock, kHang, [this] { return there_; });
  }
  int value() const { return value_; }

  static constexpr std::chrono::milliseconds kHang{test::slow ? 120'000 : 60'000};

 private:
  std::mutex mutex_;
  std::condition_variable news_;
  bool there_ = false;
  int value_ = 0;
};

struct Attempt {
  std::unique_ptr<ThreadPool> pool;
  std::unique_ptr<Round> round;
  test::Gate queued;  // from outside, or nothing is
  Found found;
};

// The waiting task comes first in the queue, then the sources, if there is an order. It may slip
// through the pause.
bool run_round(Attempt& attempt, const Combination& of, const Wait& wait) {
  ThreadPool& pool = *attempt.pool;
  const auto waiter = [&attempt, &of, &wait] {
    Round& round = *attempt.round;
    attempt.queued.wait();
    if (of.queued == Queued::by_the_waiter) round.queue_sources();
    if (of.queued == Queued::by_another_task) {
      TaskGroup other(round.pool);
      other.run([&round] { round.queue_sources(); });
      other.wait();
    }
    attempt.found.set(wait.run(round));
  };
  pool.pause();
  pool.post(waiter);
  if (of.queued == Queued::from_outside) attempt.round->queue_sources();
  attempt.queued.open();
  pool.resume();
  return attempt.found.await();
}

std::size_t rounds_each() { return test::deep() ? 1000 : test::slow ? 3 : 20; }

// False if it hung.
bool run(const Combination& of, const Wait& wait) {
  ThreadPoolOptions options;
  options.mode = of.mode;
  options.width = of.width;
  options.core = of.mode == PoolMode::cached ? 1 : 0;
  options.capacity = of.capacity;
  auto attempt = std::make_unique<Attempt>();
  attempt->pool = std::make_unique<ThreadPool>(options);
  for (std::size_t i = 0; i < rounds_each(); ++i) {
    auto next = std::make_unique<Attempt>();
    next->pool = std::move(attempt->pool);
    next->round = std::make_unique<Round>(*next->pool, of);
    attempt = std::move(next);
    if (!run_round(*attempt, of, wait)) {
      ADD_FAILURE() << "hung in round " << i << ": " << name_of(of, wait.name);
      (void)attempt.release();  // its threads still use it
      return false;
    }
    EXPECT_EQ(attempt->found.value(), Round::kSum) << name_of(of, wait.name);
    attempt->pool->wait();  // the task's last steps use the round
  }
  return true;
}

std::vector<Combination> combinations(PoolMode mode) {
  std::vector<Combination> all_of_them;
  for (const std::size_t capacity : {unbounded, std::size_t{16}}) {
    for (const std::size_t width : {1U, 2U}) {
      for (const Priority priority : {Priority::high, Priority::normal, Priority::low}) {
        for (const Queued queued :
             {Queued::by_the_waiter, Queued::by_another_task, Queued::from_outside}) {
          all_of_them.push_back({mode, capacity, width, priority, queued});
        }
      }
    }
  }
  return all_of_them;
}

class WaitsTest : public testing::TestWithParam<std::tuple<PoolMode, Wait>> {};

TEST_P(WaitsTest, NoneHangs) {
  const auto& [mode, wait] = GetParam();
  auto order = combinations(mode);
  ASSERT_EQ(order.size(), 36U);
  auto random = test::random();
  std::shuffle(order.begin(), order.end(), random);
  std::size_t hung = 0;
  for (const Combination& of : order) {
    if (!run(of, wait)) ++hung;
  }
  EXPECT_EQ(hung, 0U) << "of " << order.size();
}

INSTANTIATE_TEST_SUITE_P(Each, WaitsTest, testing::Combine(test::modes, testing::ValuesIn(waits)),
                         [](const testing::TestParamInfo<std::tuple<PoolMode, Wait>>& of) {
                           return std::string(test::name_of(std::get<0>(of.param))) + "_" +
                                  std::get<1>(of.param).name;
                         });

}}  // namespace waits_test
