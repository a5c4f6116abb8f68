// SPDX-License-Identifier: MIT
//
// Pools, timers, groups, teams: tasks, their closures' ends, results and hooks call the same pool.
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <handoff/core/bulk.hpp>
#include <handoff/core/future.hpp>
#include <handoff/core/when_all.hpp>
#include <handoff/pool/blocking.hpp>
#include <handoff/pool/parallel_for.hpp>
#include <handoff/pool/task_group.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/team/thread_team.hpp>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "conformance/reentry.hpp"

namespace {

using namespace handoff;
using namespace handoff::test::reentry;
using namespace std::chrono_literals;

// An exception whose end is a call: nobody may hold it under a lock when it goes.
struct EndsAsException {
  std::shared_ptr<Ends> ends;
};

template <PoolMode mode, std::size_t capacity>
struct PoolSubject {
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

  static const Table<PoolSubject>& table() {
    static const Table<PoolSubject> table{places(), calls(), {}};
    return table;
  }

  using Place = typename Table<PoolSubject>::Place;
  using Call = typename Table<PoolSubject>::Call;

  static std::vector<Place> places() {
    return joined(joined(places_of_tasks(), places_of_results()),
                  joined(places_of_groups(), places_of_timers()));
  }

  static std::vector<Place> places_of_tasks() {
    return {
        {"task",
         [](PoolSubject& s, const Inside& inside) {
           s.pool.post([&] { inside(); });
           (void)s.pool.close();
         }},
        {"task that a helper runs",
         [](PoolSubject& s, const Inside& inside) {
           s.pool.post([&] { inside(); });
           s.pool.wait();
         }},
        {"end of a closure that has run",
         [](PoolSubject& s, const Inside& inside) {
           s.pool.post([ends = Ends(inside)] {});
           (void)s.pool.close();
         }},
        {"end of a closure that threw",
         [](PoolSubject& s, const Inside& inside) {
           s.pool.post([ends = Ends(inside)] { throw std::runtime_error("asked"); });
           (void)s.pool.close();
         }},
        {"end of a large closure",
         [](PoolSubject& s, const Inside& inside) {
           s.pool.post([ends = Ends(inside), large = std::array<char, 256>()] { (void)large; });
           (void)s.pool.close();
         }},
        {"end of a closure that a close drops",
         [](PoolSubject& s, const Inside& inside) {
           s.pool.pause();
           (void)s.pool.try_post([ends = Ends(inside)] {});
           (void)s.pool.close(Closing::abandon);
         }},
        {"end of a closure that a close refuses",
         [](PoolSubject& s, const Inside& inside) {
           (void)s.pool.close();
           (void)s.pool.try_post([ends = Ends(inside)] {});
         }},
        {"end of a closure that was stopped",
         [](PoolSubject& s, const Inside& inside) {
           std::stop_source source;
           source.request_stop();
           s.pool.post([ends = Ends(inside)] {}, {.until = source.get_token()});
           (void)s.pool.close();
         }},
    };
  }
  static std::vector<Place> places_of_results() {
    return {{"end of a closure with a result",
             [](PoolSubject& s, const Inside& inside) {
               (void)s.pool.submit([ends = Ends(inside)] { return 1; }).get();
             }},
            {"end of a result that nobody took",
             [](PoolSubject& s, const Inside& inside) {
               (void)s.pool.submit([&] { return Ends(inside); });
               (void)s.pool.close();
             }},
            {"what follows a result",
             [](PoolSubject& s, const Inside& inside) {
               (void)s.pool.submit([] { return 1; }).then([&](int) { inside(); }).get();
             }},
            {"end of what follows a result",
             [](PoolSubject& s, const Inside& inside) {
               (void)s.pool.submit([] { return 1; }).then([ends = Ends(inside)](int) {}).get();
             }},
            {"end of what follows a dropped one",
             [](PoolSubject& s, const Inside& inside) {
               s.pool.pause();
               auto last = s.pool.submit([] { return 1; }).then([ends = Ends(inside)](int) {});
               (void)s.pool.close(Closing::abandon);
             }},
            {"end of an exception",
             [](PoolSubject& s, const Inside& inside) {
               s.pool.post([] { throw std::runtime_error("the first, which the tally keeps"); });
               s.pool.wait();
               s.pool.post([&] { throw EndsAsException{std::make_shared<Ends>(inside)}; });
               (void)s.pool.close();
             }},
            {"on_error",
             [](PoolSubject& s, const Inside& inside) {
               s.on_error = inside;
               s.pool.post([] { throw std::runtime_error("asked"); });
               (void)s.pool.close();
             }},
            {"on_stop", [](PoolSubject& s, const Inside& inside) {
               s.on_stop = inside;
               (void)s.pool.close();
             }}};
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
  static std::vector<Place> places_of_groups() {
    return {{"task of a group",
             [](PoolSubject& s, const Inside& inside) {
               in_a_task(s, [&](TaskGroup& group) { group.run([&] { inside(); }); });
             }},
            {"end of a closure of a group",
             [](PoolSubject& s, const Inside& inside) {
               in_a_task(s, [&](TaskGroup& group) { group.run([ends = Ends(inside)] {}); });
             }},
            {"end of a closure of a cancelled group",
             [](PoolSubject& s, const Inside& inside) {
               in_a_task(s, [&](TaskGroup& group) {
                 group.cancel();
                 group.run([ends = Ends(inside)] {});
               });
             }},
            {"body of a loop",
             [](PoolSubject& s, const Inside& inside) {
               parallel_for(s.pool, 0, 8, [&](int) { inside(); });
             }},
            {"completion of a run", [](PoolSubject& s, const Inside& inside) {
               BulkOperation operation(
                   s.pool, 8, [](std::size_t, std::size_t) {},
                   [&](const Tally&) noexcept { inside(); });
               if (operation.start() != Status::ok) inside();
               (void)s.pool.close();
             }}};
  }

  static std::vector<Place> places_of_timers() {
    return {
        {"timed task",
         [](PoolSubject& s, const Inside& inside) {
           std::atomic<bool> ran{false};
           TimerHandle handle = s.pool.post_after(0s, [&] {
             inside();
             ran = true;
           });
           while (!ran) std::this_thread::yield();
           (void)handle.cancel_and_wait();
         }},
        {"end of a timer's closure that has run",
         [](PoolSubject& s, const Inside& inside) {
           std::atomic<bool> ran{false};
           TimerHandle handle = s.pool.post_after(0s, [&ran, ends = Ends(inside)] { ran = true; });
           while (!ran) std::this_thread::yield();
           (void)handle.cancel_and_wait();
         }},
        {"end of a timer's closure that is called off",
         [](PoolSubject& s, const Inside& inside) {
           (void)s.pool.post_after(1h, [ends = Ends(inside)] {}).cancel();
         }},
        {"end of a series' closure that calls itself off",
         [](PoolSubject& s, const Inside& inside) {
           TimerHandle handle;
           std::atomic<bool> there{false};
           handle = s.pool.post_every(1ms, [&, ends = Ends(inside)] {
             while (!there) std::this_thread::yield();
             (void)handle.cancel();
           });
           there = true;
           (void)s.pool.close();
           (void)handle.cancel_and_wait();
         }},
        {"end of a timer's closure in a close",
         [](PoolSubject& s, const Inside& inside) {
           (void)s.pool.post_after(2h, [] {});
           (void)s.pool.post_after(1h, [ends = Ends(inside)] {});
           (void)s.pool.post_after(3h, [] {});
           (void)s.pool.close();
         }},
        {"end of a timer's closure in the destructor", [](PoolSubject& s, const Inside& inside) {
           std::optional<PoolSubject> other(std::in_place);
           (void)other->pool.post_after(1h, [ends = Ends(inside)] {});
           other.reset();
           (void)s;
         }}};
  }

  static std::vector<Call> calls() {
    return {{"post", [](PoolSubject& s) { s.pool.post([] {}); }},
            {"post with options",
             [](PoolSubject& s) { s.pool.post([] {}, {.priority = Priority::high}); }},
            {"try_post", [](PoolSubject& s) { (void)s.pool.try_post([] {}); }},
            {"try_submit",
             [](PoolSubject& s) {
               Future<int> future;
               if (s.pool.try_submit(future, [] { return 1; }) == Status::ok) (void)future.get();
             }},
            {"submit and get", [](PoolSubject& s) { (void)s.pool.submit([] { return 1; }).get(); }},
            {"submit and follow",
             [](PoolSubject& s) { (void)s.pool.submit([] { return 1; }).then([](int) {}).get(); }},
            {"many",
             [](PoolSubject& s) {
               std::vector<Future<int>> parts;
               for (int i = 0; i < 8; ++i) parts.push_back(s.pool.submit([i] { return i; }));
               (void)when_all(std::move(parts)).get();
             }},
            {"post_after", [](PoolSubject& s) { (void)s.pool.post_after(1h, [] {}); }},
            {"post_after and cancel",
             [](PoolSubject& s) { (void)s.pool.post_after(1h, [] {}).cancel_and_wait(); }},
            {"post_every and cancel",
             [](PoolSubject& s) { (void)s.pool.post_every(1ms, [] {}).cancel_and_wait(); }},
            {"group",
             [](PoolSubject& s) {
               TaskGroup group(s.pool);
               group.run([] {});
               group.run_and_wait([] {});
             }},
            {"loop", [](PoolSubject& s) { parallel_for(s.pool, 0, 8, [](int) {}); }},
            {"run", [](PoolSubject& s) { s.pool.run(8, [](IndexRange) {}); }},
            {"blocking", [](PoolSubject& s) { blocking([&] { (void)s.pool.try_post([] {}); }); }},
            {"pause and resume",
             [](PoolSubject& s) {
               s.pool.pause();
               s.pool.resume();
             }},
            {"looks",
             [](PoolSubject& s) {
               (void)s.pool.tally();
               (void)s.pool.statistics();
               (void)(s.pool.width() + s.pool.index_count());
               (void)s.pool.worker_index();
             }},
            {"wait", [](PoolSubject& s) { s.pool.wait(); }},
            {"close", [](PoolSubject& s) { (void)s.pool.close(); }},
            {"close and abandon", [](PoolSubject& s) { (void)s.pool.close(Closing::abandon); }}};
  }
};

struct TeamSubject {
  ThreadTeam team{2};

