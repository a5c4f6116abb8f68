// SPDX-License-Identifier: MIT
//
// The books of pool/ report what is broken on purpose.
#include <gtest/gtest-spi.h>

#include "books/expect_reported.hpp"
#include "books/pool_books.hpp"
#include "support/test.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

struct Break;

template <>
struct Books<Break> {
  using Queue = BasicTaskQueue<2>;

  static auto& head_index(Queue& queue) { return queue.head_index_.write(); }
  static auto& head(Queue& queue) { return queue.head_.write(); }
  static auto& last(Queue& queue) { return queue.last_; }
  static auto& next_task(Queue& queue) { return queue.next_task_; }
  static auto& spares(Queue& queue) { return queue.spares_; }
  static auto& tickets_of_head(Queue& queue) { return queue.head_.read()->tickets; }
  static auto& next_of_head(Queue& queue) { return queue.head_.read()->next; }
  static auto& second_kind(Queue& queue) { return queue.head_.read()->tasks[1].kind; }

  static auto& batches(TaskStore& store) { return store.batches_.write(); }

  static auto& expected(SideQueues& queues) { return queues.own_[0].expected; }

  static auto& state(Sleepers& sleepers) { return sleepers.state_; }
  static auto& top(Sleepers& sleepers) { return sleepers.top_.write(); }
  static auto& absent(Sleepers& sleepers) { return sleepers.absent_.write(); }

  static auto& book(Timers& timers) { return timers.book_.write(); }
  static auto& times(TimedTask& task) { return task.times_.write(); }

  static auto& places(Engine& engine) { return engine.parts_->room.places_; }
  static auto& visitors(Engine& engine) { return engine.parts_->completion.visitors_; }
  static auto& present(Engine& engine) { return engine.parts_->threads.present_; }
  static auto& stand_ins(Engine& engine) { return engine.parts_->threads.stand_ins_; }
  static auto& sleepers(Engine& engine) { return state(engine.parts_->threads.sleepers()); }
  static auto& unqueued(Engine& engine) { return engine.parts_->unqueued; }
  static auto& nodes(Engine& engine) { return engine.parts_->crew.worker(0).nodes; }
};

}}}  // namespace handoff::HANDOFF_ABI::detail

namespace {

using namespace handoff;
using namespace std::chrono_literals;
using test::expect_reported;
using test::fault_in;
using Break = detail::Books<detail::Break>;

class TaskQueueBook : public testing::Test {
 protected:
  // A spare segment, one with a task at its end, and one with a task at its beginning.
  TaskQueueBook() {
    for (int i = 0; i < 5; ++i) push();
    std::array<detail::Task, 3> nodes;
    std::size_t used = 0;
    (void)queue_.claim(3, [&] { return &nodes[used++]; });
  }
  void push() { queue_.reserve()->publish(detail::StillbornKind::kind); }

