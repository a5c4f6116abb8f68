// SPDX-License-Identifier: MIT
//
// Pools, timers, groups, strands, loops, teams: tasks, their closures' ends, results and hooks call
// the same pool.
#include "conformance/reentry.hpp"
#include "support/test.hpp"

namespace {

using namespace handoff;
using namespace handoff::test::reentry;
using namespace std::chrono_literals;

// An exception whose end is a call: nobody may hold it under a lock when it goes.
struct EndsAsException {
  std::shared_ptr<Ends> ends;
};

struct PoolSubject {
  using Filled = PoolSubject;
  PoolSubject(PoolMode its_mode, std::size_t its_capacity)
      : mode(its_mode), capacity(its_capacity) {}

  PoolMode mode;
  std::size_t capacity;
  std::function<void()> on_error;
  std::function<void()> on_stop;
  ThreadPool pool{{.mode = mode,
                   .width = 2,
                   .capacity = capacity,
                   .on_stop = [this](std::size_t) { call(on_stop); },
                   .on_error = [this](const TaskFailure&) { call(on_error); }}};

  static void call(const std::function<void()>& hook) {
    if (hook) hook();
  }

  static void fill(Table<PoolSubject>& t) {
    places_of_tasks(t);
    places_of_results(t);
    places_of_groups(t);
    places_of_timers(t);
    calls(t);
  }

  static void places_of_tasks(Table<PoolSubject>& t) {
    t.place("task", [](auto& s, const Inside& inside) {
      s.pool.post([&] { inside(); });
      (void)s.pool.close();
    });
    t.place("task that a helper runs", [](auto& s, const Inside& inside) {
      s.pool.post([&] { inside(); });
      s.pool.wait();
    });
    t.place("end of a closure that has run", [](auto& s, const Inside& inside) {
      s.pool.post([ends = Ends(inside)] {});
      (void)s.pool.close();
    });
    t.place("end of a closure that threw", [](auto& s, const Inside& inside) {
      s.pool.post([ends = Ends(inside)] { throw std::runtime_error("asked"); });
      (void)s.pool.close();
    });
    t.place("end of a large closure", [](auto& s, const Inside& inside) {
      s.pool.post([ends = Ends(inside), large = std::array<char, 256>()] { (void)large; });
      (void)s.pool.close();
    });
    t.place("end of a closure that a close drops", [](auto& s, const Inside& inside) {
      s.pool.pause();
      (void)s.pool.try_post([ends = Ends(inside)] {});
      (void)s.pool.close(Closing::abandon);
    });
    t.place("end of a closure that a close refuses", [](auto& s, const Inside& inside) {
      (void)s.pool.close();
      (void)s.pool.try_post([ends = Ends(inside)] {});
    });
    t.place("end of a closure that was stopped", [](auto& s, const Inside& inside) {
      std::stop_source source;
      source.request_stop();
      s.pool.post([ends = Ends(inside)] {}, {.until = source.get_token()});
      (void)s.pool.close();
    });
  }
  static void places_of_results(Table<PoolSubject>& t) {
    t.place("end of a closure with a result", [](auto& s, const Inside& inside) {
      (void)s.pool.submit([ends = Ends(inside)] { return 1; }).get();
    });
    t.place("end of a result that nobody took", [](auto& s, const Inside& inside) {
      (void)s.pool.submit([&] { return Ends(inside); });
      (void)s.pool.close();
    });
    t.place("what follows a result", [](auto& s, const Inside& inside) {
      (void)s.pool.submit([] { return 1; }).then([&](int) { inside(); }).get();
    });
    t.place("end of what follows a result", [](auto& s, const Inside& inside) {
      (void)s.pool.submit([] { return 1; }).then([ends = Ends(inside)](int) {}).get();
    });
    t.place("end of what follows a dropped one", [](auto& s, const Inside& inside) {
      s.pool.pause();
      auto last = s.pool.submit([] { return 1; }).then([ends = Ends(inside)](int) {});
      (void)s.pool.close(Closing::abandon);
    });
    t.place("end of an exception", [](auto& s, const Inside& inside) {
      s.pool.post([] { throw std::runtime_error("the first, which the tally keeps"); });
      s.pool.wait();
      s.pool.post([&] { throw EndsAsException{std::make_shared<Ends>(inside)}; });
      (void)s.pool.close();
    });
    t.place("on_error", [](auto& s, const Inside& inside) {
      s.on_error = inside;
      s.pool.post([] { throw std::runtime_error("asked"); });
      (void)s.pool.close();
    });
    t.place("on_stop", [](auto& s, const Inside& inside) {
      s.on_stop = inside;
      (void)s.pool.close();
    });
  }
  // With a group of a task's own.
  static void in_a_task(PoolSubject& s, const std::function<void(TaskGroup&)>& use) {
    s.pool.post([&] {
      TaskGroup group(s.pool);
      use(group);
      group.wait();
    });
    (void)s.pool.close();
  }
  static void places_of_groups(Table<PoolSubject>& t) {
    t.place("task of a group", [](auto& s, const Inside& inside) {
      in_a_task(s, [&](TaskGroup& group) { group.run([&] { inside(); }); });
    });
    t.place("end of a closure of a group", [](auto& s, const Inside& inside) {
      in_a_task(s, [&](TaskGroup& group) { group.run([ends = Ends(inside)] {}); });
    });
    t.place("end of a closure of a cancelled group", [](auto& s, const Inside& inside) {
      in_a_task(s, [&](TaskGroup& group) {
        group.cancel();
        group.run([ends = Ends(inside)] {});
      });
    });
    t.place("on_failure of a group", [](auto& s, const Inside& inside) {
      TaskGroup group(s.pool, {.on_failure = [&] { inside(); }});
      group.run([] { throw std::runtime_error("asked"); });
      EXPECT_THROW(group.wait(), std::runtime_error);
    });
    t.place("body of a loop", [](auto& s, const Inside& inside) {
      parallel_for(s.pool, 0, 8, [&](int) { inside(); });
    });
    t.place("completion of a run", [](auto& s, const Inside& inside) {
      BulkOperation operation(
          s.pool, 8, [](std::size_t, std::size_t) {}, [&](const Tally&) noexcept { inside(); });
      if (operation.start() != Status::ok) inside();
      (void)s.pool.close();
    });
  }

