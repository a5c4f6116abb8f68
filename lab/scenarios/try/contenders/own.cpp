// SPDX-License-Identifier: MIT
// This library's ways.
#include <handoff/bus/message_workers.hpp>
#include <handoff/event/event_queue.hpp>
#include <handoff/pool/parallel_for.hpp>
#include <handoff/pool/task_group.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/process/process_team.hpp>
#include <handoff/team/thread_team.hpp>

#include "peers/job.hpp"
#include "scenarios/try/contender.hpp"

namespace handoff::lab::trial {
namespace {

// This library's team: the caller is one of its members.
Operation thread_team(const Task& task) {
  auto team = std::make_shared<ThreadTeam>(ThreadTeamOptions{.width = task.width});
  return [&task, team] {
    static_cast<void>(team->run(task.items,
                                [](IndexRange range) { run_items(range.first, range.last); },
                                {.block = task.block}));
  };
}

// This library's pool: a loop whose caller works with its threads.
Operation pool(const Task& task) {
  auto pool = std::make_shared<ThreadPool>(
      ThreadPoolOptions{.width = std::max<std::size_t>(task.width - 1, 1)});
  return [&task, pool] {
    parallel_for(*pool, 0, task.items, [](IndexRange range) { run_items(range.first, range.last); },
                 {.block = task.block});
  };
}

// This library's pool: a task for each block, waited for as a group by a caller that helps.
Operation pool_tasks(const Task& task) {
  auto pool = std::make_shared<ThreadPool>(
      ThreadPoolOptions{.width = std::max<std::size_t>(task.width - 1, 1)});
  return [&task, pool, block = task.handed()] {
    TaskGroup group(*pool);
    for (std::size_t first = 0; first < task.items; first += block) {
      group.run([first, last = std::min(first + block, task.items)] { run_items(first, last); });
    }
    group.wait();
  };
}

// This library's event queue: an event names a block. The caller enqueues all of them, then drains
// with the threads that serve the queue.
class Served : Pinned {
 public:
  explicit Served(const Task& task) : task_(task), block_(task.handed()) {
    handle_ = queue_.append_listener(kBlock, [this](std::size_t first) {
      run_items(first, std::min(first + block_, task_.items));
      outstanding_.done();
    });
    for (std::size_t i = 1; i < task.width; ++i) threads_.emplace_back([this] { serve(); });
  }
  ~Served() { queue_.shut(); }

  void run() {
    outstanding_.begin((task_.items + block_ - 1) / block_);
    for (std::size_t first = 0; first < task_.items; first += block_) {
      static_cast<void>(queue_.enqueue(kBlock, first));
    }
    while (queue_.drain(1) > 0) continue;
    outstanding_.wait();
  }

 private:
  static constexpr int kBlock = 1;

  // One at a time: a drain takes what is there, and others would have nothing.
  void serve() {
    while (queue_.wait() == Status::ok) static_cast<void>(queue_.drain(1));
  }

  const Task& task_;
  const std::size_t block_;
  peers::Outstanding outstanding_;
  EventQueue<int, void(std::size_t)> queue_;
  ListenerHandle handle_;
  std::vector<std::jthread> threads_;
};

Operation event_queue(const Task& task) {
  return [served = std::make_shared<Served>(task)] { served->run(); };
}

// This library's message workers: a message names a block. The caller works with their threads,
// when no more messages have room and when all are published.
struct Block {
  std::size_t first;
  std::size_t last;
};

Operation message_workers(const Task& task) {
  const MessageWorkersOptions options{.width = std::max<std::size_t>(task.width - 1, 1),
                                      .on_full = OnFull::run_here};
  auto workers = std::make_shared<MessageWorkers<Block>>(
      options, [](const Block& block) { run_items(block.first, block.last); });
  return [&task, workers, block = task.handed()] {
    for (std::size_t first = 0; first < task.items; first += block) {
      static_cast<void>(workers->publish(Block{first, std::min(first + block, task.items)}));
    }
    static_cast<void>(workers->wait());
  };
}

// This library's team of processes: the caller is none of them. Only for a kernel whose whole
// result lies in memory that it was given: elsewhere a worker's writes are its own.
struct Nothing {};

void run_block(IndexRange range, const Nothing& /*nothing*/) {
  run_items_throwing(range.first, range.last);
}

Operation process_team(const Task& task) {
  if (!task.in_given_memory) {
    throw Unavailable(
        "its result does not lie in memory that processes share: set result_bytes, and write the "
        "whole result to what setup() is given");
  }
  try {
    // A worker that a kernel ends is no accident here: the first time is told.
    auto team = std::make_shared<ProcessTeam>(
        ProcessTeamOptions{.width = task.width, .tries = 1, .on_fewer = OnFewerWorkers::refuse});
    return [&task, team] {
      static_cast<void>(team->run<run_block>(task.items, Nothing{}, {.block = task.block}));
    };
  } catch (const std::system_error& error) {
    throw Unavailable(error.what());
  }
}

}  // namespace

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>({{"own.thread_team", thread_team},
                                         {"own.pool", pool},
                                         {"own.pool.tasks", pool_tasks},
                                         {"own.event_queue", event_queue},
                                         {"own.workers", message_workers},
                                         {"own.process_team", process_team}})(task);
}

}  // namespace handoff::lab::trial