  static const Table<TeamSubject>& table() {
    static const Table<TeamSubject> table{
        {{"block", [](TeamSubject& s,
                      const Inside& inside) { s.team.run(8, [&](IndexRange) { inside(); }); }},
         {"block that throws",
          [](TeamSubject& s, const Inside& inside) {
            try {
              s.team.run(
                  8, [&](IndexRange) { throw EndsAsException{std::make_shared<Ends>(inside)}; });
            } catch (const EndsAsException&) {
            }
            s.team.run(8, [](IndexRange) {});
          }},
         {"completion of a run",
          [](TeamSubject& s, const Inside& inside) {
            std::atomic<bool> ended{false};
            BulkOperation operation(
                s.team, 8, [](std::size_t, std::size_t) {},
                [&](const Tally&) noexcept {
                  inside();
                  ended = true;
                });
            if (operation.start() != Status::ok) return;
            while (!ended) std::this_thread::yield();
          }}},
        {{"run", [](TeamSubject& s) { s.team.run(8, [](IndexRange) {}); }},
         {"loop", [](TeamSubject& s) { parallel_for(s.team, 0, 8, [](int) {}); }},
         {"looks", [](TeamSubject& s) { (void)s.team.width(); }}},
        {{"completion of a run: run", "a completion must not wait for other runs of the team"},
         {"completion of a run: loop", "a completion must not wait for other runs of the team"}}};
    return table;
  }
};

using PoolSubjects = testing::Types<
    PoolSubject<PoolMode::stealing, unbounded>, PoolSubject<PoolMode::fixed, unbounded>,
    PoolSubject<PoolMode::active, unbounded>, PoolSubject<PoolMode::cached, unbounded>,
    PoolSubject<PoolMode::stealing, 1>, PoolSubject<PoolMode::fixed, 1>, TeamSubject>;

}  // namespace

namespace handoff::test::reentry {
INSTANTIATE_TYPED_TEST_SUITE_P(Pools, ReentryTest, PoolSubjects);
}  // namespace handoff::test::reentry