  static void places_of_timers(Table<PoolSubject>& t) {
    t.place("timed task", [](auto& s, const Inside& inside) {
      std::atomic<bool> ran{false};
      TimerHandle handle = s.pool.post_after(0s, [&] {
        inside();
        ran = true;
      });
      while (!ran) std::this_thread::yield();
      (void)handle.cancel_and_wait();
    });
    t.place("end of a timer's closure that has run", [](auto& s, const Inside& inside) {
      std::atomic<bool> ran{false};
      TimerHandle handle = s.pool.post_after(0s, [&ran, ends = Ends(inside)] { ran = true; });
      while (!ran) std::this_thread::yield();
      (void)handle.cancel_and_wait();
    });
    t.place("end of a timer's closure that is called off", [](auto& s, const Inside& inside) {
      (void)s.pool.post_after(1h, [ends = Ends(inside)] {}).cancel();
    });
    t.place("end of a series' closure that calls itself off", [](auto& s, const Inside& inside) {
      TimerHandle handle;
      std::atomic<bool> there{false};
      handle = s.pool.post_every(1ms, [&, ends = Ends(inside)] {
        while (!there) std::this_thread::yield();
        (void)handle.cancel();
      });
      there = true;
      (void)s.pool.close();
      (void)handle.cancel_and_wait();
    });
    t.place("end of a timer's closure in a close", [](auto& s, const Inside& inside) {
      (void)s.pool.post_after(2h, [] {});
      (void)s.pool.post_after(1h, [ends = Ends(inside)] {});
      (void)s.pool.post_after(3h, [] {});
      (void)s.pool.close();
    });
    t.place("end of a timer's closure in the destructor", [](auto& s, const Inside& inside) {
      std::optional<PoolSubject> other(std::in_place, s.mode, s.capacity);
      (void)other->pool.post_after(1h, [ends = Ends(inside)] {});
      other.reset();
    });
  }

