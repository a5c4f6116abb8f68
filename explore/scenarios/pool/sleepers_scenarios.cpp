// SPDX-License-Identifier: MIT
//
// Who sleeps and who is woken: no task may stay behind while all sleep. docs/design/thread_pool.md.
#include <handoff/pool/detail/sleepers.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/fence.hpp>

#include "books/pool_books.hpp"
#include "explore/scenario.hpp"
#include "explore/scenarios/pool/sleeper.hpp"
#include "pool/task_queue.hpp"

namespace sleepers_scenarios { namespace {

using namespace handoff;
using namespace handoff::detail;
using sync::order;
using namespace test;

// Work is a number. A worker takes until `left` is none, and sleeps in between, as Engine does.
struct Work {
  Sleepers sleepers;
  sync::atomic<int> tasks{0};
  sync::atomic<int> left;
  bool lightly = false;  // submit_lightly() is used

  explicit Work(int all) : left(all) {}

  bool take() {
    int count = tasks.load(order::relaxed);
    while (count > 0) {
      if (tasks.compare_exchange_strong(count, count - 1, order::relaxed, order::relaxed)) {
        if (left.fetch_sub(1, order::relaxed) == 1) sleepers.wake_all();
        return true;
      }
    }
    return false;
  }
  bool over() const { return left.load(order::relaxed) == 0; }

  // A submitter whose read-modify-write comes before its look.
  void submit() {
    tasks.fetch_add(1, order::seq_cst);
    if (sleepers.wanted()) (void)sleepers.wake_one();
  }
  // One that has the light half of the fence between the two.
  void submit_lightly() {
    tasks.store(tasks.load(order::relaxed) + 1, order::relaxed);
    sync::asymmetric_fence_light();
    if (sleepers.wanted()) (void)sleepers.wake_one();
  }

  void serve(Sleepers::Place& place) {
    for (;;) {
      sleepers.begin_search();
      for (;;) {
        if (take()) {
          const auto after = sleepers.end_search();
          if (after.nobody_searches && after.asleep != 0) {
            sync::asymmetric_fence_heavy();
            if (tasks.load(order::seq_cst) > 0) (void)sleepers.wake_one();
          }
          break;
        }
        if (over()) {
          (void)sleepers.end_search();
          return;
        }
        (void)sleepers.sleep(
            place, [this](std::uint64_t /*asleep*/) { return !lightly; },
            [this] { return over() || tasks.load(order::relaxed) > 0; });
      }
    }
  }
};

const Scenario one_worker("sleepers/one_worker", [] {
  Work work(2);
  Sleepers::Place place;
  explore::Thread worker([&] { work.serve(place); });
  work.submit();
  work.submit();
  worker.join();
  explore::check(work.over(), "all work is done");
});

const Scenario light_submit("sleepers/light_submit", [] {
  Work work(1);
  work.lightly = true;
  Sleepers::Place place;
  explore::Thread worker([&] { work.serve(place); });
  work.submit_lightly();
  worker.join();
  explore::check(work.over(), "all work is done");
});

// The first to find work must call the second if there is more: nobody else will.
const Scenario ramp_up("sleepers/ramp_up", [] {
  Work work(2);
  Sleepers::Place first;
  Sleepers::Place second;
  explore::Thread one([&] { work.serve(first); });
  explore::Thread two([&] { work.serve(second); });
  work.submit();
  work.submit();
  one.join();
  two.join();
  explore::check(work.over(), "all work is done");
});

// A worker that sleeps too long, ends its thread, and is started by the thread that wants it again:
// here by the submitter, which plays the new thread once the old one has ended, as Engine does.
struct Staff : Work {
  Sleepers::Place place;

  Staff() : Work(1) {}

