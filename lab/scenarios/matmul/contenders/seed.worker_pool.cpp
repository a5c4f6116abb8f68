// SPDX-License-Identifier: MIT
// The article's workers behind a dispatcher: `width` of them compute, the caller only hands over.
#include <memory>

#include "peers/seed_worker_pool.hpp"
#include "scenarios/matmul/row_messages.hpp"

namespace handoff::lab::matmul {
namespace {

class WorkerPool {
 public:
  explicit WorkerPool(const Task& task)
      : messages_(task),
        pool_(task.width, [this](const RowMessage& message) { messages_.compute(message); }) {}

  void run() {
    messages_.hand_over([this](const RowMessage& message) { return pool_.submit(message); });
  }

 private:
  RowMessages messages_;
  peers::SeedWorkerPool<RowMessage> pool_;
};

}  // namespace

Operation contender(const Task& task) {
  return [pool = std::make_shared<WorkerPool>(task)] { pool->run(); };
}

}  // namespace handoff::lab::matmul