  static void calls(Table<PoolSubject>& t) {
    t.call("post", [](auto& s) { s.pool.post([] {}); });
    t.call("post with options", [](auto& s) { s.pool.post([] {}, {.priority = Priority::high}); });
    t.call("try_post", [](auto& s) { (void)s.pool.try_post([] {}); });
    t.call("try_submit", [](auto& s) {
      Future<int> future;
      if (s.pool.try_submit(future, [] { return 1; }) == Status::ok) (void)future.get();
    });
    t.call("submit and get", [](auto& s) { (void)s.pool.submit([] { return 1; }).get(); });
    t.call("submit and follow",
           [](auto& s) { (void)s.pool.submit([] { return 1; }).then([](int) {}).get(); });
    t.call("many", [](auto& s) {
      std::vector<Future<int>> parts;
      for (int i = 0; i < 8; ++i) parts.push_back(s.pool.submit([i] { return i; }));
      (void)when_all(std::move(parts)).get();
    });
    t.call("post_after", [](auto& s) { (void)s.pool.post_after(1h, [] {}); });
    t.call("post_after and cancel",
           [](auto& s) { (void)s.pool.post_after(1h, [] {}).cancel_and_wait(); });
    t.call("post_every and cancel",
           [](auto& s) { (void)s.pool.post_every(1ms, [] {}).cancel_and_wait(); });
    t.call("group", [](auto& s) {
      TaskGroup group(s.pool);
      group.run([] {});
      group.run_and_wait([] {});
    });
    t.call("loop", [](auto& s) { parallel_for(s.pool, 0, 8, [](int) {}); });
    t.call("run", [](auto& s) { s.pool.run(8, [](IndexRange) {}); });
    t.call("blocking", [](auto& s) { blocking([&] { (void)s.pool.try_post([] {}); }); });
    t.call("pause and resume", [](auto& s) {
      s.pool.pause();
      s.pool.resume();
    });
    t.call("looks", [](auto& s) {
      (void)s.pool.tally();
      (void)s.pool.statistics();
      (void)(s.pool.width() + s.pool.index_count());
      (void)s.pool.worker_index();
    });
    t.call("wait", [](auto& s) { s.pool.wait(); });
    t.call("close", [](auto& s) { (void)s.pool.close(); });
    t.call("close and abandon", [](auto& s) { (void)s.pool.close(Closing::abandon); });
  }
};

template <PoolMode its_mode, std::size_t its_capacity = unbounded>
struct Pool : PoolSubject {
  Pool() : PoolSubject(its_mode, its_capacity) {}
};

struct TeamSubject {
  ThreadTeam team{2};

  static void fill(Table<TeamSubject>& t) {
    t.place("block",
            [](auto& s, const Inside& inside) { s.team.run(8, [&](IndexRange) { inside(); }); });
    t.place("block that throws", [](auto& s, const Inside& inside) {
      try {
        s.team.run(8, [&](IndexRange) { throw EndsAsException{std::make_shared<Ends>(inside)}; });
      } catch (const EndsAsException&) {
      }
      s.team.run(8, [](IndexRange) {});
    });
    t.place("completion of a run", [](auto& s, const Inside& inside) {
      std::atomic<bool> ended{false};
      BulkOperation operation(
          s.team, 8, [](std::size_t, std::size_t) {},
          [&](const Tally&) noexcept {
            inside();
            ended = true;
          });
      if (operation.start() != Status::ok) return;
      while (!ended) std::this_thread::yield();
    });
    t.call("run", [](auto& s) { s.team.run(8, [](IndexRange) {}); });
    t.call("loop", [](auto& s) { parallel_for(s.team, 0, 8, [](int) {}); });
    t.call("looks", [](auto& s) { (void)s.team.width(); });
    for (const char* const call : {"run", "loop"}) {
      t.left_out("completion of a run", call,
                 "a completion must not wait for other runs of the team");
    }
  }
};

// The calls of an executor that runs one task at a time.
template <class Subject>
void calls_of_one_at_a_time(Table<Subject>& t) {
  t.call("post", [](auto& s) { s.executor().post([] {}); });
  t.call("try_post", [](auto& s) { (void)s.executor().try_post([] {}); });
  t.call("submit", [](auto& s) { (void)s.executor().submit([] { return 1; }); });
  t.call("submit and follow", [](auto& s) {
    (void)s.executor().submit([] { return 1; }).then(s.executor(), [](int) {});
  });
  t.call("loop", [](auto& s) { parallel_for(s.executor(), 0, 8, [](int) {}); });
  t.call("looks", [](auto& s) { (void)s.executor().tally(); });
  t.call("close", [](auto& s) { (void)s.executor().close(); });
  t.call("close and abandon", [](auto& s) { (void)s.executor().close(Closing::abandon); });
}

struct StrandSubject {
  std::function<void()> on_error;
  ThreadPool pool{{.width = 1}};
  SerialExecutor<ThreadPool> strand{pool, {.on_error = [this](const TaskFailure&) {
                                      if (on_error) on_error();
                                    }}};
  auto& executor() { return strand; }