  detail::BasicTaskQueue<2> queue_;
};

TEST_F(TaskQueueBook, Reports) {
  expect_reported(queue_, Break::head_index(queue_), 3,
                  "TaskQueue: the head is behind its segment");
  expect_reported(queue_, Break::head_index(queue_), 0,
                  "TaskQueue: slots that are full do not match");
  expect_reported(queue_, Break::second_kind(queue_), nullptr,
                  "TaskQueue: slots that are full do not match");
  expect_reported(queue_, Break::tickets_of_head(queue_), 1,
                  "TaskQueue: tickets before the last segment");
  expect_reported(queue_, Break::next_of_head(queue_), nullptr,
                  "TaskQueue: the head does not lead to the last segment");
  expect_reported(queue_, Break::next_task(queue_), nullptr,
                  "TaskQueue: who only looks looks elsewhere");
  expect_reported(queue_, Break::spares(queue_), nullptr, "TaskQueue: a segment is lost");
  expect_reported(queue_, Break::spares(queue_), Break::head(queue_),
                  "TaskQueue: a spare segment holds a task");
  expect_reported(queue_, Break::spares(queue_)->tickets, 0,
                  "TaskQueue: a spare segment has tickets");
  expect_reported(queue_, Break::spares(queue_)->next_spare, Break::spares(queue_),
                  "TaskQueue: a segment is spare twice, or in the chain too");
}

TEST(PoolBooks, TaskStore) {
  detail::TaskStore store;
  detail::Task* const batch = store.take_batch();
  EXPECT_EQ(fault_in(store), "TaskStore: a node is lost");
  store.give_batch(batch);
  EXPECT_EQ(fault_in(store), "");
  expect_reported(store, batch->spare.next, nullptr, "TaskStore: a node is lost");
  expect_reported(store, batch->spare.next, batch,
                  "TaskStore: a row of nodes is not as long as it was counted");
  expect_reported(store, batch->spare.next_batch, batch, "TaskStore: a node is in two places");
}

TEST(PoolBooks, SideQueues) {
  detail::SideQueues queues(2);
  expect_reported(queues, Break::expected(queues), 1, "SideQueues: a worker is expected for ever");
}

TEST(PoolBooks, Sleepers) {
  detail::Sleepers sleepers;
  detail::Sleepers::Place place(0);
  sleepers.begin_absent(place);
  expect_reported(sleepers, Break::absent(sleepers), nullptr,
                  "Sleepers: somebody was counted and is in no list");
  expect_reported(sleepers, Break::top(sleepers), &place,
                  "Sleepers: somebody is in the wrong list");
  expect_reported(sleepers, Break::state(sleepers), 0,
                  "Sleepers: more in the lists than were counted");
  sleepers.begin_search();
  EXPECT_EQ(fault_in(sleepers), "Sleepers: the count of those who search");
}

TEST(PoolBooks, Timers) {
  const auto hand_over = [](void*, detail::TimedTask&) {};
  detail::Timers& timers = *new detail::Timers({nullptr, hand_over, {}, {}});
  {
    std::array<TimerHandle, 4> handles;
    std::array<detail::TimedTask*, 4> tasks{};
    for (std::size_t i = 0; i < 4; ++i) {
      tasks[i] = detail::add_timed(timers, sync::deadline_after(1h * (i + 1)), 0ns, {}, [] {});
      handles[i] = TimerHandle(*tasks[i]);
    }
    auto& book = Break::book(timers);
    using State = std::remove_reference_t<decltype(Break::times(*tasks[0]).state)>;
    expect_reported(timers, Break::times(*tasks[3]).place, 2,
                    "Timers: a task does not know its place in the heap");
    expect_reported(timers, Break::times(*tasks[3]).state, State::due,
                    "Timers: one in the heap does not wait");
    expect_reported(timers, Break::times(*tasks[3]).number, 5,
                    "Timers: a number that was never given");
    expect_reported(timers, Break::times(*tasks[3]).when, sync::clock::now(),
                    "Timers: the heap is out of order");
    expect_reported(timers, book.figures.waiting, 3, "Timers: the count of those that wait");
    expect_reported(timers, book.coming, 1, "Timers: somebody is coming for ever");
    expect_reported(timers, book.tasks, 5, "Timers: the count of those that are not over");
    timers.close();
  }
  timers.release();
}

// Each of a pool's parts has been in use.
class PoolBook : public testing::Test {
 protected:
  PoolBook() {
    pool_.post([this] {
      TaskGroup group(pool_);
      group.run([] {});
      group.wait();
      blocking([] {});
    });
    pool_.post([] {}, {.worker = 0});
    pool_.wait();
    (void)pool_.close();
  }

  ThreadPool pool_{{.width = 2, .capacity = 3}};
  detail::Engine& engine_ = detail::engine_of(pool_);
};

TEST_F(PoolBook, Reports) {
  expect_reported(engine_, Break::places(engine_), 2, "Engine: a place is lost");
  expect_reported(engine_, Break::visitors(engine_), 1, "Engine: a visitor never left");
  expect_reported(engine_, Break::present(engine_), 3, "Engine: more than there are");
  expect_reported(engine_, Break::stand_ins(engine_), 1, "Engine: a stand-in never left");
  expect_reported(engine_, Break::sleepers(engine_), 1, "Sleepers: the count of those who search");
  detail::Task* const node = Break::nodes(engine_).take();
  EXPECT_EQ(fault_in(engine_), "TaskStore: a node is lost");
  Break::nodes(engine_).give(node);
  EXPECT_EQ(fault_in(engine_), "");
  Break::unqueued(engine_).count(detail::Outcome::done);
  EXPECT_EQ(fault_in(engine_), "Engine: a task is not finished, or was not counted");
}

TEST(PoolBooks, APoolIsClosedFirst) {
  ThreadPool pool({.width = 1});
  EXPECT_EQ(fault_in(detail::engine_of(pool)), "Engine: not closed");
}

TEST(PoolBooks, AnAuditedPoolTells) {
  EXPECT_NONFATAL_FAILURE(
      {
        test::AuditedPool pool({.width = 1, .capacity = 2});
        test::set(Break::places(detail::engine_of(pool)), 1);
      },
      "Engine: a place is lost");
}

}  // namespace
