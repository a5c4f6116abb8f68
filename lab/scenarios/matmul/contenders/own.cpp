// SPDX-License-Identifier: MIT
// This library's ways for threads.
#include <handoff/bus/message_bus.hpp>
#include <handoff/bus/message_workers.hpp>
#include <handoff/pool/parallel_for.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/team/thread_team.hpp>

#include "scenarios/matmul/contender.hpp"
#include "scenarios/matmul/row_messages.hpp"

namespace handoff::lab::matmul {
namespace {

// This library's team: the caller is one of its members.
Operation thread_team(const Task& task) {
  auto team = std::make_shared<ThreadTeam>(ThreadTeamOptions{.width = task.width});
  const std::size_t block = task.kernel == Kernel::tile ? task.tile_rows() : 0;  // 0: its choice
  return [&task, block, team, rows = task.rows()] {
    static_cast<void>(team->run(
        task.m, [&rows](IndexRange range) { rows(range.first, range.last); }, {.block = block}));
  };
}

// This library's pool: a loop whose caller works with its threads.
Operation pool(const Task& task) {
  auto pool = std::make_shared<ThreadPool>(
      ThreadPoolOptions{.width = std::max<std::size_t>(task.width - 1, 1)});
  const std::size_t claim = task.claim_rows();
  return [&task, claim, pool, rows = task.rows()] {
    parallel_for(*pool, 0, (task.m + claim - 1) / claim, [&](IndexRange claims) {
      rows(claims.first * claim, std::min(claims.last * claim, task.m));
    });
  };
}

// This library's message workers: a message names a row. The caller works with their threads, when
// no more messages have room and when all are published.
Operation message_workers(const Task& task) {
  const std::size_t claim = task.claim_rows();
  const MessageWorkersOptions options{.width = std::max<std::size_t>(task.width - 1, 1),
                                      .on_full = OnFull::run_here};
  auto workers = std::make_shared<MessageWorkers<RowMessage>>(
      options, [&task, claim, rows = task.rows()](const RowMessage& message) {
        rows(message.row, std::min(message.row + claim, task.m));
      });
  return [&task, claim, workers] {
    for (std::size_t first = 0; first < task.m; first += claim) {
      static_cast<void>(workers->publish(RowMessage{static_cast<std::uint32_t>(first)}));
    }
    static_cast<void>(workers->wait());
  };
}

// This library's bus, whose one consumer computes all rows, whatever the width: a bus is for one
// thread that owns a state, not for sharing out work.
class OwnBus : Pinned {
 public:
  explicit OwnBus(const Task& task) : messages_(task) {}
  ~OwnBus() { bus_.shut(); }

  void run() {
    messages_.hand_over(
        [this](const RowMessage& message) { return bus_.publish(message) == Status::ok; });
  }

 private:
  void consume() {
    while (bus_.wait() == Status::ok) {
      bus_.drain([this](const RowMessage& message) { messages_.compute(message); });
    }
  }

  RowMessages messages_;
  MessageBus<RowMessage> bus_;
  std::jthread consumer_{[this] { consume(); }};
};

Operation bus(const Task& task) {
  return [bus = std::make_shared<OwnBus>(task)] { bus->run(); };
}

}  // namespace

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>({{"own.thread_team", thread_team},
                                         {"own.pool", pool},
                                         {"own.workers", message_workers},
                                         {"own.bus", bus}})(task);
}

}  // namespace handoff::lab::matmul