  static void fill(Table<StrandSubject>& t) {
    t.place("task", [](auto& s, const Inside& inside) {
      s.strand.post([&] { inside(); });
      (void)s.strand.close();
    });
    t.place("end of a closure that has run", [](auto& s, const Inside& inside) {
      s.strand.post([ends = Ends(inside)] {});
      (void)s.strand.close();
    });
    t.place("end of a closure that threw", [](auto& s, const Inside& inside) {
      s.strand.post([ends = Ends(inside)] { throw std::runtime_error("asked"); });
      (void)s.strand.close();
    });
    t.place("end of a closure that waited", [](auto& s, const Inside& inside) {
      s.pool.pause();
      s.strand.post([] {});
      s.strand.post([ends = Ends(inside), large = std::array<char, 256>()] { (void)large; });
      s.pool.resume();
      (void)s.strand.close();
    });
    t.place("end of a closure that a close drops", [](auto& s, const Inside& inside) {
      s.pool.pause();
      s.strand.post([ends = Ends(inside)] {});
      (void)s.pool.close(Closing::abandon);
    });
    t.place("end of a closure that is refused", [](auto& s, const Inside& inside) {
      (void)s.pool.close();
      (void)s.strand.try_post([ends = Ends(inside)] {});
    });
    t.place("end of a closure with a result", [](auto& s, const Inside& inside) {
      (void)s.strand.submit([ends = Ends(inside)] { return 1; }).get();
    });
    t.place("what follows a result", [](auto& s, const Inside& inside) {
      (void)s.strand.submit([] { return 1; }).then([&](int) { inside(); }).get();
    });
    t.place("what follows a result as a task", [](auto& s, const Inside& inside) {
      (void)s.pool.submit([] { return 1; }).then(s.strand, [&](int) { inside(); }).get();
    });
    t.place("on_error", [](auto& s, const Inside& inside) {
      s.on_error = inside;
      s.strand.post([] { throw std::runtime_error("asked"); });
      (void)s.strand.close();
    });
    calls_of_one_at_a_time(t);
    t.call("wait", [](auto& s) { (void)s.strand.wait(); });
  }
};

struct LoopSubject {
  LoopExecutor loop;
  auto& executor() { return loop; }

  static void fill(Table<LoopSubject>& t) {
    t.place("task", [](auto& s, const Inside& inside) {
      s.loop.post([&] { inside(); });
      (void)s.loop.drain();
    });
    t.place("task that a close runs", [](auto& s, const Inside& inside) {
      s.loop.post([&] { inside(); });
      (void)s.loop.close();
    });
    t.place("end of a closure that has run", [](auto& s, const Inside& inside) {
      s.loop.post([ends = Ends(inside)] {});
      (void)s.loop.drain();
    });
    t.place("end of a closure that a close drops", [](auto& s, const Inside& inside) {
      s.loop.post([ends = Ends(inside)] {});
      (void)s.loop.close(Closing::abandon);
    });
    t.place("end of a closure in the destructor", [](auto& s, const Inside& inside) {
      std::optional<LoopSubject> other(std::in_place);
      other->loop.post([ends = Ends(inside)] {});
      other.reset();
      (void)s;
    });
    t.place("end of a closure that is refused", [](auto& s, const Inside& inside) {
      s.loop.shut();
      (void)s.loop.try_post([ends = Ends(inside)] {});
    });
    t.place("what follows a result", [](auto& s, const Inside& inside) {
      (void)s.loop.submit([] { return 1; }).then([&](int) { inside(); });
      (void)s.loop.drain();
    });
    calls_of_one_at_a_time(t);
    t.call("drain", [](auto& s) { (void)s.loop.drain(); });
    t.call("drain_for", [](auto& s) { (void)s.loop.drain_for(1s); });
    t.call("wait", [](auto& s) { (void)s.loop.wait(1us); });
    t.call("descriptor", [](auto& s) { (void)s.loop.descriptor(); });
    t.call("shut", [](auto& s) { s.loop.shut(); });
  }
};

using PoolSubjects =
    testing::Types<Pool<PoolMode::stealing>, Pool<PoolMode::fixed>, Pool<PoolMode::active>,
                   Pool<PoolMode::cached>, Pool<PoolMode::stealing, 1>, Pool<PoolMode::fixed, 1>,
                   StrandSubject, LoopSubject, TeamSubject>;

}  // namespace

namespace handoff::test::reentry {
INSTANTIATE_TYPED_TEST_SUITE_P(Pools, ReentryTest, PoolSubjects);
}  // namespace handoff::test::reentry
