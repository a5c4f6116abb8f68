// SPDX-License-Identifier: MIT
// This library's message workers: a message names a block. The caller works with their threads,
// when no more messages have room and when all are published.
#include <algorithm>
#include <memory>

#include <handoff/bus/message_workers.hpp>

#include "scenarios/try/contender.hpp"

namespace handoff::lab::trial {
namespace {

struct Block {
  std::size_t first;
  std::size_t last;
};

}  // namespace

Operation contender(const Task& task) {
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

}  // namespace handoff::lab::trial
