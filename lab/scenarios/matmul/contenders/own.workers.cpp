// SPDX-License-Identifier: MIT
// This library's message workers: a message names a row. The caller works with their threads, when
// no more messages have room and when all are published.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <handoff/bus/message_workers.hpp>

#include "scenarios/matmul/row_messages.hpp"

namespace handoff::lab::matmul {

Operation contender(const Task& task) {
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

}  // namespace handoff::lab::matmul