  void serve_for_a_while(bool called) {
    for (;;) {
      if (!called) sleepers.begin_search();
      called = false;
      auto slept = Sleepers::Slept::not_at_all;
      while (!take()) {
        if (over() || slept == Sleepers::Slept::too_long) {
          if (end_or_go_on()) return;
          slept = Sleepers::Slept::not_at_all;
          continue;
        }
        slept = sleepers.sleep(
            place, test::by_seq_cst, [this] { return is_work(); }, sync::deadline_after(one));
      }
      wake_next();
    }
  }
  bool is_work() const { return over() || tasks.load(order::relaxed) > 0; }
  bool end_or_go_on() {
    wake_next();
    return over() || sleepers.leave(place, [this] { return is_work(); });
  }
  void wake_next() {
    const auto after = sleepers.end_search();
    if (!after.nobody_searches || after.asleep == 0) return;
    sync::asymmetric_fence_heavy();
    if (tasks.load(order::seq_cst) > 0) sleepers.wake_present();
  }
  static constexpr std::chrono::nanoseconds one{1};
};

const Scenario leaves("sleepers/leaves", [] {
  Staff staff;
  explore::Thread worker([&] { staff.serve_for_a_while(false); });
  staff.tasks.fetch_add(1, order::seq_cst);
  const bool called = staff.sleepers.wanted() && staff.sleepers.wake_one() != nullptr;
  worker.join();
  if (called) staff.serve_for_a_while(true);
  explore::check(staff.over(), "all work is done");
  explore::outcome(called ? 1 : 0);
});

// Either somebody chose the absent worker, or it is withdrawn.
const Scenario withdraw("sleepers/withdraw", [] {
  Work work(1);
  Sleepers::Place absent;
  work.sleepers.begin_absent(absent);
  bool called = false;
  explore::Thread submitter(
      [&] { called = work.sleepers.wanted() && work.sleepers.wake_one() != nullptr; });
  const bool withdrawn = work.sleepers.withdraw_from(0) != nullptr;
  submitter.join();
  explore::check(called != withdrawn, "one of the two has it");
  explore::outcome(called ? 1 : 0);
});

const Scenario submit_beside_leave("sleepers/submit_beside_leave", [] {
  Work work(1);
  Sleepers::Place place;
  bool called = false;
  explore::Thread submitter([&] {
    work.tasks.fetch_add(1, order::seq_cst);
    called = work.sleepers.wanted() && work.sleepers.wake_one() != nullptr;
  });
  const bool left =
      work.sleepers.leave(place, [&work] { return work.tasks.load(order::relaxed) > 0; });
  submitter.join();
  explore::check(called == left, "a worker that leaves is called, one that stays is not");
  explore::outcome(left ? 1 : 0);
});

// An absent worker is chosen and gets no thread. What is handed over meanwhile wakes nobody, as
// somebody seems to search; so the thread that failed looks for those who sleep.
const Scenario refused("sleepers/refused", [] {
  Work work(2);
  Sleepers::Place place;
  Sleepers::Place absent(1);
  work.sleepers.begin_absent(absent);
  explore::Thread worker([&] { work.serve(place); });
  const auto submit = [&work] {
    work.tasks.fetch_add(1, order::seq_cst);
    if (!work.sleepers.wanted()) return;
    if (Sleepers::Place* const called = work.sleepers.wake_one()) {
      work.sleepers.put_back(*called);
      const auto is_work = [&work] { return work.tasks.load(order::relaxed) > 0; };
      if (work.sleepers.wanted_for(is_work)) work.sleepers.wake_present();
    }
  };
  explore::Thread other(submit);
  submit();
  other.join();
  worker.join();
  explore::check(work.over(), "all work is done");
});

// The same where what is handed over meanwhile makes no read-modify-write.
const Scenario refused_beside_light_submit("sleepers/refused_beside_light_submit", [] {
  Work work(1);
  Sleepers::Place absent;
  work.sleepers.begin_absent(absent);
  bool told = false;
  Sleepers::Place* const called = work.sleepers.wake_one();
  test::beside_a_sleeper(work.sleepers, [&] {
    explore::Thread submitter([&] {
      work.tasks.store(1, order::relaxed);
      sync::asymmetric_fence_light();
      told = work.sleepers.wanted();
    });
    work.sleepers.put_back(*called);
    const bool seen =
        work.sleepers.wanted_for([&work] { return work.tasks.load(order::relaxed) > 0; });
    submitter.join();
    explore::check(told || seen, "one of the two sees the other");
  });
});

// A task comes while a worker that searched takes its leave, having found another one. Either the
// submitter sees that nobody searches any more, or the worker sees the ticket; without a fence.
void submit_beside_found(TaskQueue& queue) {
  Sleepers sleepers;
  test::beside_a_sleeper(sleepers, [&] {
    bool told = false;
    sleepers.begin_search();
    explore::Thread submitter([&] {
      Task* const task = queue.reserve();
      told = sleepers.wanted();
      task->publish(StillbornKind::kind);
    });
    const auto left = sleepers.end_search();
    const bool seen = left.nobody_searches && left.asleep != 0 && queue.has_tickets();
    submitter.join();
    explore::check(told || seen, "one of the two sees the other");
  });
}

const Scenario found("sleepers/found", [] {
  TaskQueue queue;
  submit_beside_found(queue);
});

// A slow producer finds tickets in a segment that is used again, while the one that appends it has
// not come back: a worker that looks for work finds that segment too.
const LargeScenario found_in_used("sleepers/found_in_used_segment", [] {
  test::Audited<TaskQueue> queue;
  Sleepers sleepers;
  const auto push = [&queue](std::uint64_t number) {
    Task* const task = queue.reserve();
    ::new (static_cast<void*>(task->storage)) std::uint64_t(number);
    task->group.write() = nullptr;
    task->publish(StillbornKind::kind);
  };
  bool slow_one_is_taken = false;
  const auto pop_all = [&queue, &slow_one_is_taken] {
    Task node;
    while (queue.claim(1, [&node] { return &node; }) != 0) {
      if (node.as<std::uint64_t>() == 0) slow_one_is_taken = true;
    }
  };
  test::beside_a_sleeper(sleepers, [&] {
    bool told = false;
    bool seen = false;
    sleepers.begin_search();
    explore::Thread fast([&] {
      for (std::uint64_t i = 1; i <= 3; ++i) push(i);
      pop_all();
      push(4);
      pop_all();
      push(5);
    });
    explore::Thread worker([&] {
      const auto left = sleepers.end_search();
      seen = left.nobody_searches && left.asleep != 0 && queue.has_tickets();
    });
    push(0);
    told = sleepers.wanted();
    worker.join();
    fast.join();
    explore::check(told || seen || slow_one_is_taken, "one of the two sees the other");
  });
  pop_all();
});

// The same where the ticket is in a segment that is made for it.
const Scenario found_in_next("sleepers/found_in_next_segment", [] {
  TaskQueue queue;
  for (std::size_t i = 0; i < TaskQueue::segment_tasks; ++i) {
    queue.reserve()->publish(StillbornKind::kind);
  }
  Task node;
  while (queue.claim(1, [&node] { return &node; }) != 0) {
  }
  submit_beside_found(queue);
});

}}  // namespace sleepers_scenarios
